"""Escape names for Matplotlib; valid LaTeX between dollar signs is kept."""

from __future__ import annotations

import textwrap

from matplotlib.mathtext import MathTextParser

MAX_NESTING, MAX_LATEX = 10, 1000  # depth of LaTeX groups, and characters


def text_of(text: str, wrap_at: int | None = None) -> str:
    """Text for a figure: valid LaTeX between dollar signs is kept, other text is escaped and wrapped."""
    if "$" in text and text.count("$") % 2 == 0 and _is_flat(text):
        try:
            MathTextParser("path").parse(text)
        except (ValueError, RecursionError):
            pass
        else:
            return text
    if wrap_at is not None:
        text = "\n".join(textwrap.wrap(text, wrap_at))
    return escape_dollars(text)


def escape_dollars(text: str) -> str:
    """Text for a figure that has no LaTeX, whatever its dollar signs enclose."""
    return text.replace("$", r"\$")


def _is_flat(text: str) -> bool:
    """Whether LaTeX is short and nested so little that it never exceeds the recursion limit."""
    depth = deepest = 0
    for character in text.replace(r"\left", "{").replace(r"\right", "}"):
        depth += (character == "{") - (character == "}")
        deepest = max(deepest, depth)
    return deepest <= MAX_NESTING and len(text) <= MAX_LATEX
