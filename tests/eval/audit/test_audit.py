import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from scipy.sparse import csr_matrix
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from boostnoise import LabelAudit, audit, find_label_errors
from boostnoise.eval import ConfigError
from boostnoise.eval.models.held_out import held_out_probabilities

X, Y = load_breast_cancer(return_X_y=True)
WRONG = np.random.default_rng(0).random(Y.size) < 0.1
NOISY = np.where(WRONG, 1 - Y, Y)


def test_it_is_find_label_errors_of_the_forests():
    found = audit(X, NOISY)
    assert isinstance(found, LabelAudit)
    expected = find_label_errors(NOISY, held_out_probabilities(X, NOISY, random_state=0))
    np.testing.assert_array_equal(found.errors.p_wrong, expected.p_wrong)
    assert found.noise_rate == expected.noise_rate
    assert found.noise_rate_interval[0] < WRONG.mean() < found.noise_rate_interval[1]
    np.testing.assert_array_equal(found.transition_matrix, expected.transition_matrix)
    assert WRONG[found.suspects["row"][:30]].mean() > 0.9
    again = audit(X, NOISY, n_jobs=2)
    np.testing.assert_array_equal(again.errors.p_wrong, expected.p_wrong)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(random_state=0),
        LGBMClassifier(n_estimators=30, n_jobs=1, verbose=-1),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_models(model):
    found = audit(X, NOISY, model=model)
    assert WRONG[found.suspects["row"][:20]].mean() >= 0.8
    expected = held_out_probabilities(X, NOISY, clone(model), random_state=0)
    np.testing.assert_array_equal(found.errors.p_wrong, find_label_errors(NOISY, expected).p_wrong)


def test_frames_with_text_dates_and_gaps():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X[:, :4], columns=["a", "b", "c", "d"]).assign(
        part=np.where(X[:, 7] > 0.05, "x", "y"),
        size=pd.Categorical(np.where(X[:, 2] > 90, "large", None)),
        day=pd.Timestamp("2024-01-01") + pd.to_timedelta(X[:, 3], "D"),
    )
    frame.loc[rng.random(Y.size) < 0.1, "a"] = np.nan
    frame.index = rng.permutation(Y.size)
    before = frame.copy()
    labels = pd.Series(np.array(["ill", "well"])[NOISY], index=frame.index)
    for model in (None, LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1)):
        found = audit(frame, labels, model=model, ids=[f"p{i}" for i in range(Y.size)])
        assert found.suspects["id"].iloc[0] == f"p{found.suspects['row'].iloc[0]}"
        assert WRONG[found.suspects["row"][:20]].mean() >= 0.8
        assert set(found.suspects["suggested"]) == {"ill", "well"}
    pd.testing.assert_frame_equal(frame, before)


def test_sparse_matrices():
    dense, sparse = audit(X, NOISY), audit(csr_matrix(X), NOISY)
    np.testing.assert_array_equal(dense.errors.p_wrong, sparse.errors.p_wrong)


def test_groups_are_judged_apart():
    features, labels = load_wine(return_X_y=True)
    rows = np.repeat(np.arange(labels.size), 3)  # a forest that saw copies of a row would trust its label
    wrong = np.random.default_rng(0).random(labels.size) < 0.15
    noisy = np.where(wrong, (labels + 1) % 3, labels)
    apart = audit(features[rows], noisy[rows], groups=[f"g{row}" for row in rows])
    together = audit(features[rows], noisy[rows])
    n = int(3 * wrong.sum())
    precision = [wrong[rows][found.suspects["row"][:n]].mean() for found in (apart, together)]
    assert precision[0] > precision[1] + 0.05


