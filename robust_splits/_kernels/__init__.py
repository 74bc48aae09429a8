"""Compiled kernels: rank encoding, split search, tree growth and prediction."""
