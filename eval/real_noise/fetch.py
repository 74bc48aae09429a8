"""Download data sets with real noise, and build them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

import pandas as pd

from .._cache_folder import cache_folder
from .._wording import joined
from ..downloads.make_tables import make_tables
from ..downloads.raw_files import RawFiles
from ..errors import ConfigError, suggest
from .catalogue import Group, domains, read_catalogue
from .table import PREFIX, TARGET

ANSWERS = "music_annotators"  # belongs to music, and is no data set of its own


def fetch_real_noise(
    folder: str | Path | None = None,
    *,
    only: Collection[str] | None = None,
    progress: Callable[[str], object] | None = None,
) -> pd.DataFrame:
    """Download data sets whose labels exist twice: as people, tests or heuristics gave them, and checked.

    Files are downloaded once from public repositories, each at a fixed commit, and their SHA-256 is checked.
    Each data set becomes a Parquet file with features, one or more columns ``noisy_...`` and the checked labels
    in ``target``; ``SOURCES.md`` beside them lists who labelled them, licences and what to cite.  Some sources
    state no licence: ask their authors before you pass files on.

    Parameters
    ----------
    folder : str, Path or None, default=None
        Where the Parquet files are written; None for a folder in the user's cache, as the downloads.
        ``BOOSTNOISE_CACHE``, an environment variable, names another cache.
    only : collection of str or None, default=None
        Domains such as ``"medicine"``, groups such as ``"jira"``, or data sets; None for all.
    progress : callable or None, default=None
        Called with the name of each data set before it is downloaded and built.

    Returns
    -------
    DataFrame
        A row for each data set, with its name as the index, and the columns ``domain``, ``group``, ``rows``,
        ``features``, ``noisy`` (names of noisy labels), ``wrong`` (their mean share of wrong labels),
        ``licence`` and ``path``.

    Raises
    ------
    ConfigError
        A ValueError, if `only` names something that is not there, files cannot be written, or some data sets
        cannot be downloaded or built.  All others are there then; repeat the call for the rest.
    """
    chosen = choose_sets(only)
    target = cache_folder() / "real_noise" if folder is None else Path(folder)
    every = choose_sets(None)
    make_tables(
        target,
        {name: group.sets[name] for name, group in every.items()},
        chosen,
        lambda name, raw: _build(every[name], name, raw),
        lambda names: _sources(dict.fromkeys(every[name] for name in names)),
        progress,
    )
    rows = {
        name: _describe(target / f"{name}.parquet", group) for name, group in chosen.items() if name != ANSWERS
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("name")


def choose_sets(only: Collection[str] | None) -> dict[str, Group]:
    """Groups of the chosen data sets, by their names.

    Raises
    ------
    ConfigError
        If a name is neither a domain, nor a group, nor a data set.
    """
    groups = read_catalogue()
    of_set = {name: group for group in groups.values() for name in group.sets}
    if only is None:
        return of_set
    only = [only] if isinstance(only, str) else only
    allowed = [*domains(), *groups, *of_set]
    for name in only:
        if name not in allowed:
            raise ConfigError(
                f"only: {name!r} is no domain, group or data set with real noise{suggest(name, allowed)}; "
                f"the domains are {joined(domains(), limit=99)}"
            )
    return {
        name: group for name, group in of_set.items() if not {name, group.name, group.domain}.isdisjoint(only)
    }


def _build(group: Group, name: str, raw: RawFiles) -> pd.DataFrame:
    from .build import build_set  # slow to import

    return build_set(group.name, name, raw)


def _describe(path: Path, group: Group) -> dict[str, object]:
    table = pd.read_parquet(path)
    noisy = [name for name in map(str, table) if name.startswith(PREFIX)]
    known = table[table["split"] == "train"] if "split" in table else table
    wrong = known[noisy].ne(known[TARGET], axis=0).mean()
    return {
        "domain": group.domain,
        "group": group.name,
        "rows": len(table),
        "features": len(table.columns.difference([*noisy, TARGET, "split"])),
        "noisy": tuple(name.removeprefix(PREFIX) for name in noisy),
        "wrong": float(wrong.mean()),
        "licence": group.licence or "not stated",
        "path": str(path),
    }


def _sources(groups: Iterable[Group]) -> Iterator[str]:
    """Lines of ``SOURCES.md``: labels, licence and citation of each group."""
    for group in groups:
        pages = dict.fromkeys(file.page for files in group.sets.values() for file in files)
        yield f"\n## {group.name}\n"
        yield f"- Data sets: {', '.join(group.sets)}"
        yield f"- Labels given by: {group.given_by}"
        yield f"- Labels checked by: {group.checked_by}"
        yield f"- Licence: {group.licence or 'not stated; ask the authors before you pass the files on'}"
        yield f"- Cite: {group.citation}"
        yield f"- From: {', '.join(pages)}"
        if group.trap:
            yield f"- Note: {group.trap}"
