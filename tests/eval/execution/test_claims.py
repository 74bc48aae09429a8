import hashlib
import os
import subprocess
import sys

import pytest

from boostnoise.eval.errors import ConfigError
from boostnoise.eval.execution.claims import Claims

HOLD = """
import sys
from pathlib import Path
from boostnoise.eval.execution.claims import Claims

with Claims(Path(sys.argv[1])) as claims:
    print([claims.claim(key) for key in sys.argv[2:]], flush=True)
    for key in sys.stdin:
        claims.release(key.strip())
        print(flush=True)
"""
A, B, C = (hashlib.sha256(name).hexdigest() for name in (b"a", b"b", b"c"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


@pytest.fixture
def other(path):
    """Another process, which has claimed A and B."""
    line = [sys.executable, "-c", HOLD, path, A, B]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "[True, True]\n"
        yield process
        process.kill()


def test_a_cell_is_claimed_by_one_process(path, other):
    with Claims(path) as claims:
        assert [claims.claim(key) for key in (A, B, C)] == [False, False, True]
        print(A, file=other.stdin, flush=True)
        other.stdout.readline()
        assert [claims.claim(key) for key in (A, B, C)] == [True, False, True]
        other.kill()
        other.wait()
        assert claims.claim(B)
    assert path.with_name("store.sqlite-claims").read_bytes() == b""


def test_claims_are_kept_in_a_new_file(path, other):
    with Claims(path) as claims:
        assert claims.claim(C)
        path.with_name("store.sqlite-claims").unlink()
        claims.keep_in_place()
        assert claims.claim(A)  # unknown in the new file
        claims.release(A)
        line = [sys.executable, "-c", HOLD, path, A, C]
        done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.stdout == "[True, False]\n"


def test_a_file_that_cannot_be_locked(path, tmp_path):
    file = path.with_name("store.sqlite-claims")
    file.mkdir()
    with pytest.raises(ConfigError, match=r"store.sqlite-claims cannot be opened: Is a directory"):
        Claims(path)
    file.rmdir()
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match=r"store.sqlite-claims cannot be opened"):
        Claims(path)
    assert not os.path.lexists(tmp_path / "elsewhere")
