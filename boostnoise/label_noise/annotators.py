"""Errors of several annotators, estimated from their labels and the features.

Each annotator a has a transition matrix: in class k, the label l has the probability ``T_a[k, l]``.  If the
features give class k the probability p_k(x), and annotators err independently of one another and of the
features within a class, the labels of a row have the likelihood ``sum_k p_k(x) prod_a T_a[k, label_a]``.

Without features this is the model of Dawid and Skene [1]_, which two annotators do not identify: their labels
have fewer frequencies than the model has parameters.  The features are a third, independent view of the class.
Learning them and the annotators together is due to Raykar et al. [2]_.  Here the features enter by predictions
of forests, and only their calibration is learned together with the matrices.

References
----------
.. [1] Dawid & Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
       Journal of the Royal Statistical Society C 28(1), 1979.
.. [2] Raykar, Yu, Zhao, Valadez, Florin, Bogoni & Moy, "Learning from crowds", JMLR 11, 2010.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import log_softmax, logsumexp

from robust_splits.label_noise.clean_posterior import SMALLEST
from robust_splits.label_noise.weights import spaced_rows

from ..losses.softmax import Floats

Codes = NDArray[np.integer]

TINY = 1e-12  # of the entries of a matrix
START = 0.8  # probability of the right label, before anything is estimated
SHARED_LABELS = 1.0  # labels of each class that every annotator has in addition, spread like those of all
POWER_STD, OFFSET_STD = 1.0, 2.0  # of the prior of the calibration
MAX_ITERATIONS, TOLERANCE = 200, 1e-6
MAX_FITTED_ROWS = 1 << 15  # more rows hardly change the estimates
RESAMPLES, RESAMPLED_ITERATIONS = 100, 40
MAX_RESAMPLED = 5000  # rows or groups of a resample; the variance is scaled


@dataclass(frozen=True, eq=False)
class AnnotatorErrors:
    """Transition matrices of several annotators, and the true classes of the rows.

    Attributes
    ----------
    matrices : float array of shape (A, K, K)
        ``matrices[a, k, l]`` is the probability that annotator a gives the label l in class k.
    calibration : float array of shape (1 + K,)
        Power of the predicted probabilities and offset of the log probability of each class.
    posterior : float array of shape (n, K)
        Probability of each class, given the features, the labels and the checked rows.
    n_labels : float array of shape (A, K)
        Expected number of labels that each annotator gave in each class.
    """

    matrices: Floats
    calibration: Floats
    posterior: Floats
    n_labels: Floats

    @property
    def rates(self) -> Floats:
        """Shares of wrong labels, shape (A, 1 + K): of all labels of an annotator, and in each class."""
        of_class = 1.0 - np.diagonal(self.matrices, axis1=1, axis2=2)
        overall = (of_class * self.n_labels).sum(axis=1) / np.maximum(self.n_labels.sum(axis=1), TINY)
        rates: Floats = np.column_stack([overall, of_class])
        return rates


@dataclass(frozen=True, eq=False)
class RateSample:
    """Rates of wrong labels in bootstrap samples.

    Attributes
    ----------
    rates : float array of shape (RESAMPLES, A, 1 + K)
        `AnnotatorErrors.rates` of each sample.
    share : float
        Size of a sample as a share of the data, which is below 1 if they are large.
    """

    rates: Floats
    share: float

    def variance(self, statistic: Floats) -> Floats:
        """Variance of a statistic of all data, from its values in the samples."""
        variance: Floats = statistic.var(axis=0, ddof=1) * self.share
        return variance


def estimate_annotator_errors(labels: Codes, q: Floats, right: Codes) -> AnnotatorErrors:
    """Estimate the errors of annotators by the EM algorithm.

    The M-step fits the matrices and the calibration of the predicted probabilities: ``p_k`` is in proportion to
    ``q_k ** power * exp(offset_k)``.

    Parameters
    ----------
    labels : int array of shape (n, A)
        Class numbers; -1 where an annotator gave no label.
    q : array of shape (n, K)
        Probabilities of the labels, whoever gave them, from models that were fitted to other rows.
    right : int array of shape (n,)
        Class numbers of checked rows; -1 for the others.
    """
    rows = spaced_rows(len(q), MAX_FITTED_ROWS)
    views = _Views.of(labels, q, right)
    fitted = _fit(views.take(rows), _start(labels.shape[1], q.shape[1]), MAX_ITERATIONS)
    posterior, _ = _expect(views, fitted.matrices, fitted.calibration)
    return _as_errors(views, fitted.matrices, fitted.calibration, posterior)


def apply_errors(errors: AnnotatorErrors, labels: Codes, q: Floats, right: Codes) -> Floats:
    """Posterior of other rows, shape (n, K); arguments as of `estimate_annotator_errors`."""
    return _expect(_Views.of(labels, q, right), errors.matrices, errors.calibration)[0]


def resample_rates(
    errors: AnnotatorErrors, labels: Codes, q: Floats, right: Codes, groups: Codes | None, seed: int
) -> RateSample:
    """Rates of bootstrap samples of the rows, or of groups of them.

    Parameters
    ----------
    errors : AnnotatorErrors
        Estimates from all rows, from which each fit starts.
    labels, q, right
        As in `estimate_annotator_errors`.
    groups : int array of shape (n,) or None
        Number of the group of each row.
    seed : int
    """
    views = _Views.of(labels, q, right)
    units = np.arange(len(q)) if groups is None else groups
    order = np.argsort(units, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(units[order])) + 1)
    n_drawn = min(len(members), MAX_RESAMPLED)
    rng = np.random.default_rng(seed)
    rates = []
    for _ in range(RESAMPLES):
        drawn = rng.integers(len(members), size=n_drawn)
        rows = drawn if groups is None else np.concatenate([members[unit] for unit in drawn])
        fitted = _fit(views.take(rows), (errors.matrices, errors.calibration), RESAMPLED_ITERATIONS)
        rates.append(fitted.rates)
    return RateSample(np.array(rates), n_drawn / len(members))


@dataclass(frozen=True, eq=False)
class _Views:
    """Predictions as logarithms, labels of annotators as zeros and ones, and checked labels of some rows."""

    logs: Floats
    one_hot: csr_array
    right: Codes

    @classmethod
    def of(cls, labels: Codes, q: Floats, right: Codes) -> _Views:
        return cls(_logs(q), _one_hot(labels, q.shape[1]), right)

    def take(self, rows: NDArray[np.integer]) -> _Views:
        return _Views(self.logs[rows], self.one_hot[rows], self.right[rows])


def _logs(q: Floats) -> Floats:
    logs: Floats = np.log(np.maximum(q, SMALLEST / q.shape[1]))
    return logs


def _one_hot(labels: Codes, n_classes: int) -> csr_array:
    """Labels as a matrix of zeros and ones, with a column for each annotator and label."""
    rows, annotators = np.nonzero(labels >= 0)
    columns = annotators * n_classes + labels[rows, annotators]
    return csr_array((np.ones(rows.size), (rows, columns)), shape=(len(labels), labels.shape[1] * n_classes))


def _start(n_annotators: int, n_classes: int) -> tuple[Floats, Floats]:
    T = np.full((n_classes, n_classes), (1 - START) / max(n_classes - 1, 1))
    np.fill_diagonal(T, START)
    return np.repeat(T[np.newaxis], n_annotators, axis=0), np.concatenate([[1.0], np.zeros(n_classes)])


def _fit(views: _Views, start: tuple[Floats, Floats], n_iterations: int) -> AnnotatorErrors:
    matrices, calibration = start
    last = -np.inf
    for _ in range(n_iterations):
        posterior, likelihood = _expect(views, matrices, calibration)
        matrices = _maximise_matrices(views.one_hot, posterior)
        calibration = _maximise_calibration(views.logs, posterior, calibration)
        if abs(likelihood - last) < TOLERANCE * abs(likelihood):
            break
        last = likelihood
    return _as_errors(views, matrices, calibration, posterior)


def _as_errors(views: _Views, matrices: Floats, calibration: Floats, posterior: Floats) -> AnnotatorErrors:
    n_labels = _count_labels(views.one_hot, posterior).sum(axis=2)
    return AnnotatorErrors(matrices, calibration, posterior, n_labels)


def _expect(views: _Views, matrices: Floats, calibration: Floats) -> tuple[Floats, float]:
    """Posterior of the classes, and the log likelihood."""
    n_classes = views.logs.shape[1]
    of_label = np.log(np.maximum(matrices, TINY)).transpose(0, 2, 1).reshape(-1, n_classes)
    joint = log_softmax(calibration[0] * views.logs + calibration[1:], axis=1) + views.one_hot @ of_label
    known = np.flatnonzero(views.right >= 0)
    of_right = joint[known, views.right[known]]
    joint[known] = -np.inf
    joint[known, views.right[known]] = of_right
    total = logsumexp(joint, axis=1, keepdims=True)
    return np.exp(joint - total), float(total.sum())


def _count_labels(one_hot: csr_array, posterior: Floats) -> Floats:
    """Expected numbers of labels by annotator, class and label."""
    n_classes = posterior.shape[1]
    counts: Floats = (one_hot.T @ posterior).reshape(-1, n_classes, n_classes).transpose(0, 2, 1)
    return counts


def _maximise_matrices(one_hot: csr_array, posterior: Floats) -> Floats:
    counts = _count_labels(one_hot, posterior)
    of_all = counts.sum(axis=0) + TINY
    counts = counts + SHARED_LABELS * of_all / of_all.sum(axis=1, keepdims=True)
    matrices: Floats = counts / counts.sum(axis=2, keepdims=True)
    return matrices


def _maximise_calibration(logs: Floats, posterior: Floats, start: Floats) -> Floats:
    n_classes = logs.shape[1]
    prior_mean = np.concatenate([[1.0], np.zeros(n_classes)])
    precision = np.concatenate([[POWER_STD**-2], np.full(n_classes, OFFSET_STD**-2)])

    def loss(values: Floats) -> tuple[float, Floats]:
        log_p = log_softmax(values[0] * logs + values[1:], axis=1)
        excess = posterior - np.exp(log_p)
        change = values - prior_mean
        gradient = precision * change - np.concatenate([[(excess * logs).sum()], excess.sum(axis=0)])
        return float(precision @ change**2 / 2 - (posterior * log_p).sum()), gradient

    # A few steps are enough: the next iteration goes on.
    found: Floats = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 3}).x
    return found
