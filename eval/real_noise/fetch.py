"""Download data sets with real noise, and build them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from .._atomic_file import atomic_write, write
from .._cache_folder import cache_folder
from .._wording import counted, joined
from ..errors import ConfigError, one_line, suggest
from .catalogue import Group, SourceFile, domains, read_catalogue
from .raw_files import RawFiles
from .table import PREFIX, TARGET

HOST = "https://raw.githubusercontent.com"
TIMEOUT = 60  # seconds without an answer
SOURCES = "SOURCES.md"
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
    failed: dict[str, str] = {}
    rows = {}
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, group in chosen.items():
            path = target / f"{name}.parquet"
            if not path.exists():
                if progress is not None:
                    progress(name)
                try:
                    _build(path, name, group)
                except ConfigError as error:
                    failed[name] = str(error)
                    continue
            if name != ANSWERS:
                rows[name] = _describe(path, group)
        if len(failed) < len(chosen):
            _write_sources(target / SOURCES, [group for name, group in chosen.items() if name not in failed])
    except OSError as error:
        raise ConfigError(f"data sets cannot be written to {target}: {one_line(error)}") from None
    if failed:
        what = f"{counted(len(failed), 'data set')} of {len(chosen)} could not be made"
        what += f"; all others are in {target}" if len(failed) < len(chosen) else ""
        names = {reason: [name for name in failed if failed[name] == reason] for reason in failed.values()}
        reasons = [f"{joined(failing)}: {reason}" for reason, failing in names.items()]
        raise ConfigError("\n".join([what, *reasons]))
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


def _build(path: Path, name: str, group: Group) -> None:
    """Download the files of a data set, and write its table."""
    from .build import build_set  # slow to import

    raw = RawFiles({file.path: download(file) for file in group.sets[name]})
    try:
        table = build_set(group.name, name, raw)
    except ConfigError:
        raise
    except Exception as error:
        # A library of another version may read the files in another way.
        raise ConfigError(f"cannot be built: {type(error).__name__}: {one_line(error)}") from error
    with atomic_write(path) as file:
        table.to_parquet(file, index=False)


def download(file: SourceFile, host: str | None = None) -> Path:
    """Local copy of a file, which is downloaded unless there is one with the right content.

    Raises
    ------
    ConfigError
        If the file cannot be downloaded, or has another content than in the catalogue.
    """
    import pooch
    from requests import ConnectionError as NoConnection
    from requests import RequestException

    url = f"{host or HOST}/{file.repository}/{file.commit}/{quote(file.path)}"
    name = Path(file.path)
    folder = cache_folder() / "downloads" / file.repository / file.commit / name.parent
    pooch.get_logger().setLevel("WARNING")
    try:
        found = pooch.retrieve(
            url,
            f"sha256:{file.sha256}",
            fname=name.name,
            path=folder,
            downloader=pooch.HTTPDownloader(timeout=TIMEOUT),
        )
    except NoConnection:
        raise ConfigError(f"no connection to {host or HOST}; repeat the command later") from None
    except RequestException as error:
        raise ConfigError(f"{url} cannot be downloaded: {one_line(error)}; repeat the command later") from None
    except ValueError:
        raise ConfigError(f"{url} has another content than expected, by its SHA-256") from None
    return Path(found)


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


def _write_sources(path: Path, groups: Iterable[Group]) -> None:
    """Write who labelled the data sets, their licences, and what to cite."""
    lines = ["# Sources of these data sets"]
    for group in dict.fromkeys(groups):
        repositories = dict.fromkeys(
            f"https://github.com/{file.repository}/tree/{file.commit}"
            for files in group.sets.values()
            for file in files
        )
        lines += [
            f"\n## {group.name}\n",
            f"- Data sets: {', '.join(group.sets)}",
            f"- Labels given by: {group.given_by}",
            f"- Labels checked by: {group.checked_by}",
            f"- Licence: {group.licence or 'not stated; ask the authors before you pass the files on'}",
            f"- Cite: {group.citation}",
            f"- From: {', '.join(repositories)}",
        ]
        lines += [f"- Note: {group.trap}"] if group.trap else []
    write(path, "\n".join([*lines, ""]).encode())
