"""Choose the threshold of a classifier of two classes by expected costs on clean labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_expit, logit
from scipy.stats import norm

from ..losses.softmax import Floats
from .checked_labels import check_labels

CONFIDENCE = 0.95
RIDGE = 0.05  # keeps coefficients finite
SHIFT_RIDGE = np.array([2.0, 0.5])  # as standard deviations 1/2 and 1 of slope and level
MIN_CHECKED = 10


@dataclass(frozen=True)
class ThresholdChoice:
    """A threshold and its expected cost, as `choose_threshold` finds them.

    Costs are means over rows, on clean labels.

    Attributes
    ----------
    threshold : float
        Rows whose probability of the second class is this or more are predicted to be of it.  The next number
        above 1 if none are.
    cost : float
        Expected cost at `threshold`.
    interval : tuple of float
        95 % interval of this cost, if `clean` is right; with `checked`, whether it is or not.
    formula : float
        The threshold for exact probabilities of the clean classes, ``false_positive / (false_positive +
        false_negative)``.
    cost_of_formula : float
        Expected cost at `formula`.
    cost_of_half : float
        Expected cost at 1/2, that is, of the most probable class.
    """

    threshold: float
    cost: float
    interval: tuple[float, float]
    formula: float
    cost_of_formula: float
    cost_of_half: float


def choose_threshold(
    probabilities: ArrayLike,
    clean: Any,
    *,
    false_positive: float,
    false_negative: float,
    checked: Mapping[int, Any] | None = None,
) -> ThresholdChoice:
    """Choose the threshold of a classifier of two classes by expected costs on clean labels.

    The threshold is that of a calibrated fit, which varies less than the cheapest one of these rows.

    If q is the probability of the second class, predicting it costs (1 - q) `false_positive`, and predicting
    the first one costs q `false_negative`.  So the second class is predicted where q is at least
    ``false_positive / (false_positive + false_negative)``.  Predicted probabilities are often wrong, above all
    those of models that were fitted to noisy labels.  They are calibrated on the probabilities of the clean
    classes, given features and label: ``logit(q) = a log(r) - b log(1 - r) + c`` with a, b >= 0, where r is the
    predicted probability scaled to (0, 1), as noise makes its range narrower.  The threshold is the
    probability that becomes this share.  Expected costs are means over the rows.

    Without `checked`, all this takes `clean` as right, and the interval only allows for the choice of the rows.
    Where wrong labels depend on the features, costs and threshold may then be far from the right ones.  Labels
    checked at random change level and slope of the calibration, and correct the mean costs: with weight w, the
    mean over the checked rows, plus w times the difference of the expected means of all rows and of the checked
    ones (prediction-powered inference).  Then the interval allows for errors of `clean`.

    A `RobustClassifier` whose `decision` is a matrix of costs needs no threshold.

    Parameters
    ----------
    probabilities : array-like of shape (n,) or (n, 2)
        Probability of the second class, or of both, that the classifier predicts for rows that it was not
        fitted to, such as those of `sklearn.model_selection.cross_val_predict`.
    clean : LabelAudit, LabelErrors or array-like of shape (n, 2)
        Probabilities of the clean classes of these rows: the result of `audit`, of `find_label_errors`, or its
        `clean_probabilities`.  Rows that were checked for another reason than chance have 0 and 1.
    false_positive, false_negative : float
        Cost of predicting the second class for a row of the first one, and the other way round; positive.
        Classes are sorted.
    checked : dict or None, default=None
        Right labels of rows that were drawn at random, each with the same probability, which those of
        `LabelAudit.rows_to_check` are not, by their numbers from 0; at least ten.  `clean` must not have used
        them.  Labels are those of the audit, or 0 and 1 if `clean` is an array.

    Returns
    -------
    ThresholdChoice

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, there are more than two classes, or numbers of rows do not match.

    References
    ----------
    Elkan, "The Foundations of Cost-Sensitive Learning", IJCAI 2001 (the formula); Kull, Silva Filho & Flach,
    "Beta calibration", AISTATS 2017 (the calibration); Angelopoulos, Duchi & Zrnic, "PPI++: Efficient
    Prediction-Powered Inference", 2023 (the costs with checked labels).

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise import choose_threshold
    >>> rng = np.random.default_rng(0)
    >>> q = rng.random(2_000)  # the second class has these probabilities
    >>> predicted = q**2  # too low
    >>> chosen = choose_threshold(predicted, np.column_stack([1 - q, q]), false_positive=1, false_negative=4)
    >>> round(chosen.formula, 2), round(chosen.threshold, 2)
    (0.2, 0.04)
    >>> chosen.cost < chosen.cost_of_formula < chosen.cost_of_half
    True
    """
    p, q = _read_rows(probabilities, getattr(clean, "clean_probabilities", clean))
    for name, value in (("false_positive", false_positive), ("false_negative", false_negative)):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise TypeError(f"{name} must be a number, got {value!r}")
        if not 0 < value < np.inf:
            raise ValueError(f"{name} must be positive and finite, got {value!r}")
    rows, right = _read_checked(checked, q, getattr(clean, "classes", np.array([0, 1])))
    formula = false_positive / (false_positive + false_negative)
    threshold = _cheapest_threshold(p, q, formula, rows, right)

    def cost_at(threshold: float) -> tuple[float, float]:
        """Expected cost, and its standard error."""
        predicted = p >= threshold
        expected = np.where(predicted, (1 - q) * false_positive, q * false_negative)
        true = np.where(predicted[rows], (1 - right) * false_positive, right * false_negative)
        return _mean(expected, expected[rows], true)

    cost, error = cost_at(threshold)
    margin = float(norm.ppf((1 + CONFIDENCE) / 2)) * error
    return ThresholdChoice(
        threshold=threshold,
        cost=cost,
        interval=(max(0.0, cost - margin), cost + margin),
        formula=formula,
        cost_of_formula=cost_at(formula)[0],
        cost_of_half=cost_at(0.5)[0],
    )


def _mean(expected: Floats, expected_of_checked: Floats, true: Floats) -> tuple[float, float]:
    """Mean and standard error, from expected values of all rows and true values of checked rows."""
    n, n_checked = expected.size, true.size
    if n_checked == 0:
        return float(expected.mean()), float(expected.std() / np.sqrt(n))
    variance = float(expected.var())
    covariance = float(np.mean((expected_of_checked - expected_of_checked.mean()) * (true - true.mean())))
    weight = np.clip(covariance / (variance * (1 + n_checked / n)), 0, 1) if variance > 0 else 0.0
    mean = true.mean() + weight * (expected.mean() - expected_of_checked.mean())
    error = np.sqrt((true - weight * expected_of_checked).var(ddof=1) / n_checked + weight**2 * variance / n)
    return float(mean), float(error)


def _cheapest_threshold(p: Floats, q: Floats, formula: float, rows: NDArray[np.intp], right: Floats) -> float:
    """Value of p that calibration maps to `formula`: 0 or the next number above 1 if there is none."""
    low, width, n = p.min(), np.ptp(p), p.size
    r = ((p - low) / width * (n - 1) + 0.5) / n if width > 0 else np.full(n, 0.5)
    features = np.column_stack([np.log(r), -np.log1p(-r), np.ones(n)])
    a, b, c = _fit_logistic(features, q, np.array([1.0, 1.0, 0.0]), np.array([RIDGE, RIDGE, 0.0]))
    if rows.size:
        margins = np.column_stack([features[rows] @ [a, b, c], np.ones(rows.size)])
        slope, level = _fit_logistic(margins, right, np.array([1.0, 0.0]), SHIFT_RIDGE)
        a, b, c = slope * a, slope * b, slope * c + level

    def excess(z: float) -> float:
        """Log odds of the clean class at log odds z of r, minus those of the formula."""
        return float(a * log_expit(z) - b * log_expit(-z) + c - logit(formula))

    lowest, highest = logit(r.min()), logit(r.max())
    if excess(lowest) >= 0:
        return 0.0
    if excess(highest) < 0:
        return float(np.nextafter(1, 2))
    return float(low + (expit(brentq(excess, lowest, highest)) * n - 0.5) / (n - 1) * width)


def _fit_logistic(features: Floats, q: Floats, start: Floats, ridge: Floats) -> Floats:
    """Coefficients of log odds of q, by cross entropy; those of all features but the last are not negative.

    The ridge is towards `start`, coefficients that make no change.
    """

    def loss(coefficients: Floats) -> tuple[float, Floats]:
        margins, excess = features @ coefficients, coefficients - start
        value = ridge @ excess**2 - (q * log_expit(margins) + (1 - q) * log_expit(-margins)).sum()
        return float(value), features.T @ (expit(margins) - q) + 2 * ridge * excess

    bounds = [(0, None)] * (start.size - 1) + [(None, None)]
    found: Floats = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found


def _read_checked(
    checked: Mapping[int, Any] | None, q: Floats, classes: NDArray[Any]
) -> tuple[NDArray[np.intp], Floats]:
    """Rows with checked labels, and whether these are the second class."""
    if checked is None:
        return np.empty(0, dtype=np.intp), np.empty(0)
    check_labels(classes, q.size, [*checked], [*checked.values()])
    rows = np.array([*checked], dtype=np.intp)
    right = (np.array([*checked.values()]) == classes[1]).astype(np.float64)
    if rows.size < MIN_CHECKED:
        raise ValueError(f"checked must have at least {MIN_CHECKED} rows, got {rows.size}")
    is_certain = (q == 0) | (q == 1)  # all are where an audit finds no wrong label
    if is_certain[rows].all() and not is_certain.all() and (q[rows] == right).all():
        raise ValueError("clean must be of an audit that has not used the labels in checked")
    return rows, right


def _read_rows(probabilities: ArrayLike, clean: Any) -> tuple[Floats, Floats]:
    """Predicted and clean probabilities of the second class."""
    p, q = np.asarray(probabilities, dtype=np.float64), np.asarray(clean, dtype=np.float64)
    if p.ndim == 2 and p.shape[1] == 2:
        p = p[:, 1]
    if p.ndim != 1 or p.size == 0:
        raise ValueError(f"probabilities must have the shape (n,) or (n, 2), got {np.shape(probabilities)}")
    if q.shape != (p.size, 2):
        raise ValueError(f"clean must have the shape ({p.size}, 2), as probabilities has, got {q.shape}")
    for name, values in (("probabilities", p), ("clean", q)):
        if not ((values >= 0) & (values <= 1)).all():  # NaN too
            raise ValueError(f"{name} must be probabilities in [0, 1], without missing values")
    if not np.allclose(q.sum(axis=1), 1, atol=1e-3):
        raise ValueError("clean must have rows that sum to 1")
    return p, q[:, 1]
