"""Weights of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# XGBoost squares sums of gradients in single precision, and cannot estimate an intercept from weights that sum
# to less than 1e-6.
MIN_WEIGHT_SUM, MAX_WEIGHT_SUM = 1e-6, 1e18

ROUNDING = 1e-9
NEGLIGIBLE = 1e-12  # weight, relative to the largest one; smaller ones count as much


def read_weights(sample_weight: Any, n_rows: int, name: str = "sample_weight") -> NDArray[Any]:
    """Check weights of rows and return them as an array; errors call them `name`."""
    weight = np.asarray(sample_weight)
    if weight.dtype.kind not in "biuf":
        try:
            if weight.dtype.kind == "c":
                raise TypeError
            weight = weight.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must contain numbers, got dtype {weight.dtype}") from None
    if weight.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), got {weight.shape}")
    # Negated, so that NaN is rejected too.
    if n_rows and not (weight.min() >= 0 and weight.max() < np.inf):
        wrong = weight[~((weight >= 0) & (weight < np.inf))]
        raise ValueError(f"{name} must be finite and not negative, got {wrong[:3].tolist()}")
    check_weight_sum(weight, name, smallest=0.0)
    return weight


def check_any_weight(weight: NDArray[Any], name: str = "sample_weight") -> None:
    """Raise a ValueError if all weights are zero."""
    if not weight.any():
        raise ValueError(f"{name} is zero for all rows")


def check_weight_sum(
    weight: NDArray[Any], name: str = "sample_weight", smallest: float = MIN_WEIGHT_SUM
) -> None:
    """Raise a ValueError if the sum of weights is out of the range of single-precision training."""
    with np.errstate(over="ignore"):
        total = weight.sum(dtype=np.result_type(weight, np.float32))
    if not smallest <= total <= MAX_WEIGHT_SUM:
        raise ValueError(
            f"{name} must sum to at least {MIN_WEIGHT_SUM:g} and at most {MAX_WEIGHT_SUM:g} over the rows, "
            f"got {total:g}"
        )


def total_weights(codes: NDArray[np.int64], weight: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Sum of the weights of each class, or its number of rows if `weight` is None.

    Raises
    ------
    ValueError
        If the weights of a class are all zero.
    """
    totals: NDArray[np.float64] = np.bincount(codes, weights=weight, minlength=len(classes)).astype(np.float64)
    if not totals.all():
        raise ValueError(f"sample_weight is zero for all rows of classes {classes[totals == 0].tolist()}")
    return totals


def effective_weights(weight: NDArray[Any]) -> NDArray[np.float64]:
    """Weights w, scaled to sum to Kish's effective sample size, ``(sum w)^2 / sum w^2``."""
    # Squares of tiny weights would be 0, and their reciprocals infinite.
    relative = np.where(weight > 0, np.maximum(weight / weight.max(), NEGLIGIBLE), 0.0)
    scaled: NDArray[np.float64] = relative * (relative.sum() / (relative @ relative))
    return scaled


def mean_weight(weight: NDArray[np.float64]) -> float:
    """Mean of the positive weights; 1 if it differs from that by rounding only."""
    mean = float(weight.sum() / np.count_nonzero(weight))
    return 1.0 if abs(mean - 1) < ROUNDING else mean


def spaced_rows(n_rows: int, at_most: int) -> NDArray[np.int64]:
    """Row numbers: all of them, or equally spaced ones if there are more than `at_most`."""
    if n_rows <= at_most:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, at_most).astype(np.int64)
