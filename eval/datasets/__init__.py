"""Data sets: from a spec of the config to features and labels."""
