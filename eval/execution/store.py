"""The store: every finished cell in one SQLite file, written as soon as it is finished.

All runs with the same `results_dir` share it, several at once too.  Scores are numbers and text in columns;
nothing in the file is ever executed or unpickled, and each row has a checksum.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import sqlite3
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

from ..config.run import STORE_NAME
from ..errors import ConfigError, one_line, printable
from ..metrics.outcome import Outcome
from ..metrics.registry import RANGES
from .jobs import Job

SECONDS_TO_WAIT = 60.0  # for a lock that another process holds
SECONDS_TO_BEGIN = 2.0  # for another process that makes the store
MAX_ERROR, MAX_TRACEBACK = 1_000, 20_000  # characters

APPLICATION_ID = int.from_bytes(b"bnev")  # tells our files from those of other programs
SCHEMA_VERSION = 3
# Columns before the scores.  The names of data set, model and noise are for people who open the file.
DESCRIPTION = {
    "key": "TEXT NOT NULL PRIMARY KEY",
    "dataset": "TEXT NOT NULL",
    "model": "TEXT NOT NULL",
    "noise_kind": "TEXT NOT NULL",
    "noise_rate": "REAL NOT NULL",
    "repeat": "INTEGER NOT NULL",
}
# Columns after them.
REMARKS = {"error": "TEXT", "traceback": "TEXT", "checksum": "INTEGER NOT NULL"}
# What each run was asked to do and which cells that is, as JSON.
RUNS = """
CREATE TABLE runs (
    name TEXT NOT NULL PRIMARY KEY,
    record TEXT NOT NULL,
    checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID
""".strip()


def _cells_table(scores: Iterable[str]) -> str:
    """Definition of the table of cells, with a column for each score."""
    columns = DESCRIPTION | dict.fromkeys(scores, "REAL") | REMARKS
    lines = ",\n".join(f"    {name} {kind}" for name, kind in columns.items())
    return f"CREATE TABLE cells (\n{lines}\n) STRICT, WITHOUT ROWID"


class Store:
    """The cells of all runs of a folder.  Use it as a context manager.

    Parameters
    ----------
    path : Path
        Made where it does not exist, with its folder.
    read_only : bool, default=False
        Whether the file is only read; it must exist.

    Raises
    ------
    ConfigError
        If the file cannot be written, is damaged or locked for long, is another program's, or comes from
        another version; nothing is changed then.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        _check_files(path)
        try:
            if read_only and not path.is_file():
                raise ConfigError(f"there is no store {path}")
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
            # What another process wrote may be in the journal still; without one a folder may be read-only.
            journal = path.with_name(f"{path.name}-wal").exists()
            mode = "mode=rwc" if not read_only else "mode=ro" if journal else "immutable=1"
            uri = f"{path.absolute().as_uri()}?{mode}"
        except OSError as error:
            raise ConfigError(f"the store {path} cannot be written: {error}") from None
        with self._guarded():
            self._connection = sqlite3.connect(uri, uri=True, timeout=SECONDS_TO_WAIT)
            self._connection.execute("PRAGMA trusted_schema = OFF")
        # Bytes that are no text are found by the checksum.
        self._connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        try:
            with self._guarded():
                if self._is_new():
                    if read_only:  # whoever began it was killed, or had no room; so there is nothing to read
                        self._connection.close()
                        self._connection = sqlite3.connect(":memory:")
                    self._make()
                self._columns = self._checked_columns()
                if not read_only and not set(RANGES) <= set(self._columns):
                    self._add_columns()
                if not read_only:
                    self._connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            self._connection.close()
            raise

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Say what is wrong with the file."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                message = f"the store {self.path} is locked by another process"
                raise ConfigError(f"{message}, and was for {SECONDS_TO_WAIT:g} seconds") from None
            raise ConfigError(f"the store {self.path} cannot be read or written: {one_line(error)}") from None
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise self._damaged(one_line(error)) from None

    def _damaged(self, why: str) -> ConfigError:
        return ConfigError(f"the store {self.path} is damaged ({why}); move it away to start afresh")

    def _pragma(self, name: str) -> Any:
        return self._connection.execute(f"PRAGMA {name}").fetchone()[0]

    def _is_new(self) -> bool:
        empty = self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0
        return bool(empty and self._pragma("application_id") == self._pragma("user_version") == 0)

    def _make(self) -> None:
        # Finished cells survive a kill at any moment; a failing disk is not guarded against on every commit.
        self._connection.execute("PRAGMA journal_mode = WAL")
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            if self._is_new():  # no other process was faster
                self._connection.execute(_cells_table(RANGES))
                self._connection.execute(RUNS)
                self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _checked_columns(self) -> list[str]:
        """Names of the columns of scores, from a schema that is checked."""
        version, application = self._pragma("user_version"), self._pragma("application_id")
        schema = self._connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
        tables = {name: sql for kind, name, _, sql in schema if kind == "table"}
        if application != APPLICATION_ID and (version, "cells" in tables) != (1, True):
            raise ConfigError(f"{self.path} is no store of noisyeval, but another program's database")
        if version != SCHEMA_VERSION:
            raise ConfigError(
                f"the store {self.path} has format {version}, this version reads {SCHEMA_VERSION}; "
                "move it away to start afresh"
            )
        # Before any query of the tables: a schema of somebody else's may hold code that runs in queries.
        columns = re.findall(r"^    (\w+) REAL,$", str(tables.get("cells")), re.MULTILINE)
        expected = {"cells": _cells_table(columns), "runs": RUNS}
        if Counter(schema) != Counter(("table", name, name, sql) for name, sql in expected.items()):
            raise self._damaged("its tables are not as they were made")
        found = self._pragma("quick_check(1)")
        if found != "ok":
            raise self._damaged(found.splitlines()[-1])
        return columns

    def _add_columns(self) -> None:
        """Make columns for measures that the registry has gained since the store was made."""
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._columns = self._checked_columns()  # another process may have been faster
            cells = [self._read(row) for row in self._connection.execute("SELECT * FROM cells")]
            self._columns += [name for name in RANGES if name not in self._columns]
            self._connection.execute("DROP TABLE cells")
            self._connection.execute(_cells_table(self._columns))
            for description, outcome in cells:
                self._write(description, outcome)

    def put(self, job: Job, outcome: Outcome) -> None:
        """Keep the outcome of a job, in place of an earlier one; no error takes the place of scores."""
        description = [job.key, job.dataset, job.model.name, job.noise_kind, float(job.noise_rate), job.repeat]
        with self._guarded(), self._connection:
            self._write(description, outcome, replace=outcome.error is None)

    def _write(self, description: Sequence[Any], outcome: Outcome, *, replace: bool = True) -> int:
        scores = [outcome.scores.get(name) for name in self._columns]
        row = [*description, *map(_storable, (*scores, outcome.error, outcome.traceback))]
        row.append(_checksum(row))
        command = f"INSERT OR REPLACE INTO cells SELECT {', '.join('?' * len(row))}"
        if not replace:
            command += " WHERE NOT EXISTS (SELECT 1 FROM cells WHERE key = ? AND error IS NULL)"
        return self._connection.execute(command, row if replace else [*row, row[0]]).rowcount

    def outcomes(self, keys: Iterable[str]) -> dict[str, Outcome]:
        """Outcomes of those of the keys that are here."""
        with self._guarded():
            rows = self._connection.execute(
                "SELECT * FROM cells WHERE key IN (SELECT value FROM json_each(?))", [json.dumps(list(keys))]
            ).fetchall()
        return {row[0]: self._read(row)[1] for row in rows}

    def _read(self, row: Sequence[Any]) -> tuple[Sequence[Any], Outcome]:
        """Description and outcome of a cell, checked."""
        if _checksum(row[:-1]) != row[-1]:
            raise self._damaged("a cell is not as it was written")
        n = len(DESCRIPTION)
        *values, error, traceback, _ = row[n:]
        known = zip(self._columns, values, strict=True)
        scores = {name: value for name, value in known if name in RANGES and value is not None}
        outcome = Outcome(scores, error, traceback)
        if not (outcome.is_score or outcome.is_error):
            raise self._damaged("it holds a cell that cannot be")
        if error is not None:
            outcome = dataclasses.replace(outcome, error=printable(error[:MAX_ERROR]))
        return row[:n], outcome

    def put_run(self, name: str, record: str) -> None:
        """Keep the record of a run, in place of an earlier one of this name."""
        row = [name, record]
        with self._guarded(), self._connection:
            self._connection.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", [*row, _checksum(row)])

    def run_record(self, name: str) -> str | None:
        """The record of a run; None if there is none of this name."""
        with self._guarded():
            row = self._connection.execute("SELECT * FROM runs WHERE name = ?", [name]).fetchone()
        if row is None:
            return None
        if _checksum(row[:-1]) != row[-1]:
            raise self._damaged(f"the record of the run {name!r} is not as it was written")
        return str(row[1])

    def run_names(self) -> list[str]:
        """Of all runs that have a record, sorted."""
        with self._guarded():
            return [name for (name,) in self._connection.execute("SELECT name FROM runs ORDER BY name")]

    def merge(self, path: Path) -> int:
        """Copy the finished cells of another store that this one does not have.

        Parameters
        ----------
        path : Path
            The file, or the folder that holds it.  It is only read.

        Returns
        -------
        int
            How many were copied.

        Raises
        ------
        ConfigError
            If there is no store, it is not in order, or it holds what no cell can be; nothing is copied then.
        """
        with Store(path / STORE_NAME if path.is_dir() else path, read_only=True) as other:
            with other._guarded():
                rows = other._connection.execute("SELECT * FROM cells WHERE error IS NULL").fetchall()
            cells = [other._read(row) for row in rows]
            if not all(_is_described(description) for description, _ in cells):
                raise other._damaged("it holds a cell that cannot be")
        with self._guarded(), self._connection:
            return sum(self._write(*cell, replace=False) for cell in cells)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def _check_files(path: Path) -> None:
    """Check that the store and the files beside it are its own, for SQLite follows links and obeys journals.

    A store is never without its write-ahead log, so nothing but a new one has a rollback journal, for a moment.
    One that somebody else left there could name any file for SQLite to delete.
    """
    for file in (path, *(path.with_name(f"{path.name}-{suffix}") for suffix in ("wal", "shm"))):
        if file.is_symlink() or (file.exists() and not file.is_file()):
            what = "a link" if file.is_symlink() else "not a file"
            raise ConfigError(f"the store {path} cannot be used: {file.name} is {what}")
    journal = path.with_name(f"{path.name}-journal")
    end = time.monotonic() + SECONDS_TO_BEGIN
    while os.path.lexists(journal):
        if time.monotonic() > end:
            raise ConfigError(
                f"the store {path} cannot be used: {journal.name} lies beside it, which a store never has; "
                "delete that file if the store is yours"
            )
        time.sleep(0.05)


def _storable(value: Any) -> Any:
    """A value that SQLite gives back as it is; NaN is a missing one."""
    if isinstance(value, str):
        return value[:MAX_TRACEBACK].encode(errors="replace").decode()
    return None if value is None or math.isnan(value) else float(value) + 0.0  # -0.0 becomes 0.0


def _checksum(row: Sequence[Any]) -> int:
    return zlib.crc32(repr(tuple(row)).encode(errors="replace"))


def _is_described(description: Sequence[Any]) -> bool:
    """Whether the columns before the scores hold what they should."""
    key, dataset, model, noise_kind, noise_rate, repeat = description
    return (
        isinstance(key, str)
        and re.fullmatch("[0-9a-f]{64}", key) is not None
        and all(isinstance(name, str) and len(name) <= MAX_TRACEBACK for name in (dataset, model, noise_kind))
        and isinstance(noise_rate, float)
        and 0 <= noise_rate <= 1
        and isinstance(repeat, int)
        and 0 <= repeat < 2**31
    )
