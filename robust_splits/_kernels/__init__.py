"""Compiled kernels of the learner: coding, split search, growth and prediction."""
