import os
import signal
import sys

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from boostnoise import audit
from boostnoise.eval import ByClassNoise
from boostnoise.eval.audit import dask_judging
from boostnoise.eval.errors import ConfigError

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

pytestmark = [pytest.mark.release, pytest.mark.filterwarnings("ignore:Sending large graph")]
NAMES = np.array(["low", "middle", "high"])


def make_table(n_rows=3_000):
    """A frame with text, missing values and noisy labels, and whether each label is wrong."""
    X, y = make_classification(n_rows, 8, n_informative=6, n_classes=3, class_sep=1.5, random_state=0)
    noisy = ByClassNoise(0.2).corrupt(y, random_state=0).labels
    frame = pd.DataFrame(X.round(2), columns=[f"x{i}" for i in range(8)])
    frame["town"] = np.where(X[:, 0] > 0, "north", "south")
    frame.loc[::13, "x1"] = np.nan
    return frame.assign(label=NAMES[noisy]), noisy != y


def split(table):
    return table.drop(columns="label"), table["label"]


def in_parts(table, n=5):
    return split(dd.from_pandas(table, npartitions=n, sort=False))


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(dask_judging, "SAMPLED_ROWS", 1_000)


def test_no_cluster():
    """The first test, as the client of the others is kept."""
    with pytest.raises(
        ConfigError, match=r"Dask collections need a Dask cluster: create a distributed\.Client"
    ):
        audit(*in_parts(make_table()[0]))


@pytest.mark.usefixtures("dask_client")
def test_few_rows_are_judged_as_on_one_machine():
    table, _ = make_table()
    expected, found = audit(*split(table)), audit(*in_parts(table))
    np.testing.assert_array_equal(found.errors.p_wrong, expected.errors.p_wrong)
    assert found.labels.tolist() == table["label"].tolist()
    pd.testing.assert_frame_equal(found.features, expected.features, check_dtype=False)
    assert str(found) == str(expected)
    X = table.filter(like="x").to_numpy()
    y = table["label"].to_numpy().astype(str)
    found = audit(da.from_array(X, chunks=(700, 3)), da.from_array(y, chunks=700))
    np.testing.assert_array_equal(found.errors.p_wrong, audit(X, y).errors.p_wrong)


@pytest.mark.usefixtures("dask_client", "small_sample")
@pytest.mark.parametrize("is_sorted", [False, True])
def test_rows_beyond_the_sample_are_judged_by_forests_that_have_not_seen_them(is_sorted):
    table, is_wrong = make_table()
    order = np.argsort(table["label"], kind="stable") if is_sorted else np.arange(3_000)
    ids = da.from_array(order, chunks=1_000)
    found = audit(*in_parts(table.iloc[order].reset_index(drop=True)), ids=ids)
    assert found.features is None
    assert found.ids.tolist() == order.tolist()
    assert found.errors.noise_rate == pytest.approx(is_wrong.mean(), abs=0.03)
    assert roc_auc_score(is_wrong[order], found.errors.p_wrong) > 0.95
    low, high = found.errors.noise_rate_interval
    assert low <= is_wrong.mean() <= high


@pytest.mark.usefixtures("dask_client", "small_sample")
def test_checked_labels_and_spellings():
    table, is_wrong = make_table()
    table["label"] = table["label"].where(np.arange(3_000) % 10 > 0, table["label"].str.upper())
    found = audit(*in_parts(table), checked={3: "LOW", 4: "high"})
    assert found.errors.classes.tolist() == sorted(NAMES)
    assert found.remarks[0].startswith("labels that differ in case")
    assert found.errors.clean_probabilities[3].argmax() == 1
    assert found.errors.noise_rate == pytest.approx(is_wrong.mean(), abs=0.05)


@pytest.mark.usefixtures("dask_client", "small_sample")
def test_columns_made_from_the_label_are_left_out():
    table, is_wrong = make_table()
    random = np.random.default_rng(0)
    table["coder"] = table["label"].where(random.random(3_000) > 0.1, random.permutation(table["label"]))
    found = audit(*in_parts(table))
    assert found.left_out == ("coder",)
    assert roc_auc_score(is_wrong, found.errors.p_wrong) > 0.95
    kept = audit(*in_parts(table), keep_label_columns=True)
    assert kept.left_out == ()
    assert roc_auc_score(is_wrong, kept.errors.p_wrong) < 0.9


@pytest.mark.usefixtures("dask_client")
def test_rare_classes_are_part_of_the_sample(monkeypatch):
    monkeypatch.setattr(dask_judging, "SAMPLED_ROWS", 300)
    random = np.random.default_rng(0)
    y = np.arange(3_000) // 1_490  # twenty rows of the last class
    X = random.normal(size=(3_000, 5)) + 3 * y[:, np.newaxis]
    found = audit(da.from_array(X, chunks=(500, -1)), da.from_array(y, chunks=500))
    assert found.errors.p_wrong[y == 2].mean() < 0.2
    assert found.errors.noise_rate < 0.02


@pytest.mark.usefixtures("dask_client")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": np.zeros(3_000)}, "groups: must be None with Dask collections"),
        ({"model": DecisionTreeClassifier()}, "model: must be None with Dask collections"),
        ({"ids": [1, 2]}, "ids has 2 rows, but y has 3000"),
        ({"y": np.zeros(3_000)}, "y must be a Dask collection, as X is, got ndarray"),
        ({"y": "short"}, "y must have as many"),
        ({"y": "missing"}, "missing"),
        ({"X": "infinite"}, "X: has infinite values"),
    ],
)
def test_bad_input(change, message, monkeypatch):
    monkeypatch.setattr(dask_judging, "SAMPLED_ROWS", 300)
    table, _ = make_table()
    X, y = in_parts(table)
    made = {
        "short": y.loc[y.index < 2_900],
        "missing": in_parts(table.assign(label=table["label"].where(table.index > 5)))[1],
        "infinite": in_parts(table.assign(x0=table["x0"].where(table.index % 50 > 0, np.inf)))[0],
    }
    arguments = {"X": X, "y": y} | {
        name: made[value] if isinstance(value, str) else value for name, value in change.items()
    }
    with pytest.raises(ConfigError, match=message):
        audit(**arguments)


class Killed:
    """Judges parts, and kills its worker once, at the second part."""

    def __init__(self, judge, folder):
        self.judge, self.folder = judge, folder
        self.forests = judge.forests

    def __call__(self, X):
        (self.folder / str(len(list(self.folder.iterdir())))).touch()
        if len(list(self.folder.iterdir())) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.judge(X)


def test_a_killed_worker(start_dask, small_sample, monkeypatch, tmp_path):
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    table, _ = make_table()
    judge = dask_judging._Judge
    with start_dask() as client:
        expected = audit(*in_parts(table))
        monkeypatch.setattr(dask_judging, "_Judge", lambda *arguments: Killed(judge(*arguments), tmp_path))
        before = set(client.scheduler_info()["workers"])
        found = audit(*in_parts(table))
        assert set(client.scheduler_info()["workers"]) != before
    np.testing.assert_array_equal(found.errors.p_wrong, expected.errors.p_wrong)
