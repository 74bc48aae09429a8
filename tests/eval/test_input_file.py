import os
from pathlib import Path

import pytest

from boostnoise.eval._input_file import check_input_file


def test_a_file_and_a_link_to_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").touch()
    Path("link.csv").symlink_to("a.csv")
    assert check_input_file("a.csv") == tmp_path / "a.csv"
    assert check_input_file(Path("link.csv")) == tmp_path / "link.csv"


@pytest.mark.parametrize("path", ["none.csv", "a.csv/b.csv", "x" * 5000, "nul\0l"])
def test_no_file(refusal, tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").touch()
    assert refusal(check_input_file, path, "data").startswith(f"data: no such file: {path[:200]}")


@pytest.mark.parametrize("path", [".", "/dev/null", "/dev/zero", "pipe.csv", "link.csv"])
def test_other_than_regular_files(refusal, tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.csv")
    Path("link.csv").symlink_to("pipe.csv")
    assert refusal(check_input_file, path) == f"not a regular file: {path}"


def test_a_web_address(refusal):
    path = "https://example.com/a.csv"
    assert refusal(check_input_file, path) == f"no such file: {path}; web addresses are not read"


def test_a_folder_that_may_not_be_searched(refusal, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", denied)
    assert refusal(check_input_file, "a.csv") == "a.csv cannot be read: Permission denied"
