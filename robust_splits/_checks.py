"""Checks of parameters and class counts.

The criteria use them too, so this module imports neither scikit-learn nor Numba.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

AUTO = "auto"  # value of a parameter that `fit` chooses
NO_LIMIT = int(np.iinfo(np.int64).max)
HALF_UP_TO = 32  # features that "auto" tries at most, while their square root is not more

Closed = Literal["both", "left", "right", "neither"]


def is_auto(value: object) -> bool:
    """Whether a parameter has the value "auto"."""
    return isinstance(value, str) and value == AUTO


def check_number(name: str, value: Any, *, low: float, high: float, closed: Closed = "both") -> float:
    """Finite number between `low` and `high`; `closed` says which of these are allowed.

    Raises
    ------
    TypeError, ValueError
        If the parameter is not a number, or is out of range.
    """
    includes_low, includes_high = closed in ("both", "left"), closed in ("both", "right") and high < math.inf
    if high == math.inf:
        allowed = f"a finite number {'of at least' if includes_low else 'above'} {low:g}"
    else:
        allowed = f"a number in {'[' if includes_low else '('}{low:g}, {high:g}{']' if includes_high else ')'}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {allowed}, got {value!r}")
    try:
        number = float(value)
    except OverflowError:  # a large integer
        number = math.inf
    if not (low < number < high or (includes_low and number == low) or (includes_high and number == high)):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return number


def check_integer(name: str, value: Any, *, low: int, high: int | None = None) -> int:
    """Integer from `low` to `high`; without `high`, one of at least `low`, clipped to 64 bits.

    Raises
    ------
    TypeError, ValueError
        If the parameter is not an integer, or is out of range.
    """
    allowed = f"an integer of at least {low}" if high is None else f"an integer in [{low}, {high}]"
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_integer:
        raise TypeError(f"{name} must be {allowed}, got {value!r}")
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return min(int(value), NO_LIMIT)


def check_row_count(name: str, value: Any, n_samples: int, *, low: int, highest: float = 1.0) -> int:
    """Number of rows, from an integer of at least `low` or a fraction of all rows, rounded up.

    A fraction is positive and at most `highest`.
    """
    fraction = (
        "a fraction in (0, 1]"
        if highest == 1
        else f"a multiple of the number of rows, from above 0 to {highest:g}"
    )
    allowed = f"an integer of at least {low} or {fraction}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {allowed}, got {value!r}")
    if isinstance(value, Integral) and int(value) >= low:
        return min(int(value), NO_LIMIT)
    if not isinstance(value, Integral) and 0 < float(value) <= highest:
        return max(low, min(math.ceil(float(value) * n_samples), NO_LIMIT))
    raise ValueError(f"{name} must be {allowed}, got {value!r}")


def check_max_features(max_features: Any, n_features: int) -> int:
    """Number of features to try at a node, from an int, a fraction, "auto", "sqrt", "log2" or None (all)."""
    if max_features is None:
        return n_features
    if is_auto(max_features):
        return max(1, min(n_features // 2, max(HALF_UP_TO, math.isqrt(n_features))))
    if isinstance(max_features, str) and max_features in ("sqrt", "log2"):
        return max(1, int(math.sqrt(n_features) if max_features == "sqrt" else math.log2(n_features)))
    if isinstance(max_features, Integral) and not isinstance(max_features, bool):
        if int(max_features) >= 1:
            return min(int(max_features), n_features)
    elif isinstance(max_features, Real) and not isinstance(max_features, bool) and 0 < float(max_features) <= 1:
        return max(1, int(float(max_features) * n_features))
    raise ValueError(
        "max_features must be an integer of at least 1, a fraction in (0, 1], 'auto', 'sqrt', 'log2' or None, "
        f"got {max_features!r}"
    )


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


def check_counts(name: str, counts: ArrayLike) -> NDArray[np.float64]:
    """Class counts as a contiguous float64 vector: finite, non-negative, with a positive sum."""
    array = np.ascontiguousarray(counts, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a vector with one count per class, got shape {array.shape}")
    if not np.isfinite(array).all() or (array < 0).any() or array.sum() <= 0:
        raise ValueError(f"{name} must be finite and non-negative with a positive sum, got {counts!r}")
    return array


def check_split(
    left_counts: ArrayLike, right_counts: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Class counts of two children as vectors of the same length; see `check_counts`."""
    left = check_counts("left_counts", left_counts)
    right = check_counts("right_counts", right_counts)
    if left.shape != right.shape:
        raise ValueError(
            f"left_counts and right_counts must have the same length, got {left.size} and {right.size}"
        )
    return left, right
