"""Configs: reading and validation, before any work starts."""
