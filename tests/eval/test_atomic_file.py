import os
import time
from pathlib import Path

import pytest

from boostnoise.eval._atomic_file import atomic_create, atomic_write


def test_a_file_is_replaced_at_once(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with atomic_write(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_stays_when_writing_fails(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def write():
        with atomic_write(path) as file:
            file.write(b"ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_killed_processes_left(tmp_path):
    hour_old = {".0123456789abcdef.tmp": b"half", ".0123456789abcdef.tmp-wal": b""}
    kept = {".0123456789abcde0.tmp": b"new", ".0123456789abcdef.tmp.txt": b"", "0123456789abcdef.tmp": b""}
    for name, content in (hour_old | kept).items():
        (tmp_path / name).write_bytes(content)
        if name != ".0123456789abcde0.tmp":
            os.utime(tmp_path / name, (0, time.time() - 3_700))
    target = tmp_path / "target"
    target.touch()
    os.utime(target, (0, 0))
    (tmp_path / ".0123456789abcde1.tmp").symlink_to(target)
    with atomic_write(tmp_path / "file") as file:
        file.write(b"x")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {*kept, ".0123456789abcde1.tmp", "target", "file"}


def test_a_file_is_created_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"

    def create_half():
        with atomic_create(path) as temporary:
            temporary.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        create_half()
    assert [*tmp_path.iterdir()] == []
    for content in (b"first", b"second"):
        with atomic_create(path) as temporary:
            temporary.write_bytes(content)
    assert path.read_bytes() == b"first"
    assert [*tmp_path.iterdir()] == [path]


def test_a_file_system_without_hard_links(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    test_a_file_is_created_whole_or_not_at_all(tmp_path)
