import dataclasses
import json
import re

import pandas as pd
import pytest

from boostnoise.eval import ConfigError, fetch_real_noise
from boostnoise.eval.downloads import download
from boostnoise.eval.real_noise import fetch
from boostnoise.eval.real_noise.catalogue import Group, read_catalogue

DEFECTS = """File,size,HeuBug,HeuBugCount,RealBug,RealBugCount,language
a.java,10,True,1,True,1,en
b.java,20,False,0,True,2,de
c.java,30,False,0,False,0,
d.java,,False,0,False,0,en
"""


@pytest.fixture
def catalogue(server, monkeypatch):
    """Two data sets of two domains in place of all."""
    jira = read_catalogue()["jira"]
    files = {"jira_a": (server.add("data/a 1:2.csv", DEFECTS),), "jira_b": (server.add("data/b.csv", DEFECTS),)}
    groups = {
        "jira": dataclasses.replace(jira, sets={"jira_a": files["jira_a"]}),
        "szz": Group(
            "szz", "medicine", "SZZ", "people", None, "A paper", "Beware.", {"jira_b": files["jira_b"]}
        ),
    }
    monkeypatch.setattr(fetch, "read_catalogue", lambda: groups)
    monkeypatch.setattr(fetch, "domains", lambda: ["medicine", "software"])
    monkeypatch.setitem(fetch_builders(), "szz", fetch_builders()["jira"])
    return files


def fetch_builders():
    from boostnoise.eval.real_noise.build import BUILDERS

    return BUILDERS


@pytest.mark.usefixtures("catalogue")
def test_files_are_downloaded_once_and_become_tables(server, tmp_path):
    steps = []
    found = fetch_real_noise(tmp_path / "made", progress=steps.append)
    assert steps == list(found.index) == ["jira_a", "jira_b"]
    assert found.loc["jira_a"].to_dict() == {
        "domain": "software", "group": "jira", "rows": 4, "features": 2, "noisy": ("heuristic",), "wrong": 0.25,
        "licence": "GPL 2 or later", "path": str(tmp_path / "made" / "jira_a.parquet"),
    }  # fmt: skip
    table = pd.read_parquet(found.loc["jira_a", "path"])
    expected = pd.DataFrame(
        {
            "size": [10, 20, 30, None],
            "language": [1, 0, None, 1],
            "noisy_heuristic": [1, 0, 0, 0],
            "target": [1, 1, 0, 0],
        }
    )
    pd.testing.assert_frame_equal(table.astype(float), expected.astype(float))
    assert table.dtypes.astype(str).tolist() == ["float32", "float32", "int8", "int8"]
    assert len(server.requests) == 2
    sources = (tmp_path / "made" / "SOURCES.md").read_text()
    assert "- Licence: not stated; ask" in sources
    assert "- Note: Beware." in sources
    assert "https://github.com/owner/name/tree/abc" in sources
    # Neither a repeated call nor one for another folder asks again; one without files builds from the downloads.
    assert fetch_real_noise(tmp_path / "made", progress=steps.append).equals(found)
    fetch_real_noise()
    assert (tmp_path / "cache" / "real_noise" / "jira_b.parquet").is_file()
    assert len(server.requests) == 2
    assert len(steps) == 2


@pytest.mark.usefixtures("catalogue")
@pytest.mark.parametrize("only", ["medicine", ["szz"], ["jira_b"], {"medicine", "szz"}])
def test_domains_groups_and_sets_can_be_chosen(server, tmp_path, only):
    assert fetch_real_noise(tmp_path, only=only).index.tolist() == ["jira_b"]
    assert server.requests == ["/owner/name/abc/data/b.csv"]


@pytest.mark.usefixtures("catalogue")
def test_unknown_names(server, tmp_path):
    with pytest.raises(ConfigError, match=r"only: 'medicin' is no domain, .* \(did you mean 'medicine'\?\)"):
        fetch_real_noise(tmp_path, only=["medicin"])
    assert server.requests == []


def test_a_set_that_fails_does_not_stop_the_others(server, catalogue, tmp_path):
    server.put(catalogue["jira_a"][0], b"other")
    with pytest.raises(ConfigError) as caught:
        fetch_real_noise(tmp_path / "made")
    first, second = str(caught.value).splitlines()
    assert first.startswith("one data set of 2 could not be made; all others are in")
    assert re.fullmatch(
        r"jira_a: http://.*/data/a%201%3A2\.csv has another content than expected, by its SHA-256", second
    )
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["SOURCES.md", "jira_b.parquet"]
    assert "jira_a" not in (tmp_path / "made" / "SOURCES.md").read_text()
    server.put(catalogue["jira_a"][0], DEFECTS.encode())
    assert len(fetch_real_noise(tmp_path / "made")) == 2


def test_no_network_and_no_file(server, catalogue, tmp_path, monkeypatch):
    (server.folder / "owner/name/abc/data/b.csv").unlink()
    with pytest.raises(ConfigError, match=r"b\.csv cannot be downloaded: 404 .*; repeat the command later"):
        fetch_real_noise(tmp_path, only="jira_b")
    monkeypatch.setattr(download, "HOST", "http://127.0.0.1:9")
    with pytest.raises(ConfigError) as caught:
        fetch_real_noise(tmp_path / "made")
    assert str(caught.value).splitlines() == [
        "two data sets of 2 could not be made",
        "jira_a, jira_b: no connection to http://127.0.0.1:9; repeat the command later",
    ]
    assert list((tmp_path / "made").iterdir()) == []


def test_a_file_that_is_no_table(server, catalogue, tmp_path, monkeypatch):
    broken = server.add("data/c.csv", "x\n1\n")
    groups = {"jira": dataclasses.replace(read_catalogue()["jira"], sets={"jira_c": (broken,)})}
    monkeypatch.setattr(fetch, "read_catalogue", lambda: groups)
    with pytest.raises(ConfigError, match="jira_c: cannot be built: KeyError"):
        fetch_real_noise(tmp_path)


@pytest.mark.usefixtures("catalogue")
def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="data sets cannot be written to"):
        fetch_real_noise(tmp_path / "file" / "made")


@pytest.mark.usefixtures("catalogue")
def test_the_command(noisyeval, tmp_path):
    done = noisyeval(tmp_path, "made", "--fetch", "real_noise")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == (
        "2 data sets of 2 domains, with 2 columns of noisy labels, are in made; SOURCES.md there says who gave the "
        "labels, and what to cite. The sources of 1 state no licence.\n"
    )
    assert done.stderr.splitlines() == ["noisyeval: jira_a", "noisyeval: jira_b"]
    done = noisyeval(tmp_path, "some", "--fetch", "real_noise", "--only", "medicine", "--json")
    step, fetched = map(json.loads, done.stdout.splitlines())
    assert step == {"event": "step", "name": "jira_b"}
    assert [row["name"] for row in fetched["datasets"]] == ["jira_b"]
    failed = noisyeval(tmp_path, "some", "--fetch", "real_noise", "--only", "medicin")
    assert failed.exit_code == 2
    assert "noisyeval: error: only: 'medicin' is no domain" in failed.stderr
    assert (
        "cannot be combined with --redraw"
        in noisyeval(tmp_path, "a", "--fetch", "real_noise", "--redraw").stderr
    )
    assert "--only requires --fetch" in noisyeval(tmp_path, "some", "--only", "medicine").stderr
