import dataclasses
import functools

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import precision_score, recall_score

from boostnoise import LabelAudit, find_label_errors
from boostnoise.eval import ConfigError
from boostnoise.eval.clean_labels.checked_sample import CheckedSample

N = 300


@functools.cache
def simulate(n_classes):
    """An audit, the right labels, the given ones, and probabilities of a model."""
    rng = np.random.default_rng(2)
    names = np.array(["a", "b", "c"][:n_classes])
    right = rng.integers(n_classes, size=N)
    given = np.where(rng.random(N) < 0.3, (right + 1) % n_classes, right)
    p, predicted = (np.exp(2 * np.eye(n_classes)[right] + rng.normal(size=(N, n_classes))) for _ in range(2))
    errors = find_label_errors(names[given], p / p.sum(axis=1, keepdims=True))
    audit = LabelAudit(errors, names[given], np.arange(N))
    return audit, right, given, predicted / predicted.sum(axis=1, keepdims=True)


def check(audit, right, n):
    """The audit with checked rows, which were drawn at random."""
    rows = np.random.default_rng(0).permutation(N)[:n]
    sample = CheckedSample(rows, right[rows], np.full(n, n / N), np.ones(n, dtype=int))
    return dataclasses.replace(audit, checked=sample)


def test_calibration_curve_of_checked_rows_is_scikit_learns():
    audit, right, given, p = simulate(3)
    table = check(audit, right, N).calibration_curve({"m": p}, pos_label="b", n_bins=4)
    for labels, column in ((right, "estimate"), (given, "on_given_labels")):
        share, mean = calibration_curve(labels == 1, p[:, 1], n_bins=4, strategy="quantile")
        np.testing.assert_allclose(table["mean_predicted"], mean)
        np.testing.assert_allclose(table[column], share)
    half = 1.96 * np.sqrt(table["estimate"] * (1 - table["estimate"]) / 75)
    np.testing.assert_allclose(table["low"], np.maximum(0, table["estimate"] - half), atol=1e-4)
    np.testing.assert_allclose(table["high"], np.minimum(1, table["estimate"] + half), atol=1e-4)
    assert set(table["model"]) == {"m"}
    assert set(table["class"]) == {"b"}
    assert table["rows"].tolist() == table["checked"].tolist() == [75] * 4


def test_lift_curve_of_checked_rows():
    audit, right, given, p = simulate(2)
    audit, p = check(audit, right, N), np.round(p, 1)  # with ties
    table = audit.lift_curve(p, depths=[0.1, 0.5, 0.5, 1])
    wide = table.pivot_table(["estimate", "on_given_labels"], "depth", "measure")
    assert len(wide) == 3
    for labels, column in ((right, "estimate"), (given, "on_given_labels")):
        for least, found in zip((0.1, 0.5, 1), wide[column].itertuples(), strict=True):
            assert found.Index >= least
            first = p[:, 1] >= np.sort(p[:, 1])[-int(np.ceil(least * N))]
            assert found.Index == first.mean()
            assert found.recall == pytest.approx(recall_score(labels, first))
            assert found.precision == pytest.approx(precision_score(labels, first))
            assert found.lift == pytest.approx(precision_score(labels, first) / labels.mean())
    order = np.random.default_rng(1).permutation(N)
    again = audit.lift_curve(p[order], rows=order, depths=[0.1, 0.5, 1])
    np.testing.assert_allclose(again["estimate"], table["estimate"])


def test_a_third_of_the_rows_checked():
    audit, right, _, p = simulate(2)
    audit = check(audit, right, 100)
    of_bins = audit.calibration_curve(p, n_bins=3)
    share, _ = calibration_curve(right, p[:, 1], n_bins=3, strategy="quantile")
    assert ((of_bins["low"] <= share) & (share <= of_bins["high"])).all()
    assert (of_bins["high"] - of_bins["low"]).between(0.05, 0.3).all()
    table = audit.lift_curve(p)
    assert table["depth"].nunique() == 13
    for row in table[table["measure"] == "lift"].itertuples():
        first = p[:, 1] >= np.sort(p[:, 1])[N - row.rows]
        assert row.low <= right[first].mean() / right.mean() <= row.high + 1e-9
        assert row.checked == first[audit.checked.rows].sum()


def test_depths_are_whole_rows():
    audit, _, _, p = simulate(2)
    table = audit.lift_curve(p[:100], rows=np.arange(100), depths=[1e-12, 0.07])
    assert table["rows"].unique().tolist() == [1, 7]


def test_mistakes():
    audit, _, _, p = simulate(3)
    with pytest.raises(ConfigError, match="pos_label must be one of a, b, c, got None"):
        audit.lift_curve(p)
    with pytest.raises(ConfigError, match="model has labels; a curve needs probabilities"):
        audit.calibration_curve(audit.labels, pos_label="a")
    with pytest.raises(ConfigError, match="n_bins must be a whole number of 1 or more, got 0"):
        audit.calibration_curve(p, pos_label="a", n_bins=0)
    with pytest.raises(ConfigError, match="depths must be a vector of shares above 0 and at most 1"):
        audit.lift_curve(p, pos_label="a", depths=[10, 20])
