import json
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from boostnoise.eval.config.reader import load_config
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.execution.plan import plan
from boostnoise.eval.execution.run import load_run
from boostnoise.eval.execution.run_record import Recorder, RunRecord
from boostnoise.eval.execution.runner import run
from boostnoise.eval.execution.store import Store
from boostnoise.eval.metrics.outcome import NOT_FITTED

TREE = {"name": "tree", "model": "decision_tree", "params": {"max_depth": 3}}
BAYES = {"name": "$\\mu$ <b>", "module": "sklearn.naive_bayes", "model": "GaussianNB"}
BAD = {"name": "bad", "model": "decision_tree", "params": {"max_depth": -1}}


pytestmark = pytest.mark.usefixtures("fits_in_this_process")


@pytest.fixture
def make(small_config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return partial(small_config, datasets=["iris", "wine"], models=[TREE, BAYES], results_dir="results")


def test_a_loaded_run_equals_the_original(make):
    config = make()
    ran = run(config, n_jobs=1)
    loaded = load_run("results")
    assert loaded.config == ran.config == config
    assert loaded.datasets == ran.datasets
    assert loaded.sessions == ran.sessions
    pd.testing.assert_frame_equal(loaded.scores, ran.scores)
    assert (
        loaded.datasets["wine"].rows,
        loaded.datasets["wine"].features,
        loaded.datasets["wine"].classes,
    ) == (178, 13, 3)
    (session,) = loaded.sessions
    assert session.fitted == 16
    assert session.seconds > 0
    assert {"sklearn", "numpy", "boostnoise"} == set(session.versions)


def test_nothing_is_written_if_there_is_nothing_new(make):
    run(make(), n_jobs=1)
    with Store(Path("results/store.sqlite")) as store:
        before = store.run_record("run")
    again = run(make(), n_jobs=1)
    with Store(Path("results/store.sqlite")) as store:
        assert store.run_record("run") == before
    assert len(again.sessions) == 1


def test_sessions_accumulate_until_all_is_fitted_again(make):
    run(make(models=[TREE]), n_jobs=1)
    both = run(make(), n_jobs=1)
    assert [session.fitted for session in both.sessions] == [8, 8]
    assert list(both.scores["model"].unique()) == ["tree", "$\\mu$ <b>"]
    fewer = run(make(models=[BAYES]), n_jobs=1)  # nothing to fit, but another run
    assert list(load_run("results").scores["model"].unique()) == ["$\\mu$ <b>"]
    assert len(fewer.sessions) == 2
    fresh = run(make(resume=False), n_jobs=1)
    assert [session.fitted for session in fresh.sessions] == [16]


def test_a_run_that_was_stopped(make):
    class Stop(Exception):
        pass

    def progress(progress):
        if progress.done == 5:
            raise Stop

    with pytest.raises(Stop):
        run(make(), n_jobs=1, progress=progress)
    stopped = load_run(Path("results"), "run")
    assert stopped.scores["accuracy"].notna().sum() == 5
    assert (stopped.scores["error"] == NOT_FITTED).sum() == 11
    assert [session.fitted for session in stopped.sessions] == [5]


def test_failed_cells_have_their_errors(make):
    ran = run(make(models=[TREE, BAD]), n_jobs=1)
    loaded = load_run("results")
    pd.testing.assert_frame_equal(loaded.scores, ran.scores)
    assert loaded.scores.loc[loaded.scores["model"] == "bad", "error"].str.contains("max_depth").all()


def test_neither_data_nor_models_are_needed(make, tmp_path):
    pd.DataFrame({"a": range(60), "b": [0, 1] * 30}).to_csv("mine.csv", index=False)
    config = make(datasets=[{"path": "mine.csv", "target": "b"}])
    ran = run(config, n_jobs=1)
    Path("mine.csv").unlink()
    moved = tmp_path / "elsewhere" / "moved"
    moved.parent.mkdir()
    Path("results").rename(moved)
    loaded = load_run(moved)
    pd.testing.assert_frame_equal(loaded.scores, ran.scores)
    assert loaded.config.output_dir == moved / "run"


def test_how_a_run_is_found(make):
    run(make(), n_jobs=1)
    run(make(name="other", models=[TREE]), n_jobs=1)
    with pytest.raises(ConfigError, match="has several runs, choose one: other, run"):
        load_run("results")
    with pytest.raises(ConfigError, match="has no run 'third'; its runs are other, run"):
        load_run("results", "third")
    assert load_run("results", "other").config.name == "other"
    Path("results/run").mkdir()
    assert load_run("results/run").config.name == "run"
    with pytest.raises(ConfigError, match="there is no store"):
        load_run("nowhere")
    with Store(Path("empty/store.sqlite")):
        pass
    with pytest.raises(ConfigError, match="has no record of a run; repeat the run"):
        load_run("empty")


def test_records_that_cannot_be_read(make):
    run(make(datasets=["iris"], models=[TREE]), n_jobs=1)
    for text in ("no JSON", "[" * 100_000):
        with Store(Path("results/store.sqlite")) as store:
            store.change_run("run", lambda _, text=text: text)
        with pytest.raises(ConfigError):
            load_run("results")


def test_a_round_trip():
    record = RunRecord(config={"models": [{"params": {"missing": 1.5}}]}, datasets={}, cells=[])
    assert RunRecord.loads(record.dumps()) == record


def test_stored_configs_are_read_unchanged(root):
    config = load_config(root / "configs" / "quickstart.json")
    assert parse_config(json.loads(json.dumps(config.model_dump())), config.name) == config


def test_sessions_of_several_processes(make):
    """Each keeps those of the others, whichever writes last, also if two begin in the same second."""
    config = make(datasets=["iris"], models=[TREE])
    planned = plan(config)
    path = config.store_path
    with Store(path) as one, Store(path) as two:
        with Recorder(one, planned, on_cluster=False) as first:
            second = Recorder(two, planned, on_cluster=False)
            second._session = first._session
            with second:
                assert len(second.record.sessions) == 2
                second.n_fitted = 1
            first.n_fitted = 3
        assert sorted(session.fitted for session in first.record.sessions) == [1, 3]
        assert RunRecord.loads(one.run_record("run")) == first.record
