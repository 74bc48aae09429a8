"""Trained models that are saved to a file, and predict new rows of a table."""
