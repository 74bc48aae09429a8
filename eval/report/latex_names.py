"""Names as plain text: LaTeX between dollar signs becomes Unicode."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from ..plotting.mathtext import text_of

MATHS = re.compile(r"\$([^$]*)\$")


def readable(name: str) -> str:
    r"""Convert the LaTeX in a name to Unicode, such as ``$\gamma$`` to γ, if figures draw it as LaTeX.

    Examples
    --------
    >>> from boostnoise.eval.report.latex_names import readable
    >>> readable(r"$\gamma = 0.1$")
    'γ = 0.1'
    >>> readable("costs $5")
    'costs $5'
    """
    if "$" not in name or text_of(name) != name:
        return name
    from pylatexenc.latex2text import LatexNodes2Text

    converter = LatexNodes2Text(math_mode="text")
    return MATHS.sub(lambda found: converter.latex_to_text(found[0]), name)


def readable_names(names: Iterable[str]) -> dict[str, str]:
    """Convert each name with `readable`, unless the result is blank or not unique."""
    found = {name: readable(name) for name in names}
    counts = Counter(found.values())
    chosen = {name: text if counts[text] == 1 and text.strip() else name for name, text in found.items()}
    return chosen if len(set(chosen.values())) == len(chosen) else {name: name for name in found}
