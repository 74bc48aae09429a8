"""Correct the estimates of wrong labels by labels that somebody has checked."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from .label_errors import LabelErrors, clean_shares
from .losses.softmax import Floats

# Standard deviations of the shift and the slope of the log odds, before any label is checked: on data sets with
# wrong labels from people and heuristics, the log odds of the estimated noise rate are off by about 1.
PRIOR = np.array([1.0, 0.3])
SMALLEST = 1e-3  # of the probabilities that are corrected
DRAWS = 2000
TAILS = (0.05, 0.95)
OTHER_CLASSES = 5.0  # weight of the estimated shares of the true classes of wrong labels


def use_checked_labels(
    errors: LabelErrors, labels: ArrayLike, rows: ArrayLike, right: ArrayLike
) -> LabelErrors:
    """Correct estimates by checked labels.

    The log odds of `p_wrong` become a + b log odds.  The posterior of a and b is that of a logistic regression
    of the checked rows, with normal priors around 0 and 1, in Laplace's approximation.  Any rows may be
    checked: the first suspects, rows drawn at random, or both, but not because of something else that tells
    wrong labels.  The first suspects alone say little about the others, which the interval shows.

    Parameters
    ----------
    errors : LabelErrors
        Estimates from `find_label_errors`.
    labels : array-like of shape (n,)
        Given labels.
    rows : array-like of int
        Numbers of the checked rows, each once.
    right : array-like
        Right labels of these rows, each one of the classes.

    Returns
    -------
    LabelErrors
        Checked rows have `p_wrong` 0 or 1, and if their label is wrong, the right one is suggested.  They come
        last in the ranking.  The noise rate is the share of wrong labels, known or expected; its interval
        covers 90 % of the posterior.

    Raises
    ------
    ValueError
        If no row is checked, a row does not exist or occurs twice, or a label is not one of the classes.
    """
    given, rows, right = np.asarray(labels), np.asarray(rows), np.asarray(right)
    _check(errors, given, rows, right)
    wrong = right != given[rows]
    log_odds = logit(np.clip(errors.p_wrong, SMALLEST, 1 - SMALLEST))
    mode, covariance = _fit(log_odds[rows], wrong)
    unchecked = np.ones(given.size, dtype=np.bool_)
    unchecked[rows] = False
    p_wrong = expit(mode[0] + mode[1] * log_odds)
    p_wrong[rows] = wrong
    suggested = errors.suggested.copy()
    suggested[rows[wrong]] = right[wrong]
    order = errors.ranking
    return dataclasses.replace(
        errors,
        p_wrong=p_wrong,
        ranking=np.concatenate([order[unchecked[order]], order[~unchecked[order]]]),
        suggested=suggested,
        noise_rate=float(p_wrong.mean()),
        noise_rate_interval=_interval(mode, covariance, log_odds[unchecked], int(wrong.sum()), given.size),
        transition_matrix=_transition_matrix(errors, given, p_wrong, rows[wrong], right[wrong]),
    )


def _check(errors: LabelErrors, given: NDArray[np.generic], rows: NDArray[np.generic], right: Any) -> None:
    if rows.size == 0:
        raise ValueError("no row is checked")
    if rows.shape != right.shape or rows.ndim != 1:
        raise ValueError(
            f"checked rows and labels must be vectors of one length, got {rows.shape}, {right.shape}"
        )
    if rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= given.size:
        raise ValueError(f"checked rows must be whole numbers from 0 to {given.size - 1}")
    numbers, counts = np.unique(rows, return_counts=True)
    if counts.max() > 1:
        raise ValueError(f"row {numbers[counts.argmax()]} is checked more than once")
    unknown = [label for label in right.tolist() if label not in set(errors.classes.tolist())]
    if unknown:
        known = ", ".join(map(repr, errors.classes.tolist()[:20]))
        raise ValueError(f"checked labels must be labels of the data ({known}), got {unknown[0]!r}")


def _fit(log_odds: Floats, wrong: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Mode and covariance of the shift and the slope."""
    sign = np.where(wrong, 1.0, -1.0)
    centre = np.array([0.0, 1.0])

    def loss(parameters: Floats) -> float:
        shift, slope = parameters
        prior = ((parameters - centre) / PRIOR) @ ((parameters - centre) / PRIOR) / 2
        return float(prior - log_expit(sign * (shift + slope * log_odds)).sum())

    mode: Floats = minimize(loss, centre, method="BFGS").x
    p = expit(mode[0] + mode[1] * log_odds)
    design = np.column_stack([np.ones_like(log_odds), log_odds])
    precision = np.diag(1 / PRIOR**2) + design.T @ (design * (p * (1 - p))[:, np.newaxis])
    return mode, np.linalg.inv(precision)


def _interval(
    mode: Floats, covariance: Floats, log_odds: Floats, n_wrong: int, n_rows: int
) -> tuple[float, float]:
    """Interval of the noise rate, by draws from the posterior and of the unchecked labels."""
    rng = np.random.default_rng(0)
    shift, slope = rng.multivariate_normal(mode, covariance, size=DRAWS).T
    values, counts = np.unique(log_odds.round(3), return_counts=True)
    expected, variance = np.zeros(DRAWS), np.zeros(DRAWS)
    for value, count in zip(values, counts, strict=True):
        p = expit(shift + slope * value)
        expected += count * p
        variance += count * p * (1 - p)
    rates = (n_wrong + expected + np.sqrt(variance) * rng.normal(size=DRAWS)) / n_rows
    low, high = np.quantile(rates, TAILS)
    return max(n_wrong / n_rows, float(low)), min(1.0, float(high))


def _transition_matrix(
    errors: LabelErrors,
    given: NDArray[np.generic],
    p_wrong: Floats,
    rows: NDArray[np.int64],
    right: NDArray[np.generic],
) -> Floats:
    """Transition matrix of the expected numbers of rows by class and label."""
    n_classes = errors.classes.size
    codes = np.searchsorted(errors.classes, given)
    of_label = np.bincount(codes, minlength=n_classes)
    wrong_of_label = np.bincount(codes, weights=p_wrong, minlength=n_classes)
    T = errors.transition_matrix
    clean = np.maximum(clean_shares(T, of_label / given.size), 1e-9)
    joint = clean[:, np.newaxis] * T
    np.fill_diagonal(joint, 0.0)
    joint += 1e-9 * (1 - np.eye(n_classes))
    shares = OTHER_CLASSES * joint / joint.sum(axis=0)  # of the classes of wrong labels, by label
    np.add.at(shares, (np.searchsorted(errors.classes, right), codes[rows]), 1.0)
    counts = wrong_of_label * shares / shares.sum(axis=0)
    counts += np.diag(of_label - wrong_of_label)
    counts += 1e-9 * np.eye(n_classes)
    matrix: Floats = counts / counts.sum(axis=1, keepdims=True)
    return matrix
