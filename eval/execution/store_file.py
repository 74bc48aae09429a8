"""File of a store: its tables, its creation, and checks before it is used."""

from __future__ import annotations

import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from .._atomic_file import atomic_create
from ..errors import ConfigError
from ..metrics.registry import RANGES

APPLICATION_ID = int.from_bytes(b"bnev")  # identifies the files of this project
SCHEMA_VERSION = 3
# Columns before the scores.  The names of data set, model and noise are for human readers.
DESCRIPTION = {
    "key": "TEXT NOT NULL PRIMARY KEY",
    "dataset": "TEXT NOT NULL",
    "model": "TEXT NOT NULL",
    "noise_kind": "TEXT NOT NULL",
    "noise_rate": "REAL NOT NULL",
    "repeat": "INTEGER NOT NULL",
}
# Columns after the scores.
TRAILING = {"error": "TEXT", "traceback": "TEXT", "checksum": "INTEGER NOT NULL"}
# Records of the runs, as JSON.
RUNS = """
CREATE TABLE runs (
    name TEXT NOT NULL PRIMARY KEY,
    record TEXT NOT NULL,
    checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID
""".strip()

# Test rows that cells predicted correctly, where repeats share them.  Made for the first such cell.
ROWS = """
CREATE TABLE correct_rows (
    key TEXT NOT NULL PRIMARY KEY,
    correct TEXT NOT NULL,
    checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID
""".strip()

# Users' metrics of cells, as JSON.  Made for the first such cell.
OWN_SCORES = """
CREATE TABLE own_scores (
    key TEXT NOT NULL PRIMARY KEY,
    scores TEXT NOT NULL,
    checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID
""".strip()
OPTIONAL = {"correct_rows": ROWS, "own_scores": OWN_SCORES}

# Added to the name of the store for its write-ahead log, the index of that log, and the claims of cells.
COMPANIONS = ("-wal", "-shm", "-claims")


def cells_table(scores: Iterable[str]) -> str:
    """SQL definition of the table of cells, with one column per score."""
    columns = DESCRIPTION | dict.fromkeys(scores, "REAL") | TRAILING
    lines = ",\n".join(f"    {name} {sql_type}" for name, sql_type in columns.items())
    return f"CREATE TABLE cells (\n{lines}\n) STRICT, WITHOUT ROWID"


def check_files(path: Path) -> None:
    """Check that the store and its companion files are regular; SQLite follows links and journals.

    A store uses a write-ahead log and never has a rollback journal.  A foreign one could make SQLite delete any
    file.

    Raises
    ------
    ConfigError
        If one of them is a link or not a file, or there is a rollback journal.
    """
    for file in (path, *(path.with_name(path.name + suffix) for suffix in COMPANIONS)):
        if file.is_symlink() or (file.exists() and not file.is_file()):
            what = "a link" if file.is_symlink() else "not a file"
            raise ConfigError(f"the store {path} cannot be used: {file.name} is {what}")
    journal = path.with_name(f"{path.name}-journal")
    if os.path.lexists(journal):
        raise ConfigError(
            f"the store {path} cannot be used: there is a file {journal.name}, which stores do not have; "
            "delete that file if the store is yours"
        )


def create(path: Path) -> None:
    """Create an empty store, unless there is a file at `path`, such as the store of another process."""
    with atomic_create(path) as temporary, closing(sqlite3.connect(temporary)) as connection:
        # Finished cells survive a kill at any moment, but the last ones may be lost if the system crashes.
        connection.execute("PRAGMA journal_mode = WAL")
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(cells_table(RANGES))
            connection.execute(RUNS)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def damage_error(path: Path, reason: str) -> ConfigError:
    """Error for a store that is damaged."""
    return ConfigError(f"the store {path} is damaged ({reason}); move it away to start a new one")


def check_schema(connection: sqlite3.Connection, path: Path) -> list[str]:
    """Check the schema of a store and return the names of its score columns.

    Raises
    ------
    ConfigError
        If it is the file of another program or version, or damaged.
    """

    def pragma(name: str) -> Any:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]

    version, application = pragma("user_version"), pragma("application_id")
    schema = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    tables = {name: sql for entry_type, name, _, sql in schema if entry_type == "table"}
    if not schema and application == version == 0:
        raise damage_error(path, "it is empty")  # SQLite takes a file of a few bytes for a new database
    if application != APPLICATION_ID and (version, "cells" in tables) != (1, True):
        raise ConfigError(f"{path} is not a store of noisyeval, but a database of another program")
    if version != SCHEMA_VERSION:
        raise ConfigError(
            f"the store {path} has format {version}, but this version reads format {SCHEMA_VERSION}; "
            "move it away to start a new one"
        )
    # Checked before any query of the tables, because a foreign schema may contain code that queries execute.
    columns = re.findall(r"^    (\w+) REAL,$", str(tables.get("cells")), re.MULTILINE)
    expected = {"cells": cells_table(columns), "runs": RUNS}
    expected |= {name: sql for name, sql in OPTIONAL.items() if name in tables}
    if Counter(schema) != Counter(("table", name, name, sql) for name, sql in expected.items()):
        raise damage_error(path, "its tables were changed")
    message = pragma("quick_check(1)")
    if message != "ok":
        raise damage_error(path, message.splitlines()[-1])
    return columns
