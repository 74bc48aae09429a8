"""Published numbers, one table per file."""
