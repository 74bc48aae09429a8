"""Tables of annotators: rates of wrong labels and their differences, with intervals and tests."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import beta, binomtest, t
from statsmodels.stats.multitest import multipletests

from boostnoise.label_noise.annotators import AnnotatorErrors, RateSample

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

TAIL = 0.025  # on each side of an interval


def _with_totals(n_labels: Floats) -> Floats:
    """Numbers of labels of each annotator, in all classes and in each, shape (A, 1 + K)."""
    return np.column_stack([n_labels.sum(axis=1), n_labels])


def _by_annotator_and_class(names: list[Any], classes: NDArray[Any], **columns: Floats) -> pd.DataFrame:
    """Table of arrays of shape (A, 1 + K)."""
    table = pd.DataFrame({name: values.ravel() for name, values in columns.items()})
    table.insert(0, "annotator", [name for name in names for _ in range(classes.size + 1)])
    table.insert(1, "class", pd.Series([None, *classes.tolist()] * len(names), dtype=object))
    return table


def error_rates(
    names: list[Any],
    classes: NDArray[Any],
    errors: AnnotatorErrors,
    sample: RateSample,
    codes: Codes,
    right: Codes,
) -> pd.DataFrame:
    """Rates with intervals of as many binomial trials as have the variance, at most the labels.

    `AnnotatorComparison` describes the columns; codes and right labels are as in `compare_annotators`.
    """
    rates, n_labels = errors.rates, _with_totals(errors.n_labels)
    variance = sample.variance(sample.rates)
    trials = np.maximum(rates * (1 - rates) / np.maximum(variance, 1e-12), 1.0)
    trials = np.where(variance > 0, np.minimum(trials, n_labels), n_labels)
    wrong, other = rates * trials + 0.5, (1 - rates) * trials + 0.5
    low, high = beta.ppf(TAIL, wrong, other), beta.ppf(1 - TAIL, wrong, other)
    low = np.minimum(low, rates)
    table = _by_annotator_and_class(
        names, classes, labels=n_labels.round(1), wrong=rates, low=low, high=np.maximum(high, rates)
    )
    return table.join(_checked_error_rates(codes, right, classes.size)) if (right >= 0).any() else table


def _checked_error_rates(codes: Codes, right: Codes, n_classes: int) -> pd.DataFrame:
    """Wrong labels of checked rows, with exact intervals of Clopper and Pearson."""
    rows = []
    for given in codes.T:
        for k in (None, *range(n_classes)):
            is_used = (given >= 0) & ((right >= 0) if k is None else (right == k))
            n, wrong = int(is_used.sum()), int((given != right)[is_used].sum())
            interval = binomtest(wrong, n).proportion_ci(1 - 2 * TAIL) if n else (np.nan, np.nan)
            rows.append((n, wrong, *interval))
    return pd.DataFrame(rows, columns=["checked", "checked_wrong", "checked_low", "checked_high"])


def differences(
    names: list[Any],
    classes: NDArray[Any],
    errors: AnnotatorErrors,
    sample: RateSample,
    codes: Codes,
    right: Codes,
) -> pd.DataFrame:
    """Differences of the rates of each two annotators, with intervals and t tests by the bootstrap.

    `AnnotatorComparison` describes the columns; codes and right labels are as in `compare_annotators`.
    """
    rates, n_labels = errors.rates, _with_totals(errors.n_labels)
    parts, degrees = [], len(sample.rates) - 1
    for i, j in combinations(range(len(names)), 2):
        difference = rates[i] - rates[j]
        variance = sample.variance(sample.rates[:, i] - sample.rates[:, j])
        # No sample has an error that the data do not have, so variances of rates near 0 are too low.
        error = np.sqrt(
            variance + 0.5 / np.maximum(n_labels[i], 1) ** 2 + 0.5 / np.maximum(n_labels[j], 1) ** 2
        )
        width = t.ppf(1 - TAIL, degrees) * error
        columns = {
            "difference": difference,
            "low": np.maximum(difference - width, -1.0),
            "high": np.minimum(difference + width, 1.0),
            "p_value": 2 * t.sf(np.abs(difference) / error, degrees),
        }
        part = _by_annotator_and_class([names[i]], classes, **columns)
        parts.append(part.rename(columns={"annotator": "first"}))
        parts[-1].insert(1, "second", [names[j]] * len(part))
    table = pd.concat(parts, ignore_index=True)
    of_all = table["class"].isna()
    table["p_holm"] = _holm(table["p_value"], of_all)
    if not (right >= 0).any():
        return table
    checked = _checked_differences(codes, right, classes.size)
    return table.join(checked.assign(checked_p_holm=_holm(checked["checked_p_value"], of_all)))


def _holm(p_values: pd.Series[float], of_all: pd.Series[bool]) -> pd.Series[float]:
    """Holm's correction, over the tests of all classes together and over those of single classes."""
    corrected = p_values.copy()
    for chosen in (of_all, ~of_all):
        corrected[chosen] = multipletests(p_values[chosen], method="holm")[1]
    return corrected


def _checked_differences(codes: Codes, right: Codes, n_classes: int) -> pd.DataFrame:
    """Exact tests of McNemar, over the checked rows that both annotators have labelled."""
    rows = []
    for i, j in combinations(range(codes.shape[1]), 2):
        both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        for k in (None, *range(n_classes)):
            is_used = both & ((right >= 0) if k is None else (right == k))
            wrong = (codes[is_used] != right[is_used, np.newaxis])[:, [i, j]]
            first, second = (int((wrong[:, a] & ~wrong[:, 1 - a]).sum()) for a in (0, 1))
            p_value = binomtest(first, first + second).pvalue if first + second else 1.0
            rows.append((first, second, p_value))
    return pd.DataFrame(
        rows, columns=["checked_only_first_wrong", "checked_only_second_wrong", "checked_p_value"]
    )
