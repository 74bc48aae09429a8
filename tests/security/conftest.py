import json
import shutil
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from boostnoise.eval.cli.main import main

CONFIG = {
    "datasets": ["iris"],
    "models": ["decision_tree", {"name": "nb", "module": "sklearn.naive_bayes", "model": "GaussianNB"}],
    "noise": [{"kind": "uniform", "rates": [0.2]}],
    "repeats": 1,
}
COMMAND = Path(sys.executable).with_name("noisyeval")


def _noisyeval(folder, *arguments):
    """The command in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = CliRunner().invoke(main, [*map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return done


def _process(folder, *arguments, **options):
    """The command in a process of its own."""
    options = {"capture_output": True, "text": True, "timeout": 300, **options}
    return subprocess.run([COMMAND, *map(str, arguments)], cwd=folder, **options)


@pytest.fixture(scope="session")
def command():
    """The path of the command."""
    return COMMAND


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A folder with a config and the results of its run."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "study.json").write_text(json.dumps(CONFIG))
    done = _noisyeval(folder, "study.json", "-q")
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


def _refused(folder, *arguments):
    """Run the command, which must end with one printable line; return that line."""
    done = _noisyeval(folder, *arguments)
    lines = done.stderr.splitlines()
    assert done.exit_code == 2, done.stderr
    assert len(lines) == 1, done.stderr
    assert lines[0].isprintable()
    return lines[0]


@pytest.fixture(scope="session")
def noisyeval():
    """Runs the command in a folder, in this process."""
    return _noisyeval


@pytest.fixture(scope="session")
def process():
    """Runs the command in a folder, in a process of its own."""
    return _process


@pytest.fixture(scope="session")
def refused():
    """Runs the command in a folder, and returns the one line that it must end with."""
    return _refused


@pytest.fixture
def edit_store(folder):
    """Changes all rows of a table of the store."""
    return partial(_edit_store, folder)


@pytest.fixture
def edit_record(folder):
    """Changes the record of the run in the store."""
    return partial(_edit_record, folder)
