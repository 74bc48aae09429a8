import json
import re

import pandas as pd
import pytest

from boostnoise.eval import ConfigError
from boostnoise.eval.study_data import fetch
from boostnoise.eval.study_data.fetch import StudySet, fetch_study_data, read_catalogue

SONAR, GERMAN = "0.5,0.25,R\n0.75,1,M\n", "1, 6, 2\n2, 48, 1\n"


@pytest.fixture
def catalogue(server, monkeypatch):
    """Two data sets in place of all."""
    sets = {
        "sonar": StudySet("Sonar, UCI", "CC BY 4.0", "Somebody", (server.add("sonar.csv", SONAR),)),
        "german": StudySet("German, UCI", None, "Somebody else", (server.add("g.data", GERMAN),)),
    }
    monkeypatch.setattr(fetch, "read_catalogue", lambda: sets)
    return sets


@pytest.mark.usefixtures("catalogue")
def test_tables_and_their_sources(tmp_path):
    paths = fetch_study_data(tmp_path / "data")
    assert [path.name for path in paths] == ["sonar.parquet", "german.parquet"]
    assert [pd.read_parquet(path)["target"].tolist() for path in paths] == [[0, 1], [1, 0]]
    sources = (tmp_path / "data" / "SOURCES.md").read_text()
    assert "## sonar\n\n- Original: Sonar, UCI\n- Licence: CC BY 4.0\n- Cite: Somebody\n" in sources
    assert "- Licence: not stated; ask the authors" in sources
    assert sources.count("- From: https://github.com/owner/name/tree/abc\n") == 2


@pytest.mark.usefixtures("catalogue")
def test_chosen_sets(server, tmp_path):
    assert [path.name for path in fetch_study_data(tmp_path, only=["german"])] == ["german.parquet"]
    assert len(server.requests) == 1
    with pytest.raises(ConfigError, match=r"only: 'sonnar' is no data set of the studies.*'sonar'"):
        fetch_study_data(tmp_path, only=["sonnar"])


@pytest.mark.usefixtures("catalogue")
def test_the_command(noisyeval, tmp_path):
    done = noisyeval(tmp_path, "data", "--fetch", "study_data")
    assert (done.exit_code, done.stdout.split()) == (0, ["data/sonar.parquet", "data/german.parquet"])
    done = noisyeval(tmp_path, "data", "--fetch", "study_data", "--only", "sonar", "--json")
    assert json.loads(done.stdout.splitlines()[-1]) == {"event": "written", "file": "data/sonar.parquet"}


def test_every_file_is_pinned():
    for name, one in read_catalogue().items():
        assert one.original, name
        assert one.citation
        assert one.files
        for file in one.files:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+", file.repository)
            assert re.fullmatch("[0-9a-f]{40}", file.commit)
            assert re.fullmatch("[0-9a-f]{64}", file.sha256)
            assert ".." not in file.path.split("/")
