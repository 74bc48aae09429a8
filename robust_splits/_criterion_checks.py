"""Validation of the parameters and class counts of split criteria."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def check_parameter(criterion: object, name: str, low: float, high: float) -> None:
    """Raise a TypeError or ValueError unless attribute `name` is a number in [low, high]."""
    value = getattr(criterion, name)
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} of {type(criterion).__name__} must be a number, got {value!r}")
    if not low <= value <= high or not np.isfinite(value):
        allowed = f"in [{low:g}, {high:g}]" if np.isfinite(high) else f"finite and at least {low:g}"
        raise ValueError(f"{name} of {type(criterion).__name__} must be {allowed}, got {value!r}")


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
