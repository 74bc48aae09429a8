"""Make Parquet files of data sets from the files of their sources."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

import pandas as pd

from .._atomic_file import atomic_write, write
from .._wording import counted, joined
from ..errors import ConfigError, one_line
from .download import SourceFile, download
from .raw_files import RawFiles

SOURCES = "SOURCES.md"


def make_tables(
    folder: Path,
    catalogue: Mapping[str, tuple[SourceFile, ...]],
    chosen: Collection[str],
    build: Callable[[str, RawFiles], pd.DataFrame],
    describe: Callable[[list[str]], Iterable[str]],
    progress: Callable[[str], object] | None = None,
) -> list[Path]:
    """Make a Parquet file of each data set that the folder does not have yet.

    Parameters
    ----------
    folder : Path
    catalogue : dict of str to tuple of SourceFile
        Files of all data sets, by their names.
    chosen : collection of str
        Data sets to make.
    build : callable
        Makes the table of a data set from its name and files.
    describe : callable
        Lines of ``SOURCES.md`` on the data sets in the folder, by name: origins, licences and citations.
    progress : callable or None, default=None
        Called with the name of each data set before it is downloaded and built.

    Returns
    -------
    list of Path
        The Parquet files, in the order of `chosen`.

    Raises
    ------
    ConfigError
        If files cannot be written, or some data sets cannot be downloaded or built.  All others are there then.
    """
    paths = {name: folder / f"{name}.parquet" for name in chosen}
    failed: dict[str, str] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, path in paths.items():
            if path.exists():
                continue
            if progress is not None:
                progress(name)
            try:
                _make_table(path, name, catalogue[name], build)
            except ConfigError as error:
                failed[name] = str(error)
        present = [name for name in catalogue if (folder / f"{name}.parquet").exists()]
        if present:
            lines = ["# Sources of these data sets", *describe(present), ""]
            write(folder / SOURCES, "\n".join(lines).encode())
    except OSError as error:
        raise ConfigError(f"data sets cannot be written to {folder}: {one_line(error)}") from None
    if failed:
        what = f"{counted(len(failed), 'data set')} of {len(paths)} could not be made"
        what += f"; all others are in {folder}" if len(failed) < len(paths) else ""
        names = {reason: [name for name in failed if failed[name] == reason] for reason in failed.values()}
        reasons = [f"{joined(failing)}: {reason}" for reason, failing in names.items()]
        raise ConfigError("\n".join([what, *reasons]))
    return list(paths.values())


def _make_table(
    path: Path, name: str, files: tuple[SourceFile, ...], build: Callable[[str, RawFiles], pd.DataFrame]
) -> None:
    """Download the files of a data set, and write its table."""
    raw = RawFiles({file.path: download(file) for file in files})
    try:
        table = build(name, raw)
    except ConfigError:
        raise
    except Exception as error:
        # A library of another version may read the files in another way.
        raise ConfigError(f"cannot be built: {type(error).__name__}: {one_line(error)}") from error
    with atomic_write(path) as file:
        table.to_parquet(file, index=False)
