"""Kinds of label noise."""
