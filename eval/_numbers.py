"""Checks of numbers among arguments.  Truth values are no numbers."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, TypeGuard


def is_integer(value: Any) -> TypeGuard[int]:
    """Whether a value is an integer, of Python or NumPy."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: Any) -> TypeGuard[float]:
    """Whether a value is a real number, of Python or NumPy."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_fraction(name: str, value: Any) -> None:
    """Raise a ValueError that names the argument unless its value lies between 0 and 1."""
    if not is_real(value) or not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {value!r}")


def check_noise_rate(owner: object, value: Any, highest: float = 1) -> None:
    """Raise a ValueError that names the owner's class unless its noise rate is a number in [0, highest]."""
    if not is_real(value) or not 0 <= value <= highest:
        raise ValueError(
            f"noise_rate of {type(owner).__name__} must be a number in [0, {highest}], got {value!r}"
        )
