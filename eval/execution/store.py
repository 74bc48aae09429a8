"""Store of all finished cells, one SQLite file.  Each cell is written as soon as it is finished.

All runs with the same `results_dir` share the store, also at the same time.  Columns hold numbers and text;
nothing in the file is ever executed or unpickled.  Each row has a checksum.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

from ..config.run import STORE_NAME
from ..errors import ConfigError, one_line, printable
from ..metrics.outcome import Outcome
from ..metrics.registry import RANGES
from .jobs import Job
from .store_file import DESCRIPTION, OPTIONAL, cells_table, check_files, check_schema, create, damage_error

LOCK_SECONDS = 60.0  # for another process to release its lock
# Texts of the cells in the optional tables, by table and key.
Attached = dict[str, dict[str, str]]

MAX_ERROR, MAX_TRACEBACK = 1_000, 20_000  # characters


class Store:
    """Cells and records of all runs in a folder.  Use it as a context manager.

    Parameters
    ----------
    path : Path
        The file.  It is created with its folder if it does not exist.
    read_only : bool, default=False
        Whether the file is only read.  It must exist.

    Raises
    ------
    ConfigError
        If the file cannot be written, is damaged, stays locked, belongs to another program or has another
        format.  Nothing is changed then.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._open(read_only)

    def _open(self, read_only: bool) -> None:
        path = self.path
        check_files(path)
        try:
            if read_only and not path.is_file():
                raise ConfigError(f"there is no store {path}")
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
                with self._translated_errors():
                    if not path.exists():
                        create(path)
            # The log may hold recent writes of another process.  Without one, the folder may be read-only.
            log = path.with_name(f"{path.name}-wal").exists()
            mode = "mode=rw" if not read_only else "mode=ro" if log else "immutable=1"
            self._identity = _identity(path)
        except OSError as error:
            raise ConfigError(f"the store {path} cannot be written: {error.strerror}") from None
        with self._translated_errors():
            uri = f"{path.absolute().as_uri()}?{mode}"
            self._connection = sqlite3.connect(uri, uri=True, timeout=LOCK_SECONDS)
            self._connection.execute("PRAGMA trusted_schema = OFF")
        # Invalid text is detected by the checksum.
        self._connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        try:
            with self._translated_errors():
                self._columns = check_schema(self._connection, path)
                if not read_only and not set(RANGES) <= set(self._columns):
                    self._add_columns()
                if not read_only:
                    self._connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            self._connection.close()
            raise

    def is_in_place(self) -> bool:
        """Whether the file is still where it was opened, neither deleted nor moved away."""
        try:
            return _identity(self.path) == self._identity
        except OSError:
            return False

    def reopen(self) -> None:
        """Open the file that is now at the path, or a new one, after the old one was moved or deleted."""
        self._connection.close()
        self._open(read_only=False)

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Turn errors of SQLite into ConfigErrors."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise ConfigError(
                    f"the store {self.path} has been locked by another process for {LOCK_SECONDS:g} seconds"
                ) from None
            raise ConfigError(f"the store {self.path} cannot be read or written: {one_line(error)}") from None
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise self._damage_error(one_line(error)) from None

    def _damage_error(self, reason: str) -> ConfigError:
        return damage_error(self.path, reason)

    def _add_columns(self) -> None:
        """Add columns for measures added to the registry since the store was created."""
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._columns = check_schema(
                self._connection, self.path
            )  # another process may have added them in the meantime
            attached = self._attached()
            cells = [self._read(row, attached) for row in self._connection.execute("SELECT * FROM cells")]
            self._columns += [name for name in RANGES if name not in self._columns]
            self._connection.execute("DROP TABLE cells")
            self._connection.execute(cells_table(self._columns))
            for description, outcome in cells:
                self._write(description, outcome)

    def put(self, job: Job, outcome: Outcome) -> None:
        """Store the outcome of a job.  It replaces an earlier one, but an error never replaces scores."""
        self.put_all([(job, outcome)])

    def put_all(self, outcomes: Iterable[tuple[Job, Outcome]]) -> None:
        """Store the outcomes of several jobs at once."""
        with self._translated_errors(), self._connection:
            for job, outcome in outcomes:
                rate = float(job.noise_rate)
                description = [job.key, job.dataset, job.model.name, job.noise_kind, rate, job.repeat]
                self._write(description, outcome, replace=outcome.error is None)

    def _write(self, description: Sequence[Any], outcome: Outcome, *, replace: bool = True) -> int:
        scores = [outcome.scores.get(name) for name in self._columns]
        row = [*description, *map(_storable, (*scores, outcome.error, outcome.traceback))]
        row.append(_checksum(row))
        command = f"INSERT OR REPLACE INTO cells SELECT {', '.join('?' * len(row))}"
        if not replace:
            command += " WHERE NOT EXISTS (SELECT 1 FROM cells WHERE key = ? AND error IS NULL)"
        n_written = self._connection.execute(command, row if replace else [*row, row[0]]).rowcount
        if n_written:
            own = {name: value for name, value in outcome.scores.items() if name not in RANGES}
            self._attach("correct_rows", row[0], outcome.correct_rows)
            self._attach("own_scores", row[0], json.dumps(own, allow_nan=False) if own else None)
        return n_written

    def _attach(self, table: str, key: str, text: str | None) -> None:
        """Write the text of a cell to an optional table; None removes it."""
        if not self._has(table):
            if text is None:
                return
            self._connection.execute(OPTIONAL[table])
        if text is None:
            self._connection.execute(f"DELETE FROM {table} WHERE key = ?", [key])  # noqa: S608 - a constant
            return
        row = [key, text]
        self._connection.execute(
            f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)",  # noqa: S608
            [*row, _checksum(row)],
        )

    def _has(self, table: str) -> bool:
        """Whether there is an optional table; another process may have made it."""
        command = "SELECT count(*) FROM sqlite_schema WHERE name = ?"
        return bool(self._connection.execute(command, [table]).fetchone()[0])

    def _attached(self, keys: Iterable[str] | None = None) -> Attached:
        """Read the texts of cells in the optional tables; None for all cells."""
        chosen = None if keys is None else json.dumps(list(keys))
        found: Attached = {}
        for table in OPTIONAL:
            found[table] = {}
            if not self._has(table):
                continue
            command = f"SELECT * FROM {table}"  # noqa: S608
            if chosen is None:
                rows = self._connection.execute(command).fetchall()
            else:
                command += " WHERE key IN (SELECT value FROM json_each(?))"
                rows = self._connection.execute(command, [chosen]).fetchall()
            if any(_checksum(row[:-1]) != row[-1] for row in rows):
                raise self._damage_error("the rows of a cell were changed")
            found[table] = {key: text for key, text, _ in rows}
        return found

    def outcomes(self, keys: Iterable[str]) -> dict[str, Outcome]:
        """Stored outcomes of cells, by key."""
        keys = list(keys)
        with self._translated_errors(), self._snapshot():
            cells = self._connection.execute(
                "SELECT * FROM cells WHERE key IN (SELECT value FROM json_each(?))", [json.dumps(keys)]
            ).fetchall()
            attached = self._attached(keys)
        return {cell[0]: self._read(cell, attached)[1] for cell in cells}

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Read several tables as they are at one time, while other processes write."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.rollback()

    def _read(self, row: Sequence[Any], attached: Attached) -> tuple[Sequence[Any], Outcome]:
        """Check a row and split it into description and outcome."""
        if _checksum(row[:-1]) != row[-1]:
            raise self._damage_error("a cell was changed")
        n = len(DESCRIPTION)
        *values, error, traceback, _ = row[n:]
        columns = zip(self._columns, values, strict=True)
        scores = {name: value for name, value in columns if name in RANGES and value is not None}
        correct_rows = None if scores == {} else attached["correct_rows"].get(row[0])
        scores |= self._own_scores(attached["own_scores"].get(row[0]))
        outcome = Outcome(scores, error, traceback, correct_rows)
        if not (outcome.is_score or outcome.is_error):
            raise self._damage_error("it has an invalid cell")
        if error is not None:
            outcome = dataclasses.replace(outcome, error=printable(error[:MAX_ERROR]))
        return row[:n], outcome

    def _own_scores(self, text: str | None) -> dict[str, float | None]:
        """Users' metrics of a cell from their JSON."""
        try:
            own = {} if text is None else json.loads(text)
        except (ValueError, RecursionError):
            own = None
        if not isinstance(own, dict):
            raise self._damage_error("the metrics of a cell cannot be read")
        return {name: value for name, value in own.items() if name not in RANGES}

    def change_run(self, name: str, change: Callable[[str | None], str]) -> None:
        """Replace the record of a run by what `change` makes of it; None stands for no record.

        No other process changes the record in between.
        """
        with self._translated_errors(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            row = [name, change(self.run_record(name))]
            self._connection.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", [*row, _checksum(row)])

    def run_record(self, name: str) -> str | None:
        """Record of a run; None if there is none of this name."""
        with self._translated_errors():
            row = self._connection.execute("SELECT * FROM runs WHERE name = ?", [name]).fetchone()
        if row is None:
            return None
        if _checksum(row[:-1]) != row[-1]:
            raise self._damage_error(f"the record of the run {name!r} was changed")
        return str(row[1])

    def run_names(self) -> list[str]:
        """Sorted names of all runs that have a record."""
        with self._translated_errors():
            return [name for (name,) in self._connection.execute("SELECT name FROM runs ORDER BY name")]

    def merge(self, path: Path) -> int:
        """Copy finished cells of another store that this one does not have.

        Parameters
        ----------
        path : Path
            The other store, or its folder.  It is only read.

        Returns
        -------
        int
            Number of copied cells.

        Raises
        ------
        ConfigError
            If the store is missing, damaged or has an invalid cell.  Nothing is copied then.
        """
        with Store(path / STORE_NAME if path.is_dir() else path, read_only=True) as other:
            with other._translated_errors(), other._snapshot():
                rows = other._connection.execute("SELECT * FROM cells WHERE error IS NULL").fetchall()
                attached = other._attached()
            cells = [other._read(row, attached) for row in rows]
            if not all(_is_valid_description(description) for description, _ in cells):
                raise other._damage_error("it has an invalid cell")
        with self._translated_errors(), self._connection:
            return sum(self._write(*cell, replace=False) for cell in cells)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def _identity(path: Path) -> tuple[int, int]:
    """Numbers of the device and the file; a moved file keeps them."""
    status = path.stat()
    return status.st_dev, status.st_ino


def _storable(value: Any) -> Any:
    """Convert a value so that SQLite returns it unchanged; NaN becomes NULL."""
    if isinstance(value, str):
        return value[:MAX_TRACEBACK].encode(errors="replace").decode()
    return None if value is None or math.isnan(value) else float(value) + 0.0  # -0.0 becomes 0.0


def _checksum(row: Sequence[Any]) -> int:
    return zlib.crc32(repr(tuple(row)).encode(errors="replace"))


def _is_valid_description(description: Sequence[Any]) -> bool:
    """Whether the columns before the scores have valid values."""
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
