"""Bundles: a run as one file that others can verify."""
