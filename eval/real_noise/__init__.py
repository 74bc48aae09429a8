"""Data sets with labels as people and heuristics gave them, beside checked ones."""
