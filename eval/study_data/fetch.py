"""Download the data sets that the ready studies read, and build them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import pandas as pd

from ..downloads.download import SourceFile, source_files
from ..downloads.make_tables import make_tables
from ..downloads.raw_files import RawFiles
from ..errors import ConfigError, suggest


@dataclass(frozen=True)
class StudySet:
    """Where a data set comes from.

    Attributes
    ----------
    original : str
        Its name where it was first published, and in which form it is here.
    licence : str or None
        None if the source states none.
    citation : str
    files : tuple of SourceFile
    """

    original: str
    licence: str | None
    citation: str
    files: tuple[SourceFile, ...]


@cache
def read_catalogue() -> dict[str, StudySet]:
    """All data sets by name."""
    content = json.loads((files(__package__) / "catalogue.json").read_text(encoding="utf-8"))
    commits = content["repositories"]
    return {
        name: StudySet(**{**facts, "files": source_files(facts["files"], commits)})
        for name, facts in content["sets"].items()
    }


def fetch_study_data(
    folder: str | Path, *, only: Collection[str] | None = None, progress: Callable[[str], object] | None = None
) -> list[Path]:
    """Download the data sets of Ghosh's, Wilton and Ye's, and Yang's studies, as their configs read them.

    They are from UCI, LIBSVM and the sources of MNIST, USPS and UNSW-NB15, as copies in public repositories,
    each at a fixed commit.  ``SOURCES.md`` beside them has licences and citations.

    Parameters
    ----------
    folder : str or Path
        Where the Parquet files are written.
    only : collection of str or None, default=None
        Names of data sets, such as ``"letter"``; None for all.
    progress : callable or None, default=None
        Called with the name of each data set before it is downloaded.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ConfigError
        If `only` names something else, files cannot be written, or some data sets cannot be downloaded or
        built.  All others are there then; repeat the call for the rest.
    """
    catalogue = read_catalogue()
    for name in only or ():
        if name not in catalogue:
            raise ConfigError(f"only: {name!r} is no data set of the studies{suggest(name, list(catalogue))}")
    chosen = [name for name in catalogue if only is None or name in only]
    files_of = {name: one.files for name, one in catalogue.items()}
    return make_tables(Path(folder), files_of, chosen, _build, _sources, progress)


def _build(name: str, raw: RawFiles) -> pd.DataFrame:
    from .tables import BUILDERS  # slow to import

    return BUILDERS[name](raw)


def _sources(names: Collection[str]) -> Iterator[str]:
    """Lines of ``SOURCES.md``: origin, licence and citation of each data set."""
    for name in names:
        one = read_catalogue()[name]
        yield f"\n## {name}\n"
        yield f"- Original: {one.original}"
        yield f"- Licence: {one.licence or 'not stated; ask the authors before you pass the file on'}"
        yield f"- Cite: {one.citation}"
        yield f"- From: {', '.join(dict.fromkeys(file.page for file in one.files))}"
