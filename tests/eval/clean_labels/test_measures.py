import functools

import numpy as np
import pytest
from sklearn import metrics

from boostnoise.eval.clean_labels.measures import (
    Predicted,
    accuracy,
    balanced_accuracy,
    expected_cost,
    log_loss,
    precision,
    recall,
    roc_auc,
)

rng = np.random.default_rng(0)
Y = rng.integers(3, size=200)
P = rng.dirichlet(np.ones(3), size=200).round(2) + 1e-3  # with ties
P /= P.sum(axis=1, keepdims=True)
PREDICTED = Predicted(P.argmax(axis=1), P, 3)
TWO = Predicted((P[:, 1] > 0.4).astype(int), np.column_stack([1 - P[:, 1], P[:, 1]]), 2)
MEASURES = [
    accuracy,
    balanced_accuracy,
    functools.partial(recall, of=1),
    functools.partial(precision, of=0),
    roc_auc,
    log_loss,
]


def in_scikit_learn(predicted, y):
    labels, k = range(predicted.n_classes), predicted.n_classes
    hits = predicted.labels
    auc = (
        metrics.roc_auc_score(y, predicted.probabilities[:, 1])
        if k == 2
        else metrics.roc_auc_score(y, predicted.probabilities, multi_class="ovr")
    )
    return [
        metrics.accuracy_score(y, hits),
        metrics.balanced_accuracy_score(y, hits),
        metrics.recall_score(y, hits, labels=[1], average=None)[0],
        metrics.precision_score(y, hits, labels=[0], average=None)[0],
        auc,
        metrics.log_loss(y, predicted.probabilities, labels=labels),
    ]


@pytest.mark.parametrize(("predicted", "y"), [(PREDICTED, Y), (TWO, Y % 2)], ids=["three", "two"])
def test_values_of_hard_labels(predicted, y):
    hard = np.eye(predicted.n_classes)[y]
    found = [measure(predicted, hard) for measure in MEASURES]
    np.testing.assert_allclose([one.value for one in found], in_scikit_learn(predicted, y))
    for one in found:
        assert (one.slopes * hard).sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("predicted", [PREDICTED, TWO], ids=["three", "two"])
def test_slopes_are_derivatives(measure, predicted):
    k = predicted.n_classes
    labels = np.random.default_rng(1).dirichlet(np.ones(k), size=200)
    change = np.random.default_rng(2).normal(size=(200, k))
    change -= change.mean(axis=1, keepdims=True)  # the weights of a row sum to 1
    step = 1e-5
    ends = [measure(predicted, labels + sign * step * change).value for sign in (1, -1)]
    derivative = (ends[0] - ends[1]) / (2 * step)
    assert (measure(predicted, labels).slopes * change).sum() / 200 == pytest.approx(derivative, abs=1e-6)


def test_soft_labels_are_weighted_copies():
    labels = np.random.default_rng(3).integers(0, 5, size=(200, 2)) / 4
    labels[labels.sum(axis=1) == 0] = 1
    copies = Predicted(np.tile(TWO.labels, 2), np.tile(TWO.probabilities, (2, 1)), 2)
    y, weight = np.repeat([0, 1], 200), labels.T.ravel()
    expected = metrics.roc_auc_score(y, copies.probabilities[:, 1], sample_weight=weight)
    assert roc_auc(TWO, labels).value == pytest.approx(expected)
    expected = metrics.balanced_accuracy_score(y, copies.labels, sample_weight=weight)
    assert balanced_accuracy(TWO, labels).value == pytest.approx(expected)


def test_expected_cost():
    costs = np.array([[0.0, 2.0, 1.0], [3.0, 0.5, 1.0], [4.0, 1.0, 0.0]])
    found = expected_cost(PREDICTED, np.eye(3)[Y], costs)
    assert found.value == pytest.approx(costs[Y, PREDICTED.labels].mean())
    assert (found.slopes * np.eye(3)[Y]).sum() == pytest.approx(0, abs=1e-9)


def test_measures_that_do_not_exist():
    never = Predicted(np.zeros(200, dtype=int), None, 2)
    assert np.isnan(precision(never, np.eye(2)[Y % 2], of=1).value)
    for measure in (roc_auc, log_loss):
        with pytest.raises(ValueError, match="needs probabilities"):
            measure(never, np.eye(2)[Y % 2])
