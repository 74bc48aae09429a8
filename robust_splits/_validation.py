"""Validation of data and parameters."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from ._frames import load_dask, rank_categories, to_numpy_columns
from ._kernels.binning import MAX_BINS

CONVERSION: dict[str, Any] = {
    "accept_sparse": ("csr", "csc"),
    "dtype": (np.float64, np.float32),
    "ensure_all_finite": "allow-nan",
}
OUT_OF_BAG = "oob"
MIN_WEIGHT_SUM = 1e-100
NO_LIMIT = int(np.iinfo(np.int64).max)
MAX_ROWS = 1 << 30  # a tree has fewer than twice as many nodes, so that int32 holds their indices


def check_training_data(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool = True
) -> tuple[NDArray[np.floating], NDArray[np.int32], NDArray[Any], NDArray[np.float64]]:
    """Validate the arguments of `fit`.

    Sets ``n_features_in_`` and, for data frames, ``feature_names_in_`` and ``_categories`` on `estimator`.
    Without `reset`, compares the columns with these attributes instead.

    Returns
    -------
    X : float32 or float64 array of shape (n_samples, n_features)
        NaN means a missing value.
    labels : int32 array of shape (n_samples,)
        Class numbers.
    classes : ndarray of shape (n_classes,)
        The sorted class labels.
    weights : float64 array of shape (n_samples,)

    Raises
    ------
    ValueError
        If `X` or `y` is empty, infinite, of the wrong shape or has more than 2^30 rows, a label is missing, a
        weight is negative, or the sum of the weights is 0 or out of range.
    """
    X = load_dask(X)
    shape = getattr(X, "shape", ())  # checked first, before arrays of this size are copied
    if shape and shape[0] > MAX_ROWS:
        raise ValueError(f"X must have at most {MAX_ROWS} rows, got {shape[0]}")
    X = to_numpy_columns(rank_categories(estimator, X, reset=reset))
    X, y = validate_data(estimator, X, y, reset=reset, **CONVERSION)
    X = _dense(X)
    check_classification_targets(y)
    classes, labels = np.unique(y, return_inverse=True)
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    check_weight_sum("sample_weight", weights)
    return X, labels.astype(np.int32), classes, weights


def check_weight_sum(name: str, weights: NDArray[np.float64]) -> None:
    """Raise a ValueError if the sum of sample weights is 0 or out of range."""
    total = weights.sum()
    # Squares of class counts must neither overflow nor all underflow to 0.
    if not MIN_WEIGHT_SUM < total < 1 / MIN_WEIGHT_SUM:
        raise ValueError(
            f"{name} must sum to more than {MIN_WEIGHT_SUM:g} and less than {1 / MIN_WEIGHT_SUM:g} over the "
            f"rows, got {total:g}"
        )


def check_class_weight(class_weight: Any, names: tuple[str, ...]) -> None:
    """Raise a ValueError or TypeError unless `class_weight` is None, one of `names`, or a dict of weights."""
    message = f"class_weight must be a dict, {' or '.join(map(repr, names))}, or None, got {class_weight!r}"
    if isinstance(class_weight, str):
        if class_weight not in names:
            raise ValueError(message)
    elif isinstance(class_weight, dict):
        for label, weight in class_weight.items():
            check_number(f"class_weight[{label!r}]", weight, low=0.0, high=np.inf)
    elif class_weight is not None:
        raise TypeError(message)


def apply_class_weight(
    class_weight: dict[Any, float] | str | None, y: NDArray[Any], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Multiply sample weights by class weights; "balanced_subsample" is applied later, to the drawn rows."""
    if class_weight is None or class_weight == "balanced_subsample":
        return weights
    weights = weights * compute_sample_weight(class_weight, y)
    check_weight_sum("class_weight times sample_weight", weights)
    return weights


def check_features(estimator: Any, X: Any) -> NDArray[np.floating]:
    """Validate the rows that a fitted `estimator` predicts on; returns an array in any memory order.

    Infinite values are found later, by `leaves_of`, which reads all values anyway.
    """
    X = to_numpy_columns(rank_categories(estimator, load_dask(X), reset=False))
    conversion = {**CONVERSION, "ensure_all_finite": False}
    rows: NDArray[np.floating] = _dense(validate_data(estimator, X, reset=False, **conversion))
    return rows


def _dense(X: Any) -> Any:
    is_sparse = issparse(X)
    return X.toarray() if is_sparse else X


