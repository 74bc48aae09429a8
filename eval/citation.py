"""How to cite this project: of its installed metadata, so that reports and the documentation say the same."""

from __future__ import annotations

from importlib import metadata

YEAR = 2026  # of this version; metadata have none


def citation() -> str:
    """One line for a list of references."""
    authors, title, version = _facts()
    return f"{authors} ({YEAR}). {title}. Version {version}."


def bibtex() -> str:
    """The same as an entry for BibTeX."""
    authors, title, version = _facts()
    return (
        "@software{boostnoise,\n"
        f"  author = {{{{{authors}}}}},\n"
        f"  title = {{{title}}},\n"
        f"  version = {{{version}}},\n"
        f"  year = {{{YEAR}}}\n"
        "}"
    )


def _facts() -> tuple[str, str, str]:
    """Authors, title and version."""
    of = metadata.metadata("boostnoise")
    title, _, _ = of["Summary"].partition(":")
    return of["Author"], f"boostnoise: {title[0].lower()}{title[1:]}", of["Version"]
