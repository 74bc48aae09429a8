"""User-defined split criteria."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._kernels import criterion_codes as codes
from .criterion import Criterion

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class FunctionCriterion(Criterion):
    """A criterion of your own, compiled with Numba.

    Parameters
    ----------
    function : callable
        ``function(left, right)`` takes two float64 arrays of shape (n_classes,), the weighted class counts of
        the children, and returns the gain of the split as a float, not weighted by the node's share of the
        total weight.  Numba must be able to compile it, and it must not modify its arguments.  Pickling the
        criterion needs an importable function.  An exception or a non-finite value makes ``fit`` raise a
        ValueError.

    Examples
    --------
    >>> import numpy as np
    >>> from robust_splits import FunctionCriterion
    >>> def balance(left, right):
    ...     n_left, n_right = left.sum(), right.sum()
    ...     difference = np.abs(left / n_left - right / n_right).sum()
    ...     return difference * n_left * n_right / (n_left + n_right) ** 2
    >>> FunctionCriterion(balance).gain([0, 7], [7, 0])
    0.5
    """

    function: Callable[[NDArray[np.float64], NDArray[np.float64]], float]
    code = codes.FUNCTION

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function of FunctionCriterion must be callable, got {self.function!r}")

    @property
    def parameter(self) -> float:
        """Always 0."""
        return 0.0

    def _to_gain(self, reduction: float, n: float) -> float:
        if not np.isfinite(reduction):
            raise ValueError(
                f"function of {self!r} must return a finite number, but did not or raised an error"
            )
        return reduction / n

    @property
    def compiled(self) -> Any:
        """The function, compiled on first access.

        Raises
        ------
        TypeError
            If Numba cannot compile it.
        """
        from ._kernels.gain import compile_gain

        return compile_gain(self.function)
