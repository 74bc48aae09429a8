"""Data sets of the ready studies, to download."""
