import json
import shutil
import sqlite3
import zlib
from contextlib import closing
from functools import partial

import pytest

CONFIG = {
    "datasets": ["iris"],
    "models": ["decision_tree", {"name": "nb", "module": "sklearn.naive_bayes", "model": "GaussianNB"}],
    "noise": [{"kind": "uniform", "rates": [0.2]}],
    "repeats": 1,
    "ela_fig": {"save_fig": False},
    "rla_fig": {"save_fig": False},
}


@pytest.fixture(scope="session")
def finished(tmp_path_factory, noisyeval):
    """A folder with a config and the results of its run, without pictures."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "study.json").write_text(json.dumps(CONFIG))
    done = noisyeval(folder, "study.json", "-q")
    assert done.exit_code == 0, done.stderr
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    """A copy of it, to be tampered with."""
    shutil.copytree(finished, tmp_path / "work")
    return tmp_path / "work"


def _checksum(row):
    return zlib.crc32(repr(tuple(row)).encode(errors="replace"))


def _edit_store(folder, table, change):
    """Rewrite the rows of a table of the store, with checksums that fit, as anybody can."""
    with closing(sqlite3.connect(folder / "results" / "store.sqlite")) as connection, connection:
        rows = [list(row) for row in connection.execute(f"SELECT * FROM {table}")]
        connection.execute(f"DELETE FROM {table}")
        for row in rows:
            row[:-1] = change(row[:-1])
            row[-1] = _checksum(row[:-1])
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def _edit_record(folder, change):
    """Change the record of the run in its store."""

    def of_row(row):
        record = json.loads(row[1])
        change(record)
        return [row[0], json.dumps(record)]

    _edit_store(folder, "runs", of_row)


@pytest.fixture(scope="session")
def refused(noisyeval):
    """Runs the command in a folder, which must end with one printable line; returns that line."""

    def run(folder, *arguments):
        done = noisyeval(folder, *arguments)
        lines = done.stderr.splitlines()
        assert done.exit_code == 2, done.stderr
        assert len(lines) == 1, done.stderr
        assert lines[0].isprintable()
        return lines[0]

    return run


@pytest.fixture
def edit_store(folder):
    """Changes all rows of a table of the store."""
    return partial(_edit_store, folder)


@pytest.fixture
def edit_record(folder):
    """Changes the record of the run in the store."""
    return partial(_edit_record, folder)
