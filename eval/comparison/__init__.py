"""`compare` and `Comparison`: the evaluation in Python."""
