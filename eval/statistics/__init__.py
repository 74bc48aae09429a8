"""Score tables, significance tests, intervals and verdicts, computed from a frame of scores."""
