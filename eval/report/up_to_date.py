"""Result files that a command need not write again, because nothing that they show has changed.

What was written is recorded in the user's cache, not beside the results: a record in a folder from someone else
could claim that a page with other content is up to date.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from importlib import metadata
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from .._atomic_file import write
from .._cache_folder import cache_folder
from ..errors import ConfigError
from ..execution.run import Run

# Packages that tables, figures and pages are made with.
MADE_WITH = (
    "boostnoise", "jinja2", "matplotlib", "numpy", "pandas", "plotly", "pyarrow", "pylatexenc",
    "scikit-posthocs", "scipy", "statsmodels",
)  # fmt: skip


def find_written(run: Run) -> list[Path] | None:
    """Result files of a run that an earlier command wrote, if they are still what it would write.

    Parameters
    ----------
    run : Run

    Returns
    -------
    list of Path or None
        None if there are none, a file was changed or removed, or scores, config, packages, this package's code
        or Matplotlib's settings differ.
    """
    folder = run.config.output_dir
    try:
        record = json.loads(_record(folder).read_bytes())
        if record["content"] != _content(run):
            return None
        written = {folder / name: tuple(facts) for name, facts in record["files"].items()}
        # The size first: anything may have taken the place of a file, such as a pipe that never ends.
        is_same = all(
            path.is_file() and path.stat().st_size == size and _digest(path) == digest
            for path, (size, digest) in written.items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # no record, or a damaged one
        return None
    return list(written) if is_same else None


def remember_written(run: Run, files: Iterable[Path]) -> None:
    """Record result files for `find_written`; a cache that cannot be written is none.

    Parameters
    ----------
    run : Run
    files : iterable of Path
        Files in the folder of the run.
    """
    folder = run.config.output_dir
    with suppress(OSError, ConfigError):
        facts = {path.name: (path.stat().st_size, _digest(path)) for path in files}
        write(_record(folder), json.dumps({"content": _content(run), "files": facts}).encode())


def _record(folder: Path) -> Path:
    name = hashlib.sha256(str(folder.resolve()).encode(errors="surrogatepass")).hexdigest()
    return cache_folder() / "results" / f"{name}.json"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _content(run: Run) -> str:
    """Hash of everything that the result files depend on."""
    import matplotlib as mpl

    described: list[Any] = [
        run.config.model_dump_json(),
        run.scores.to_csv(index=False),
        run.datasets,
        run.sessions,
        run.settings,
        run.remarks,
        [metadata.version(package) for package in MADE_WITH],
        sorted(_own_files()),
        [(key, value) for key, value in dict.items(mpl.rcParams) if key != "backend"],
    ]
    return hashlib.sha256(repr(described).encode(errors="surrogatepass")).hexdigest()


def _own_files() -> Iterable[tuple[str, int, int]]:
    """Name, size and time of change of each file of the evaluation, for those who change its code."""
    package = Path(str(resources("boostnoise.eval")))
    for path in package.rglob("*"):
        if path.suffix in {".css", ".j2", ".js", ".py"}:
            status = path.stat()
            yield str(path.relative_to(package)), status.st_size, status.st_mtime_ns
