"""Estimates for clean labels, from noisy ones and a few checked rows."""
