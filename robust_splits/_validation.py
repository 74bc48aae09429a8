"""The one gate through which data and parameters reach the learner."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

SMALLEST_TOTAL = 1e-100
NO_LIMIT = int(np.iinfo(np.int64).max)
MAX_ROWS = 1 << 30  # twice as many nodes have numbers of 31 bits


def check_training_data(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[NDArray[np.floating], NDArray[np.int32], NDArray[Any], NDArray[np.float64]]:
    """Validate what `fit` was given.

    Sets ``n_features_in_`` and, for data frames, ``feature_names_in_`` on `estimator`.

    Returns
    -------
    X : float32 or float64 array of shape (n_samples, n_features)
        With NaN where a value is missing.
    labels : int32 array of shape (n_samples,)
        Class numbers.
    classes : ndarray of shape (n_classes,)
        The sorted labels.
    weights : float64 array of shape (n_samples,)

    Raises
    ------
    ValueError
        If `X` or `y` is empty, infinite, of wrong shape or of more than 2^30 rows, a label is missing, a weight
        is negative, or their sum is 0 or out of range.
    """
    shape = getattr(X, "shape", ())  # before anything of this size is copied
    if shape and shape[0] > MAX_ROWS:
        raise ValueError(f"X must have at most {MAX_ROWS} rows, got {shape[0]}")
    X, y = validate_data(estimator, X, y, dtype=(np.float64, np.float32), ensure_all_finite="allow-nan")
    check_classification_targets(y)
    classes, labels = np.unique(y, return_inverse=True)
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    total = weights.sum()
    # Squares of the sums are to be numbers; and their sum is to be positive.
    if not SMALLEST_TOTAL < total < 1 / SMALLEST_TOTAL:
        raise ValueError(
            f"sample_weight must sum to more than {SMALLEST_TOTAL:g} and less than {1 / SMALLEST_TOTAL:g}, "
            f"got {total:g}"
        )
    return X, labels.astype(np.int32), classes, weights


def check_features(estimator: Any, X: Any) -> NDArray[np.floating]:
    """Validate what a fitted `estimator` is to predict on; the walks see read-only rows in C order."""
    X = validate_data(
        estimator, X, reset=False, dtype=(np.float64, np.float32), order="C", ensure_all_finite="allow-nan"
    )
    return read_only(X)


def read_only(X: NDArray[np.floating]) -> NDArray[np.floating]:
    """A read-only view of `X` in C order."""
    X = np.ascontiguousarray(X)
    # One memory layout and one writability, so that each walk is compiled once per dtype.
    view: NDArray[np.floating] = X.view()
    view.flags.writeable = False
    return view


def check_count(name: str, value: Any, *, low: int) -> int:
    """Integer parameter of at least `low`; what 64 bits do not hold is no limit.

    Raises
    ------
    TypeError, ValueError
        Naming the parameter, what was found and what is allowed.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer of at least {low}, got {value!r}")
    if value < low:
        raise ValueError(f"{name} must be an integer of at least {low}, got {value!r}")
    return min(int(value), NO_LIMIT)


def check_max_features(max_features: Any, n_features: int) -> int:
    """Number of features to try at a node, from an int, a fraction, "sqrt", "log2" or None (all)."""
    allowed = "an integer in [1, n_features], a fraction in (0, 1], 'sqrt', 'log2' or None"
    if max_features is None:
        return n_features
    if isinstance(max_features, str) and max_features in ("sqrt", "log2"):
        return max(1, int(math.sqrt(n_features) if max_features == "sqrt" else math.log2(n_features)))
    if isinstance(max_features, Integral) and not isinstance(max_features, bool):
        if 1 <= int(max_features) <= n_features:
            return int(max_features)
    elif isinstance(max_features, Real) and not isinstance(max_features, bool) and 0 < float(max_features) <= 1:
        return max(1, int(float(max_features) * n_features))
    raise ValueError(f"max_features must be {allowed}, got {max_features!r}")


def check_share(name: str, value: Any, *, low: float, high: float, open_low: bool = False) -> float:
    """Number between two bounds.

    Raises
    ------
    TypeError, ValueError
        Naming the parameter, what was found and what is allowed.
    """
    allowed = f"a number {'above' if open_low else 'of at least'} {low:g}"
    if np.isfinite(high):
        allowed += f" and at most {high:g}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {allowed}, got {value!r}")
    number = float(value)
    if not low <= number <= high or not math.isfinite(number) or (open_low and number == low):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return number


def check_rows(name: str, value: Any, n_samples: int, *, low: int) -> int:
    """Number of rows, from an integer of at least `low` or a fraction in (0, 1] of all, rounded up."""
    if isinstance(value, Real) and not isinstance(value, bool | Integral):
        return max(low, math.ceil(check_share(name, value, low=0.0, high=1.0, open_low=True) * n_samples))
    return check_count(name, value, low=low)


def check_flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be {' or '.join(map(repr, choices))}, got {value!r}")
    return value
