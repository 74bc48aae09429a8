from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from boostnoise.eval import ConfigError
from boostnoise.eval.datasets.train_test import split
from boostnoise.eval.execution.plan import check, plan
from boostnoise.eval.execution.runner import run
from boostnoise.eval.execution.store import Store
from boostnoise.eval.metrics.outcome import Outcome

TREE = {"name": "tree", "module": "sklearn.tree", "model": "DecisionTreeClassifier"}
BAD = {"name": "bad", "model": "decision_tree", "params": {"max_depth": -1}}


pytestmark = pytest.mark.usefixtures("fits_in_this_process")


@pytest.fixture
def make(small_config):
    kinds = [{"kind": "uniform", "rates": [0.2]}, {"kind": "pair_flip", "rates": [0.2]}]
    return partial(small_config, noise=kinds)


def files(folder):
    return {path.relative_to(folder): path.stat().st_mtime_ns for path in Path(folder).rglob("*")}


def test_nothing_is_written(make, tmp_path):
    planned = plan(make())
    assert files(tmp_path) == {}
    # Without noise, all kinds of it are the same cell.
    assert (len(planned.jobs), len(planned.cells), len(planned.pending)) == (8, 6, 6)
    run(make(), n_jobs=1)
    assert repr(planned) == "<Plan of run: 6 cells, 0 finished, 6 to fit>"
    before = files(tmp_path)
    planned = plan(make())
    assert files(tmp_path) == before
    assert (len(planned.finished), len(planned.pending)) == (6, 0)


def test_failed_cells_are_pending(make):
    config = make(models=[BAD, TREE])
    run(config, n_jobs=1)
    planned = plan(config)
    assert {job.model.name for job in planned.pending.values()} == {"bad"}
    assert all("max_depth" in planned.stored[key].error for key in planned.pending)


def test_without_resume_all_is_pending(make):
    run(make(), n_jobs=1)
    planned = plan(make(resume=False))
    assert len(planned.pending) == 6
    assert planned.finished == {}
    assert len(planned.stored) == 6


def test_pending_cells_have_the_order_of_the_config(make):
    planned = plan(make())
    assert list(planned.pending) == list(dict.fromkeys(planned.keys))


def test_progress_during_a_run(make, tmp_path):
    """A plan finds the cells that are still in the journal of the store."""
    planned = check(make())
    with Store(make().store_path) as store:
        key = planned.keys[0]
        store.put(planned.cells[key], Outcome({"accuracy": 0.5}))
        assert list(plan(make()).finished) == [key]


def test_a_folder_whose_name_means_something_in_addresses(make, tmp_path):
    config = make(results_dir=str(tmp_path / "what? #1 %41"))
    run(config, n_jobs=1)
    assert len(plan(config).finished) == 6


def test_a_store_that_is_damaged_or_empty(make):
    path = make().store_path
    path.parent.mkdir(parents=True)
    for content in (b"no store" * 1000, b""):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match="is damaged"):
            plan(make())


def test_data_that_cannot_be_split(make, tmp_path):
    with pytest.raises(ConfigError, match="cannot be split with test_fraction"):
        plan(make(test_fraction=0.999))
    (tmp_path / "rare.csv").write_text("a,y\n" + "1,0\n" * 9 + "2,1\n")
    rare = {"path": str(tmp_path / "rare.csv"), "target": "y"}
    expected = r"data set 'rare': class 1 has a single row, .* set .stratify.: false"
    with pytest.raises(ConfigError, match=expected):
        plan(make(datasets=[rare]))
    with pytest.raises(ConfigError, match=expected):
        plan(make(datasets=[rare], fixed_split=True))
    with pytest.raises(ConfigError, match="cannot be split with test_fraction"):
        plan(make(fixed_split=True, test_fraction=0.999))


def test_a_split_that_all_repeats_share(make):
    keys = {"stratify": False, "random_state": 4, "repeats": 3}
    fixed, drawn = (plan(make(fixed_split=fixed_split, **keys)) for fixed_split in (True, False))
    dataset = fixed.datasets["iris"]
    _, test = train_test_split(np.arange(150), train_size=0.8, random_state=4)
    assert np.flatnonzero(dataset.is_test).tolist() == sorted(test)
    rows = {job.seed: split(dataset, *job.split)[1].tolist() for job in fixed.jobs}
    assert list(rows) == [4, 5, 6]
    assert all(found == sorted(test) for found in rows.values())
    assert drawn.datasets["iris"].is_test is None
    assert fixed.config.sets_with_own_split == ["iris"]
    assert not set(fixed.keys) & set(drawn.keys)


def test_every_model_must_take_weights(make, tmp_path):
    pd.DataFrame({"a": range(20), "w": 1.0, "y": [0, 1] * 10}).to_csv(tmp_path / "t.csv", index=False)
    weighted = {"path": str(tmp_path / "t.csv"), "target": "y", "weight": "w"}
    knn = {"name": "knn", "module": "sklearn.neighbors", "model": "KNeighborsClassifier"}
    expected = r"models\[1\] \(knn\): takes no weights of rows, but data set 't' has a column of weights"
    with pytest.raises(ConfigError, match=expected):
        plan(make(datasets=["iris", weighted], models=[TREE, knn]))
    assert len(plan(make(datasets=["iris", weighted])).pending) == 12


def test_columns_that_a_pipeline_selects_must_exist(make, tmp_path):
    pd.DataFrame({"age": range(20), "sex": ["f", "m"] * 10, "y": [0, 1] * 10}).to_csv(tmp_path / "t.csv")
    data = [{"path": str(tmp_path / "t.csv"), "target": "y"}]

    def pipeline(column):
        one_hot = {"module": "sklearn.preprocessing", "model": "OneHotEncoder"}
        columns = {"module": "sklearn.compose", "model": "ColumnTransformer"}
        nested = columns | {"params": {"transformers": [["x", one_hot, ["of the first step"]]]}}
        columns["params"] = {"transformers": [["hot", one_hot, [column]], ["rest", "drop", "age"]]}
        steps = [["columns", columns], ["again", nested], ["tree", TREE]]
        return {"name": "pipe", "module": "sklearn.pipeline", "model": "Pipeline", "params": {"steps": steps}}

    expected = (
        r"models\[0\] \(pipe\): selects the column 'Sex', which data set 't' does not have \(did you mean "
        r"'sex'\?\); features are Unnamed: 0, age, sex"
    )
    with pytest.raises(ConfigError, match=expected):
        plan(make(datasets=data, models=[pipeline("Sex")]))
    assert plan(make(datasets=data, models=[pipeline("sex")])).pending


def test_audited_noise_is_checked_before_any_fit(make):
    with pytest.raises(
        ConfigError, match=r"noise 'audited': data set 'iris': rate 0\.5 would change half or more"
    ):
        plan(make(noise=[{"kind": "audited", "rates": [0.1, 0.5]}]))
    with pytest.raises(ConfigError) as caught:
        plan(make(noise=[{"kind": "audited", "rates": [0.5]}], datasets=["iris", "wine"]))
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[1] for line in lines] == ["data set 'iris'", "data set 'wine'"]
    assert len(plan(make(noise=[{"kind": "audited", "rates": [0.01]}])).pending) == 4
