"""Checks of numbers."""

from __future__ import annotations

from numbers import Real
from typing import Any


def check_number(name: str, value: Any, low: float, high: float, ends: str = "[]") -> None:
    """Raise an error if a value is not a number between `low` and `high`.

    Parameters
    ----------
    ends : str of two characters
        Whether the interval includes its ends: ``"["`` or ``"("``, then ``"]"`` or ``")"``.

    Raises
    ------
    TypeError
        If the value is not a number.
    ValueError
        If the number is outside the interval.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = float(value)
    inside = low < number < high or (number == low and ends[0] == "[") or (number == high and ends[1] == "]")
    if not inside:
        raise ValueError(f"{name} must be in {ends[0]}{low:g}, {high:g}{ends[1]}, got {value!r}")


def check_parameter(owner: object, name: str, low: float, high: float, ends: str = "[]") -> None:
    """`check_number` of an attribute, which the error calls that of its class."""
    check_number(f"{name} of {type(owner).__name__}", getattr(owner, name), low, high, ends)


def check_weights(owner: object, *names: str) -> None:
    """Raise an error if the weight of a term is negative or infinite, or if all weights are zero."""
    for name in names:
        check_parameter(owner, name, 0, float("inf"), "[)")
    if not any(getattr(owner, name) for name in names):
        raise ValueError(f"{' and '.join(names)} of {type(owner).__name__} must not all be 0")
