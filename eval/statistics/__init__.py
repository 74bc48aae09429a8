"""Score tables, tests, intervals and verdicts: a frame of scores in, results out."""
