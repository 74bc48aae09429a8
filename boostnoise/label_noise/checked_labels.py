"""Correct estimates of label errors by checked labels."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from robust_splits.label_noise.label_errors import LabelErrors, clean_shares, scale_other_classes

from ..losses.softmax import Floats

# The prior of the correction: a Gaussian process over log2(1 + rank), plus an offset of each label.  The kernel
# is the sum of a constant, which shifts all rows alike, and of a squared exponential, which varies along the
# ranking.
CONSTANT_STD, LOCAL_STD, LABEL_STD = 1.0, 2.0, 0.5
LENGTH_SCALE = 2.0  # doublings of the rank
GRID_STEP = 0.25  # of log2(1 + rank)
SMALLEST = 1e-3  # of the probabilities that are corrected
DRAWS = 1000
TAILS = (0.05, 0.95)
OTHER_CLASSES = 5.0  # weight of the estimated shares of the true classes of wrong labels


def use_checked_labels(
    errors: LabelErrors, labels: ArrayLike, rows: ArrayLike, right: ArrayLike
) -> LabelErrors:
    """Correct estimates of label errors by checked labels.

    A correction is added to the log odds of `p_wrong`.  It is a Gaussian process over the logarithm of the
    rank, plus an offset of each label, fitted to the checked rows by Laplace's approximation.  It is well
    determined for rows with ranks similar to those of checked rows, and less for others.  So if only the first
    suspects have been checked, the interval of the noise rate stays wide.  Rows may be checked because they are
    the first suspects, because they were drawn at random, or both, but not for another reason that is related
    to wrong labels.

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
        Checked rows have `p_wrong` and `clean_probabilities` 0 or 1, and if their label is wrong, the right one
        is suggested.  They come last in the ranking, in which the others are sorted by `p_wrong`.  The noise
        rate is the share of wrong labels, known or expected; its interval covers 90 % of the posterior, as do
        the intervals of labels.

    Raises
    ------
    ValueError
        If no row is checked, a row does not exist or occurs twice, or a label is not one of the classes.
    """
    y, rows, right = np.asarray(labels), np.asarray(rows), np.asarray(right)
    check_labels(errors.classes, y.size, rows, right)
    wrong = right != y[rows]
    log_odds = logit(np.clip(errors.p_wrong, SMALLEST, 1 - SMALLEST))
    codes = np.searchsorted(errors.classes, y)
    at, root = _grid(errors.ranking, codes, errors.classes.size)
    mode, covariance = _fit(log_odds[rows], root[at[rows]], wrong)
    unchecked = np.ones(y.size, dtype=np.bool_)
    unchecked[rows] = False
    p_wrong = np.empty(y.size)
    remaining = errors.ranking[unchecked[errors.ranking]]
    p_wrong[remaining] = expit(log_odds[remaining] + root[at[remaining]] @ mode)
    p_wrong[rows] = wrong
    p = scale_other_classes(errors.clean_probabilities, codes, p_wrong)
    p[rows] = right[:, np.newaxis] == errors.classes
    remaining = remaining[np.argsort(-p_wrong[remaining], kind="stable")]
    suggested = errors.suggested.copy()
    suggested[rows[wrong]] = right[wrong]
    draws = np.random.default_rng(0).multivariate_normal(mode, covariance, size=DRAWS) @ root.T

    def interval(counted: NDArray[np.bool_]) -> tuple[float, float]:
        """Interval of the share of wrong labels among some rows."""
        rest = remaining[counted[remaining]]
        return _interval(log_odds[rest], at[rest], draws, int(wrong[counted[rows]].sum()), int(counted.sum()))

    return dataclasses.replace(
        errors,
        p_wrong=p_wrong,
        clean_probabilities=p,
        ranking=np.concatenate([remaining, errors.ranking[~unchecked[errors.ranking]]]),
        suggested=suggested,
        noise_rate=float(p_wrong.mean()),
        noise_rate_interval=interval(np.ones(y.size, dtype=np.bool_)),
        intervals_of_labels=np.array([interval(codes == label) for label in range(errors.classes.size)]),
        transition_matrix=_transition_matrix(errors, y, p_wrong, rows[wrong], right[wrong]),
    )


def check_labels(classes: NDArray[np.generic], n_rows: int, rows: ArrayLike, right: ArrayLike) -> None:
    """Raise a ValueError unless rows and labels can be used as checked ones; see `use_checked_labels`."""
    rows, right = np.asarray(rows), np.asarray(right)
    if rows.size == 0:
        raise ValueError("no row is checked")
    if rows.shape != right.shape or rows.ndim != 1:
        raise ValueError(
            f"checked rows and labels must be vectors of one length, got {rows.shape}, {right.shape}"
        )
    if rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n_rows:
        raise ValueError(
            f"checked rows must be whole numbers from 0 to {n_rows - 1}, got {_first_odd(rows, n_rows)}"
        )
    numbers, counts = np.unique(rows, return_counts=True)
    if counts.max() > 1:
        raise ValueError(f"row {numbers[counts.argmax()]} is checked more than once")
    known = set(classes.tolist())
    for row, label in zip(rows.tolist(), right.tolist(), strict=True):
        if label not in known:
            names = ", ".join(map(repr, classes.tolist()[:20]))
            raise ValueError(
                f"checked labels must be labels of the data ({names}), got {label!r} for row {row}"
            )


def _first_odd(rows: NDArray[np.generic], n_rows: int) -> str:
    return next(repr(row) for row in rows.tolist() if not (isinstance(row, int) and 0 <= row < n_rows))


def _grid(
    ranking: NDArray[np.int64], codes: NDArray[np.int64], n_classes: int
) -> tuple[NDArray[np.int64], Floats]:
    """Place of each row, which is a rank and a label, and a root of the prior covariance of the places."""
    log_rank = np.empty(ranking.size)
    log_rank[ranking] = np.log2(1 + np.arange(ranking.size))
    points, at = np.unique((log_rank / GRID_STEP).round() * GRID_STEP, return_inverse=True)
    distance = (points[:, np.newaxis] - points) / LENGTH_SCALE
    covariance = CONSTANT_STD**2 + LOCAL_STD**2 * np.exp(-(distance**2) / 2)
    root = np.linalg.cholesky(covariance + 1e-6 * np.eye(points.size))
    ranks, labels = np.repeat(root, n_classes, axis=0), np.tile(np.eye(n_classes), (points.size, 1))
    return at * n_classes + codes, np.column_stack([ranks, LABEL_STD * labels]).astype(np.float64)


def _fit(log_odds: Floats, factors: Floats, wrong: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Laplace approximation of the posterior of z, where ``factors @ z`` is the correction of the checked rows.

    The prior of z is standard normal.  Returns the mode and the covariance.
    """
    sign = np.where(wrong, 1.0, -1.0)

    def loss(z: Floats) -> tuple[float, Floats]:
        corrected = log_odds + factors @ z
        gradient = z + factors.T @ (expit(corrected) - wrong)
        return float(z @ z / 2 - log_expit(sign * corrected).sum()), gradient

    mode: Floats = minimize(loss, np.zeros(factors.shape[1]), jac=True, method="BFGS").x
    p = expit(log_odds + factors @ mode)
    precision = np.eye(mode.size) + factors.T @ (factors * (p * (1 - p))[:, np.newaxis])
    return mode, np.linalg.inv(precision).astype(np.float64)


