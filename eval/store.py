"""The store: every finished cell in one SQLite file, written as soon as it is finished.

Scores are numbers and text in columns; nothing in the file is ever executed or unpickled.
"""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from .errors import ConfigError
from .jobs import Job

SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE cells (
    key TEXT PRIMARY KEY,
    dataset TEXT NOT NULL,
    model TEXT NOT NULL,
    noise_kind TEXT NOT NULL,
    noise_rate REAL NOT NULL,
    repeat INTEGER NOT NULL,
    accuracy REAL,
    realised_rate REAL,
    fit_seconds REAL,
    predict_seconds REAL,
    error TEXT,
    traceback TEXT
) STRICT
"""


@dataclass(frozen=True)
class Outcome:
    """What came of a job: scores, or an error.

    Attributes
    ----------
    accuracy : float or None
        Share of the test rows that are predicted right.
    realised_rate : float or None
        Share of the training labels that the noise changed.
    fit_seconds, predict_seconds : float or None
        Wall time.
    error : str or None
        One line.
    traceback : str or None
    """

    accuracy: float | None = None
    realised_rate: float | None = None
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    error: str | None = None
    traceback: str | None = None

    @property
    def is_score(self) -> bool:
        """Whether this is a score, and one that can be."""
        return self.error is None and isinstance(self.accuracy, float) and 0 <= self.accuracy <= 1


class Store:
    """The cells of one run.  Use it as a context manager.

    Parameters
    ----------
    path : Path
        Made where it does not exist, with its folder.
    read_only : bool, default=False
        Nothing is made or written, not even the files that SQLite keeps beside an open one.

    Raises
    ------
    ConfigError
        If the file cannot be read or written, is damaged, or comes from another version.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self._is_empty = False
        if not read_only:
            self._make_folder()
        with self._guarded():
            self._connection = self._connect()
        try:
            with self._guarded():
                self._open()
        except ConfigError:
            self._connection.close()
            raise

    def _make_folder(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"the store {self.path} cannot be written: {error}") from None

    def _connect(self) -> sqlite3.Connection:
        if not self.read_only:
            return sqlite3.connect(self.path, timeout=60)
        # The journal beside the file is there while a run goes on, or after one that was killed.
        journal = self.path.with_name(f"{self.path.name}-wal")
        mode = "mode=ro" if journal.exists() else "immutable=1"
        return sqlite3.connect(f"{self.path.absolute().as_uri()}?{mode}", timeout=60, uri=True)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Say what is wrong with the file."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise ConfigError(f"the store {self.path} cannot be read or written: {error}") from None
        except sqlite3.DatabaseError as error:
            raise ConfigError(
                f"the store {self.path} is damaged ({error}); move it away to start afresh"
            ) from None

    def _open(self) -> None:
        if self.read_only:
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            self._is_empty = version == 0  # killed before it had a table
            if not self._is_empty:
                self._check_version(version)
            return
        # Finished cells survive a kill at any moment; a failing disk is not guarded against on every commit.
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                self._connection.execute(SCHEMA)
                self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            else:
                self._check_version(version)

    def _check_version(self, version: int) -> None:
        if version != SCHEMA_VERSION:
            raise ConfigError(
                f"the store {self.path} has format {version}, this version reads {SCHEMA_VERSION}; "
                "move it away to start afresh"
            )

    def put(self, job: Job, outcome: Outcome) -> None:
        """Keep the outcome of a job, in place of an earlier one."""
        values = (job.key, job.dataset, job.model.name, job.noise_kind, job.noise_rate, job.repeat)
        values += dataclasses.astuple(outcome)
        with self._guarded(), self._connection:
            self._connection.execute("INSERT OR REPLACE INTO cells VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", values)

    def outcomes(self, keys: Iterable[str]) -> dict[str, Outcome]:
        """Outcomes of those of the keys that are here."""
        if self._is_empty:
            return {}
        wanted = set(keys)
        with self._guarded():
            rows = self._connection.execute(
                "SELECT key, accuracy, realised_rate, fit_seconds, predict_seconds, error, traceback FROM cells"
            ).fetchall()
        return {key: Outcome(*values) for key, *values in rows if key in wanted}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
