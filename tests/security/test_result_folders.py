"""No folder of results, whoever made it, has the command write or delete a file outside of it."""

import os
import subprocess
import time

import pandas as pd
import pytest

from boostnoise import compare
from boostnoise.eval._atomic_file import atomic_write
from boostnoise.eval.errors import ConfigError


@pytest.fixture
def victim(tmp_path):
    path = tmp_path / "victim"
    path.write_text("mine")
    return path


def test_a_link_in_the_folder_is_replaced_and_not_followed(folder, victim, noisyeval):
    results = folder / "results" / "study"
    for path in list(results.iterdir()):
        path.unlink()
        path.symlink_to(victim)
    assert noisyeval(folder, "--redraw", "results/study").exit_code == 0
    assert victim.read_text() == "mine"
    assert not [path for path in results.iterdir() if path.is_symlink()]


def test_no_name_of_an_unfinished_file_can_be_foreseen(tmp_path, victim):
    for i in range(2000):
        (tmp_path / f".{os.getpid() + i - 1000}.file").symlink_to(victim)
    with atomic_write(tmp_path / "file") as file:
        file.write(b"theirs")
    assert victim.read_text() == "mine"
    assert (tmp_path / "file").read_bytes() == b"theirs"


def test_processes_with_the_same_number_do_not_meet(tmp_path, monkeypatch):
    monkeypatch.setattr("os.getpid", lambda: 1)
    with atomic_write(tmp_path / "file") as one, atomic_write(tmp_path / "file") as other:
        one.write(b"one")
        other.write(b"other")
    assert (tmp_path / "file").read_bytes() == b"one"  # which was finished last
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_run_folder_that_is_a_link_is_refused(folder, tmp_path, refused):
    results, elsewhere = folder / "results" / "study", tmp_path / "elsewhere"
    results.rename(elsewhere)
    before = {path: path.stat().st_mtime_ns for path in elsewhere.iterdir()}
    results.symlink_to(elsewhere)
    for arguments in (["--redraw", "results/study"], ["study.json"], ["study.json", "--dry-run"]):
        assert "link" in refused(folder, *arguments)
    assert {path: path.stat().st_mtime_ns for path in elsewhere.iterdir()} == before


def test_a_data_folder_that_is_a_link_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "results" / "data").symlink_to(tmp_path / "elsewhere")
    X, y = pd.DataFrame({"a": range(20)}), pd.Series([0, 1] * 10)
    with pytest.raises(ConfigError, match="link"):
        compare(["decision_tree"], {"mine": (X, y)}, progress=False)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_a_store_that_is_a_link_is_refused(folder, victim, suffix, refused):
    path = folder / "results" / f"store.sqlite{suffix}"
    path.unlink(missing_ok=True)
    path.symlink_to(victim)
    for arguments in (["--redraw", "results/study"], ["study.json"], ["study.json", "--dry-run"]):
        assert path.name in refused(folder, *arguments)
    assert victim.read_text() == "mine"


def test_a_link_to_nothing_is_refused_as_a_store(tmp_path, folder, refused):
    store = folder / "results" / "store.sqlite"
    store.unlink()
    store.symlink_to(tmp_path / "new")
    assert "link" in refused(folder, "study.json")
    assert not (tmp_path / "new").exists()


@pytest.mark.release
def test_no_journal_has_a_file_deleted(folder, victim, refused):
    """A rollback journal may name a super-journal, which SQLite deletes when it has rolled back."""
    name = os.fsencode(victim)
    magic = bytes.fromhex("d9d505f920a163d7")
    header = magic + bytes(4) + os.urandom(4) + (0).to_bytes(4) + (512).to_bytes(4) + (4096).to_bytes(4)
    tail = (0x40000000 // 4096 + 1).to_bytes(4) + name + len(name).to_bytes(4) + sum(name).to_bytes(4) + magic
    (folder / "results" / "store.sqlite-journal").write_bytes(header.ljust(512, b"\0") + tail)
    for arguments in (["--redraw", "results/study"], ["study.json"], ["study.json", "--dry-run"]):
        assert "store.sqlite-journal" in refused(folder, *arguments)
    assert victim.read_text() == "mine"


@pytest.mark.release
def test_redraws_at_once(folder, command, noisyeval):
    line = ["--redraw", "results/study", "-q"]
    results = folder / "results" / "study"
    (results / "scores.parquet").unlink()  # which is written first
    other = subprocess.Popen([command, *line], cwd=folder, stderr=subprocess.PIPE, text=True)
    while other.poll() is None and not (results / "scores.parquet").exists():
        time.sleep(0.005)
    done = noisyeval(folder, *line)
    assert (done.stderr, done.exit_code) == ("", 0)
    assert (other.communicate()[1], other.returncode) == ("", 0)
    assert not list(results.glob(".*"))


def test_files_have_the_permissions_of_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "file") as file:
            file.write(b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640
