"""Audit of labels: how many are wrong, and which ones."""
