import re

import pandas as pd
import pytest

from boostnoise.eval import ConfigError
from boostnoise.eval.downloads.make_tables import make_tables


@pytest.fixture
def sets(server):
    return {name: (server.add(f"{name}.csv", f"x\n{name}\n"),) for name in ("one", "two")}


def make(folder, sets, build=lambda name, raw: raw.read_csv(), progress=None, chosen=None):
    return make_tables(
        folder,
        sets,
        sets if chosen is None else chosen,
        build,
        lambda names: [f"- {name}" for name in names],
        progress,
    )


def test_tables_and_their_sources(server, sets, tmp_path):
    steps = []
    paths = make(tmp_path / "a" / "b", sets, progress=steps.append)
    assert [path.name for path in paths] == ["one.parquet", "two.parquet"]
    assert [pd.read_parquet(path)["x"].tolist() for path in paths] == [["one"], ["two"]]
    assert (tmp_path / "a/b/SOURCES.md").read_text() == "# Sources of these data sets\n- one\n- two\n"
    paths[0].unlink()
    assert make(tmp_path / "a" / "b", sets, progress=steps.append) == paths
    assert steps == ["one", "two", "one"]
    assert len(server.requests) == 2


def test_sources_are_those_of_all_sets_in_the_folder(sets, tmp_path):
    for name in ("two", "one"):
        (path,) = make(tmp_path, sets, chosen=[name])
        assert path == tmp_path / f"{name}.parquet"
    assert (tmp_path / "SOURCES.md").read_text() == "# Sources of these data sets\n- one\n- two\n"


def test_a_set_that_fails_does_not_stop_the_others(server, sets, tmp_path):
    server.put(sets["one"][0], b"other")
    with pytest.raises(ConfigError) as caught:
        make(tmp_path / "made", sets)
    first, second = str(caught.value).splitlines()
    assert first == f"one data set of 2 could not be made; all others are in {tmp_path / 'made'}"
    assert re.fullmatch(r"one: http://.*/one\.csv has another content than expected, by its SHA-256", second)
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["SOURCES.md", "two.parquet"]
    assert "one" not in (tmp_path / "made" / "SOURCES.md").read_text()


def test_nothing_can_be_made(sets, tmp_path):
    def build(name, raw):
        raise KeyError("target")

    with pytest.raises(ConfigError) as caught:
        make(tmp_path, sets, build)
    assert str(caught.value).splitlines() == [
        "two data sets of 2 could not be made",
        "one, two: cannot be built: KeyError: 'target'",
    ]
    assert not list(tmp_path.glob("*.parquet"))


def test_a_folder_that_cannot_be_written(sets, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="data sets cannot be written to"):
        make(tmp_path / "file" / "made", sets)