def read_only(X: NDArray[np.floating]) -> NDArray[np.floating]:
    """Read-only view of `X` in C order."""
    X = np.ascontiguousarray(X)
    # With a single memory layout and writability, Numba compiles each walk once per dtype.
    view: NDArray[np.floating] = X.view()
    view.flags.writeable = False
    return view


def check_count(name: str, value: Any, *, low: int) -> int:
    """Integer parameter of at least `low`, clipped to 64 bits.

    Raises
    ------
    TypeError, ValueError
        If the parameter is not an integer, or is out of range.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer of at least {low}, got {value!r}")
    if value < low:
        raise ValueError(f"{name} must be an integer of at least {low}, got {value!r}")
    return min(int(value), NO_LIMIT)


def check_max_bins(max_bins: Any) -> int | None:
    """Number of bins of a column, or None for exact splits."""
    if max_bins is None:
        return None
    n_bins = check_count("max_bins", max_bins, low=2)
    if n_bins > MAX_BINS:
        raise ValueError(f"max_bins must be an integer from 2 to {MAX_BINS} or None, got {max_bins!r}")
    return n_bins


def check_max_features(max_features: Any, n_features: int, auto: float | str | None = None) -> int:
    """Number of features to try at a node, from an int, a fraction, "sqrt", "log2" or None (all).

    "auto" means the value of `auto`, and is allowed only if that is not None.
    """
    names = "'sqrt', 'log2'" if auto is None else "'auto', 'sqrt', 'log2'"
    allowed = f"an integer in [1, n_features], a fraction in (0, 1], {names} or None"
    if auto is not None and isinstance(max_features, str) and max_features == "auto":
        max_features = auto
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


def check_number(name: str, value: Any, *, low: float, high: float, open_low: bool = False) -> float:
    """Finite number in [low, high], or in (low, high] with `open_low`.

    Raises
    ------
    TypeError, ValueError
        If the parameter is not a number, or is out of range.
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


def check_row_count(name: str, value: Any, n_samples: int, *, low: int) -> int:
    """Number of rows, from an integer of at least `low` or a fraction in (0, 1] of all rows, rounded up."""
    allowed = f"an integer of at least {low} or a fraction in (0, 1]"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {allowed}, got {value!r}")
    if isinstance(value, Integral) and int(value) >= low:
        return check_count(name, value, low=low)
    if not isinstance(value, Integral) and 0 < float(value) <= 1:
        return max(low, math.ceil(float(value) * n_samples))
    raise ValueError(f"{name} must be {allowed}, got {value!r}")


def check_flag(name: str, value: Any) -> bool:
    """Boolean parameter."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...], *others: str) -> str:
    """String parameter with a fixed set of values; `others` describes allowed values of other types."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be {' or '.join([*map(repr, choices), *others])}, got {value!r}")
    return value


def check_out_of_bag(forest: Any) -> None:
    """Check the parameters of a forest that may need rows out of bag, and those that only forests have."""
    if not callable(forest.oob_score) and not isinstance(forest.oob_score, bool | np.bool_):
        raise TypeError(f"oob_score must be True, False or a callable, got {forest.oob_score!r}")
    if not isinstance(forest.verbose, Integral):
        raise TypeError(f"verbose must be an integer, got {forest.verbose!r}")
    if forest.selection is not None:
        check_choice("selection", forest.selection, ("holdout", OUT_OF_BAG))
    for name in ("min_samples_split", "shrinkage"):
        if isinstance(getattr(forest, name), str):
            check_choice(name, getattr(forest, name), (OUT_OF_BAG,), "a number", "None")
    for name in ("min_samples_split", "shrinkage", "selection", "oob_score"):
        value = getattr(forest, name)
        if not forest.bootstrap and (value == OUT_OF_BAG or (name == "oob_score" and value is not False)):
            raise ValueError(f"{name}={value!r} needs bootstrap=True; otherwise no row is out of bag")


def check_groups(groups: Any, n_samples: int) -> NDArray[np.int64]:
    """Number the groups of rows, in the order of their first rows."""
    labels = np.asarray(groups)
    if labels.shape != (n_samples,):
        raise ValueError(f"groups must have shape ({n_samples},), got {labels.shape}")
    _, first, numbers = np.unique(labels, return_index=True, return_inverse=True)
    order: NDArray[np.int64] = np.argsort(np.argsort(first)).astype(np.int64)
    return order[numbers]
