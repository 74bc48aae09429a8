"""The catalogue of data sets with real noise: their sources, who labelled them, and under which licence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ..downloads.download import SourceFile, source_files


@dataclass(frozen=True, eq=False)
class Group:
    """Data sets of one kind.

    Attributes
    ----------
    name : str
    domain : str
    given_by, checked_by : str
        Who or what gave the noisy labels, and the checked ones.
    licence : str or None
        None if the source states none.
    citation : str
    trap : str
        What to consider before the sets are used; empty if nothing.
    sets : dict of str to tuple of SourceFile
        Files of each data set, by its name.
    """

    name: str
    domain: str
    given_by: str
    checked_by: str
    licence: str | None
    citation: str
    trap: str
    sets: Mapping[str, tuple[SourceFile, ...]]


@cache
def read_catalogue() -> dict[str, Group]:
    """All groups by name."""
    content = json.loads((files(__package__) / "catalogue.json").read_text(encoding="utf-8"))
    commits = content["repositories"]
    groups = {}
    for name, facts in content["groups"].items():
        sets = {key: source_files(repositories, commits) for key, repositories in facts.pop("sets").items()}
        groups[name] = Group(name=name, **{"trap": "", **facts}, sets=sets)
    return groups


def domains() -> list[str]:
    """All domains, sorted."""
    return sorted({group.domain for group in read_catalogue().values()})
