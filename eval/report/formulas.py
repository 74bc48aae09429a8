"""Text with formulas between dollar signs, as LaTeX, Markdown and plain text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

from ..errors import printable
from ..plotting.mathtext import text_of

_LATEX = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
} | {character: f"\\{character}" for character in "{}$&#_%"}

# Commands allowed in a formula.  Other LaTeX commands can read and write files.
_COMMANDS = frozenset(
    """
    alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi rho sigma
    tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell infty
    partial nabla frac sqrt sum prod int log exp min max left right mathrm mathbf mathit mathcal mathbb hat bar
    tilde vec dot overline cdot times pm mp leq geq le ge neq approx sim in to rightarrow leftarrow quad , ; : !
    """.split()  # noqa: SIM905 - a list of words
)
_COMMAND = re.compile(r"\\([A-Za-z]+|.|$)", re.DOTALL)
_MATHS = re.compile(r"\$([^$]*)\$")
_FORMULA = re.compile(r"[\w\s\\^{}+\-*/=<>().,:;|'!]+", re.ASCII)  # same meaning in LaTeX and Matplotlib


def escape_latex(text: str) -> str:
    """Escape text for LaTeX, except formulas between dollar signs that Matplotlib can draw."""
    return _escaped(text, lambda part: "".join(_LATEX.get(c, c) for c in part), str)


def escape_markdown(text: str) -> str:
    """Escape text for a Markdown table, except formulas between dollar signs."""
    return _escaped(
        text,
        lambda part: re.sub(r"([\\`*_{}\[\]<>#~&$|])", r"\\\1", part),
        lambda formula: formula.replace("<", r"\lt ").replace("|", r"\|"),
    )


def _escaped(text: str, escape: Callable[[str], str], keep: Callable[[str], str]) -> str:
    """Escape text except valid formulas, so that no name becomes a LaTeX command or controls a terminal."""
    text = printable(text)
    pieces = text.split("$")
    are_formulas = len(pieces) % 2 and all(map(_is_formula, pieces[1::2])) and text_of(text) == text
    if len(pieces) == 1 or not are_formulas or r"\$" in text or "^^" in text:
        return escape(text)
    return "$".join(keep(piece) if i % 2 else escape(piece) for i, piece in enumerate(pieces))


def _is_formula(piece: str) -> bool:
    return _FORMULA.fullmatch(piece) is not None and _COMMANDS.issuperset(_COMMAND.findall(piece))


def readable(name: str) -> str:
    r"""Convert the LaTeX in a name to Unicode, such as ``$\gamma$`` to γ, if figures draw it as LaTeX.

    Examples
    --------
    >>> from boostnoise.eval.report.formulas import readable
    >>> readable(r"$\gamma = 0.1$")
    'γ = 0.1'
    >>> readable("costs $5")
    'costs $5'
    """
    if "$" not in name or text_of(name) != name:
        return name
    from pylatexenc.latex2text import LatexNodes2Text

    converter = LatexNodes2Text(math_mode="text")
    return _MATHS.sub(lambda found: converter.latex_to_text(found[0]), name)


def readable_names(names: Iterable[str]) -> dict[str, str]:
    """Convert each name with `readable`, unless the result is blank or not unique."""
    found = {name: readable(name) for name in names}
    counts = Counter(found.values())
    chosen = {name: text if counts[text] == 1 and text.strip() else name for name, text in found.items()}
    return chosen if len(set(chosen.values())) == len(chosen) else {name: name for name in found}
