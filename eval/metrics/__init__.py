"""Measures of a cell, the robustness metrics ELA and RLA, and the registry of both."""
