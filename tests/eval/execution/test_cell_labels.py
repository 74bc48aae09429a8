import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from boostnoise.eval import cell_labels, plan, run

pytestmark = pytest.mark.usefixtures("fits_in_this_process")


@pytest.fixture
def config(small_config):
    on_both = {"kind": "pair_flip", "rates": [0.3], "noise_on": "train+test"}
    return small_config(datasets=["wine"], noise=[{"kind": "uniform", "rates": [0.2]}, on_both], random_state=5)


def test_scores_can_be_checked(config):
    planned = plan(config)
    X = planned.datasets["wine"].X
    for row in run(config, n_jobs=1).scores.to_dict("records"):
        place = {name: row[name] for name in ("dataset", "noise_kind", "noise_rate", "repeat")}
        cells = cell_labels(planned, **place)
        assert sorted(cells.index) == list(range(178))
        assert cells["weight"].eq(1).all()
        train, test = (cells[cells["part"] == part] for part in ("train", "test"))
        tree = DecisionTreeClassifier(random_state=5 + row["repeat"]).fit(X[train.index], train["label"])
        assert (tree.predict(X[test.index]) == test["label"]).mean() == row["accuracy"]
        assert (train["label"] != train["true_label"]).mean() == pytest.approx(row["realised_rate"])
        of_test = (test["label"] != test["true_label"]).mean()
        assert (of_test > 0) == (row["noise_kind"].startswith("pair_flip") and row["noise_rate"] > 0)


def test_unknown_true_labels_and_soft_labels(small_config, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": np.arange(60.0), "label": ["a", "b"] * 30})
    frame["ann"], frame["bob"] = ["a", "b"] * 30, ["a", "a", "b", "b"] * 15
    frame.loc[rng.permutation(60)[:30], "label"] = None
    frame.to_csv(tmp_path / "crowd.csv", index=False)
    crowd = {"path": str(tmp_path / "crowd.csv"), "target": "label", "unchecked": "train"}
    datasets = [{**crowd, "annotators": ["ann", "bob"]}]
    noise = [{"kind": "given", "labels": ["soft_majority"]}]
    planned = plan(small_config(datasets=datasets, noise=noise, repeats=1))
    (rate,) = {job.noise_rate for job in planned.jobs}
    (kind,) = {job.noise_kind for job in planned.jobs}
    cells = cell_labels(planned, "crowd", kind, rate)
    train = cells[cells["part"] == "train"]
    assert train["true_label"].isna().all()
    assert train.groupby(level="row")["weight"].sum().to_numpy() == pytest.approx(np.ones(30))
    assert set(train["weight"]) == {0.5, 1.0}


def test_no_such_cell(config):
    with pytest.raises(ValueError, match=r"no cell with dataset 'wine', noise_kind 'uniform', noise_rate 0\.3"):
        cell_labels(plan(config), "wine", "uniform", 0.3)
