import sqlite3
from contextlib import closing

import pytest
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.store import Outcome, Store


class StubJob:
    """As much of a job as the store reads."""

    dataset, noise_kind, noise_rate, repeat = "iris", "uniform", 0.1, 0

    class model:
        name = "tree"

    def __init__(self, key):
        self.key = key


GOOD = Outcome(accuracy=0.9, realised_rate=0.1, fit_seconds=1.5, predict_seconds=0.5)
BAD = Outcome(error="ValueError: no", traceback="Traceback ...")


def test_what_is_put_is_there_for_the_next_run(tmp_path):
    path = tmp_path / "deep" / "store.sqlite"
    with Store(path) as store:
        assert store.outcomes(["a"]) == {}
        store.put(StubJob("a"), GOOD)
        store.put(StubJob("b"), BAD)
    with Store(path) as store:
        assert store.outcomes(["a", "b", "c"]) == {"a": GOOD, "b": BAD}
        assert store.outcomes(["b"]) == {"b": BAD}
        store.put(StubJob("b"), GOOD)
        assert store.outcomes(["b"]) == {"b": GOOD}


def test_what_is_put_is_on_disk_at_once(tmp_path):
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.put(StubJob("a"), GOOD)
        with Store(path) as other:
            assert other.outcomes(["a"]) == {"a": GOOD}


def test_a_damaged_store_is_left_alone(tmp_path):
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(ConfigError, match=r"is damaged .*move it away"):
        Store(path)
    assert path.read_bytes() == b"this is no database" * 100


def test_a_page_that_is_damaged(tmp_path):
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        for i in range(500):
            store.put(StubJob(str(i)), GOOD)
    content = bytearray(path.read_bytes())
    content[4096::7] = bytes(255 - byte for byte in content[4096::7])
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="is damaged"), Store(path) as store:
        store.outcomes(["a"])


def test_scores_that_cannot_be():
    assert GOOD.is_score
    for outcome in (
        BAD,
        Outcome(),
        Outcome(accuracy=7.5),
        Outcome(accuracy="0.9"),
        Outcome(accuracy=float("nan")),
    ):
        assert not outcome.is_score


def test_a_store_of_another_version(tmp_path):
    path = tmp_path / "store.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ConfigError, match="has format 99, this version reads 1"):
        Store(path)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        Store(tmp_path / "file" / "store.sqlite")