def _interval(
    log_odds: Floats, at: NDArray[np.int64], corrections: Floats, n_wrong: int, n_rows: int
) -> tuple[float, float]:
    """Interval of a noise rate: quantiles over draws of the corrections of places and of unchecked labels."""
    alike, counts = np.unique(np.column_stack([log_odds.round(2), at]), axis=0, return_counts=True)
    expected, variance = np.zeros(len(corrections)), np.zeros(len(corrections))
    for (value, place), count in zip(alike, counts, strict=True):
        p = expit(value + corrections[:, int(place)])
        expected += count * p
        variance += count * p * (1 - p)
    noise = np.random.default_rng(1).normal(size=len(corrections))
    low, high = np.quantile((n_wrong + expected + np.sqrt(variance) * noise) / n_rows, TAILS)
    return max(n_wrong / n_rows, float(low)), min((n_wrong + log_odds.size) / n_rows, float(high))


def _transition_matrix(
    errors: LabelErrors,
    y: NDArray[np.generic],
    p_wrong: Floats,
    rows: NDArray[np.int64],
    right: NDArray[np.generic],
) -> Floats:
    """Transition matrix of the expected numbers of rows by class and label."""
    n_classes = errors.classes.size
    codes = np.searchsorted(errors.classes, y)
    of_label = np.bincount(codes, minlength=n_classes)
    wrong_of_label = np.bincount(codes, weights=p_wrong, minlength=n_classes)
    T = errors.transition_matrix
    clean = np.maximum(clean_shares(T, of_label / y.size), 1e-9)
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
