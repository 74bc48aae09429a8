"""Checks of loss parameters."""

from __future__ import annotations

from numbers import Real
from typing import Any


def check_number(owner: object, name: str, low: float, high: float, ends: str = "[]") -> None:
    """Raise an error if the attribute `name` of `owner` is not a number between `low` and `high`.

    Parameters
    ----------
    ends : str of two characters
        Whether the interval includes its ends: ``"["`` or ``"("``, then ``"]"`` or ``")"``.

    Raises
    ------
    TypeError
        If the attribute is not a number.
    ValueError
        If the number is outside the interval.
    """
    value: Any = getattr(owner, name)
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number:
        raise TypeError(f"{name} of {type(owner).__name__} must be a number, got {value!r}")
    inside = low < value < high or (value == low and ends[0] == "[") or (value == high and ends[1] == "]")
    if not inside:
        interval = f"{ends[0]}{low:g}, {high:g}{ends[1]}"
        raise ValueError(f"{name} of {type(owner).__name__} must be in {interval}, got {value!r}")


def check_weights(owner: object, *names: str) -> None:
    """Raise an error if the weight of a term is negative or infinite, or if all weights are zero."""
    for name in names:
        check_number(owner, name, 0, float("inf"), "[)")
    if not any(getattr(owner, name) for name in names):
        raise ValueError(f"{' and '.join(names)} of {type(owner).__name__} must not all be 0")
