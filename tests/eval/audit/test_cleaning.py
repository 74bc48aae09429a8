import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from boostnoise import LabelAudit, find_label_errors, use_checked_labels
from boostnoise.eval import ConfigError
from boostnoise.eval.audit import cleaning
from boostnoise.eval.audit.cleaning import as_text, training_labels
from boostnoise.eval.clean_labels.checked_sample import CheckedSample

WAYS = ["as given", "weights", "soft-labels", "drop", "relabel"]


@pytest.fixture(autouse=True)
def two_folds(monkeypatch):
    monkeypatch.setattr(cleaning, "FOLDS", 2)


@pytest.fixture(scope="module")
def example():
    """Features, right labels, and an audit of labels that are often wrong in one class."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    right = (X[:, 0] + 0.3 * rng.normal(size=400) > 0).astype(int)
    y = np.where(rng.random(400) < np.where(right, 0.4, 0.05), 1 - right, right)
    p = 0.05 + 0.9 / (1 + np.exp(-4 * X[:, 0] - rng.normal(size=400)))
    q = 0.95 * (1 - p) + 0.4 * p
    labels = np.array(["a", "b"])
    errors = find_label_errors(labels[y], np.column_stack([q, 1 - q]))
    return X, right, LabelAudit(errors, labels[y], np.arange(400))


def test_training_labels_by_hand():
    y = np.array([0, 0, 1, 1])
    errors = dataclasses.replace(
        find_label_errors(np.repeat([0, 1], 50), np.eye(2)[np.repeat([0, 1], 50)] * 0.8 + 0.1),
        p_wrong=np.array([0.9, 0.25, 0.0, 0.02]),
        clean_probabilities=np.array([[0.1, 0.9], [0.75, 0.25], [0, 1], [0.02, 0.98]]),
        ranking=np.array([0, 1, 3, 2]),
        suggested=1 - y,
    )
    labels = training_labels(y, errors, np.arange(2), 0.8)
    given = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    expected = {
        "as given": given,
        "weights": given * np.array([[0.1], [0.75], [1], [0.98]]),
        "soft-labels": [[0.1, 0.9], [0.75, 0.25], [0, 1], [0, 1]],  # without the negligible ones
        "drop": [[0, 0], [1, 0], [0, 1], [0, 1]],
        "relabel": [[0, 1], [1, 0], [0, 1], [0, 1]],
    }
    assert list(labels) == WAYS
    for way, values in expected.items():
        np.testing.assert_allclose(labels[way], values)
    # Suspects that are all rows of a class stay as they are.
    np.testing.assert_array_equal(training_labels(y, errors, np.arange(2), 0.5)["drop"], given)
    for values in training_labels(y, None, np.arange(2), 0.8).values():
        np.testing.assert_array_equal(values, given)


def test_accuracies_are_near_those_on_right_labels(example):
    X, right, audit = example
    table = audit.compare_cleaning(X, n_jobs=1)
    assert table.index.tolist() == WAYS
    assert table.columns.tolist() == ["accuracy", "change", "error"]
    np.testing.assert_allclose(table["change"], table["accuracy"] - table["accuracy"]["as given"])
    assert table["change"]["soft-labels"] > 0
    assert table["error"]["as given"] == 0 < table["error"]["soft-labels"] < 0.05
    # With all rows checked, and a column that is known to be made from the label, the scores are exact.
    labels = audit.classes[right]
    checked = use_checked_labels(audit.errors, audit.labels, np.arange(400), labels)
    sample = CheckedSample(np.arange(400), right, np.ones(400), np.zeros(400, dtype=int))
    known = dataclasses.replace(audit, errors=checked, checked=sample, left_out=("copy",))
    frame = pd.DataFrame(X).assign(copy=audit.labels).rename(columns=str)
    exact = known.compare_cleaning(frame, groups=np.arange(400) // 2, n_jobs=1)
    assert exact["accuracy"]["soft-labels"] > exact["accuracy"]["as given"] + exact["error"]["soft-labels"]
    assert as_text(exact).splitlines()[1].split() == ["as", "given", f"{exact['accuracy']['as given']:.3f}"]


def test_labels_that_cannot_be_judged_stay_as_given(example):
    _, _, audit = example
    noise = csr_matrix(np.random.default_rng(0).normal(size=(400, 2)))
    np.testing.assert_array_equal(audit.compare_cleaning(noise, n_jobs=1)["change"], 0)


def test_mistakes(example):
    X, _, audit = example
    with pytest.raises(ConfigError, match="X has 399 rows, but the audit has 400"):
        audit.compare_cleaning(X[1:])
    with pytest.raises(ConfigError, match="all rows are of one group"):
        audit.compare_cleaning(X, groups=np.zeros(400))
    with pytest.raises(ValueError, match="precision must be above 0"):
        audit.compare_cleaning(X, precision=0)
