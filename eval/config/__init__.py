"""Configs: what a run is asked to do, read and validated before any work."""