def test_labels_that_features_do_not_predict():
    rng = np.random.default_rng(0)
    with pytest.raises(ConfigError, match="the features do not predict the labels, so no label can be judged"):
        audit(rng.normal(size=(300, 3)), rng.integers(2, size=300))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"y": [1] * 6}, ConfigError, "^y must contain at least two classes, got one class, 1"),
        ({"y": [0, 0, 0, 1, 1, None]}, ConfigError, "^y contains 1 missing labels"),
        ({"y": [0.5, 1.2, 3.1, 2.2, 0.1, 9.9]}, ConfigError, "y: .*[Cc]ontinuous"),
        ({"y": [0, 0, 0, 1, 1, 2]}, ConfigError, "class 2 has a single row; an audit needs two or more"),
        ({"X": np.ones((5, 2))}, ConfigError, "X has 5 rows, but y has 6"),
        ({"groups": [1, 2]}, ConfigError, "groups has 2 rows, but y has 6"),
        ({"groups": [1] * 6}, ConfigError, "groups: all rows are of one group"),
        ({"groups": [1, 2, None, 1, 2, 3]}, ConfigError, "groups has missing values"),
        ({"ids": "abc"}, ConfigError, "ids has 3 rows, but y has 6"),
        ({"model": "xgboost"}, TypeError, "model must be a classifier with predict_proba, got 'xgboost'"),
        ({"model": RidgeClassifier()}, TypeError, "model must be a classifier with predict_proba, got Ridge"),
        ({"X": pd.DataFrame({"a": [[1], [2], [3], [4], [5], [6]]})}, ConfigError, "X: column 'a' has neither"),
    ],
)
def test_errors(changes, error, message):
    arguments = {"X": np.arange(12.0).reshape(6, 2), "y": [0, 0, 0, 1, 1, 1]} | changes
    with pytest.raises(error, match=message):
        audit(**arguments)


def test_checked_rows():
    before = audit(X, NOISY)
    rows = before.suspects["row"].to_numpy()[:15]
    found = audit(X, NOISY, checked=dict(zip(rows.tolist(), Y[rows].tolist(), strict=True)))
    same = audit(X, NOISY, checked=pd.Series(Y[rows], rows))
    np.testing.assert_array_equal(found.errors.p_wrong, same.errors.p_wrong)
    assert (found.n_checked, same.n_checked) == (15, 15)
    assert not set(found.suspects["row"][:100]) & set(rows)
    left_out = ~found.clean_mask()
    assert left_out[rows].tolist() == (NOISY[rows] != Y[rows]).tolist()
    assert "15 of them were checked" in str(found)
    unchecked = np.delete(found.errors.p_wrong, rows)
    assert f"{(unchecked > 0.5).sum()} labels are more likely wrong than right" in str(found)
    for checked, message in (
        ({9999: 0}, "checked rows must be .* from 0 to 568"),
        ({0: 5}, r"checked labels must be labels of the data \(0, 1\), got 5"),
    ):
        with pytest.raises(ConfigError, match=message):
            audit(X, NOISY, checked=checked)


def test_remarks():
    assert audit(X, NOISY).remarks == ()
    twice = audit(np.repeat(X, 2, axis=0), np.repeat(NOISY, 2))
    assert twice.noise_rate < 0.02  # the copies confirm one another
    assert twice.remarks[0].startswith("569 of 1138 rows are copies of others with the same label")
    assert "569 of 1138 rows are copies" in str(twice)
    apart = audit(np.repeat(X, 2, axis=0), np.repeat(NOISY, 2), groups=np.repeat(np.arange(569), 2))
    assert apart.remarks == ()
    low, high = apart.noise_rate_interval
    assert low < (NOISY != Y).mean() < high
    (remark,) = audit(X, NOISY, model=DecisionTreeClassifier(random_state=0)).remarks
    assert remark.startswith("the model's probabilities have only 1 different values")


@pytest.mark.parametrize("seed", range(4))
def test_random_labels_are_refused(seed):
    rng = np.random.default_rng(seed)
    with pytest.raises(ConfigError, match="do not predict the labels"):
        audit(rng.normal(size=(600, 10)), rng.integers(2, size=600))


def test_almost_random_labels_are_remarked_on():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 10))
    y = rng.random(1_000) < expit(0.3 * X[:, 0])
    remark = "the features hardly predict the labels, so these estimates are unreliable"
    assert audit(X, y).remarks == (remark,)


def test_wrong_types():
    for checked in ([1, 0], "1"):
        with pytest.raises(TypeError, match="checked must be a dict, Series or DataFrame"):
            audit(X, NOISY, checked=checked)
    with pytest.raises(TypeError, match="model must be a classifier with predict_proba"):
        audit(X, NOISY, model=DecisionTreeClassifier)
