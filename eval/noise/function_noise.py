"""Label noise from a user's function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .._numbers import check_noise_rate
from .base import Integers, LabelledRows, Noise, make_generators

ARGUMENTS = ("y", "noise_rate", "X", "n_classes", "rng")


@dataclass(frozen=True, eq=False)
class FunctionNoise(Noise):
    """Noise of your own: a function that returns noisy labels.

    The noisy labels of training and test rows are drawn by separate calls.

    Parameters
    ----------
    function : callable
        Takes any of these arguments by name, and its own parameters: ``y``, the class numbers of the true
        labels, 0 to K - 1 in the order of the sorted labels, int64 of shape (n_rows,); ``noise_rate``, the
        share of labels to change on average; ``X``, the features, float64 of shape (n_rows, n_features),
        NaN where they are missing; ``n_classes``, K; and ``rng``, a `numpy.random.Generator` from which all
        random numbers must be drawn.  Returns the noisy class numbers, shape (n_rows,).
    noise_rate : float
    params : mapping, default={}
        Values of the function's own parameters.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise.eval import FunctionNoise
    >>> def to_first_class(y, noise_rate, rng):
    ...     return np.where(rng.random(y.size) < noise_rate, 0, y)
    >>> noisy = FunctionNoise(to_first_class, 0.5).corrupt(["a", "b"] * 4, random_state=0)
    >>> noisy.flipped[::2].any(), noisy.flipped[1::2].any()
    (np.False_, np.True_)
    """

    function: Callable[..., Any]
    noise_rate: float
    params: Mapping[str, Any] = field(default_factory=dict)
    kind = "function"
    accepts_missing = True

    def __post_init__(self) -> None:
        check_noise_rate(self, self.noise_rate)
        check_function(self.function, self.params)

    @property
    def needs_features(self) -> bool:  # type: ignore[override]
        """Whether the function has an argument ``X``."""
        return "X" in self._arguments

    @cached_property
    def _arguments(self) -> list[str]:
        return [name for name in inspect.signature(self.function).parameters if name in ARGUMENTS]

    def _draw(
        self, rows: LabelledRows, train: Integers, test: Integers, random_state: Any
    ) -> tuple[Integers, Integers, float]:
        train_rng, test_rng = make_generators(random_state)
        noisy = (self._noisy(rows.take(part), rng) for part, rng in ((train, train_rng), (test, test_rng)))
        return next(noisy), next(noisy), float(self.noise_rate)

    def _noisy(self, rows: LabelledRows, rng: np.random.Generator) -> Integers:
        if rows.y.size == 0:
            return rows.y
        values = {
            "y": rows.y.copy(),
            "noise_rate": self.noise_rate,
            "X": rows.X,
            "n_classes": rows.n_classes,
            "rng": rng,
        }
        found = np.asarray(self.function(**{name: values[name] for name in self._arguments}, **self.params))
        name = getattr(self.function, "__name__", "function")
        if found.shape != rows.y.shape:
            raise ValueError(f"noise {name} must return an array of shape {rows.y.shape}, got {found.shape}")
        if not np.isin(found, np.arange(rows.n_classes)).all():
            raise ValueError(f"noise {name} must return class numbers from 0 to {rows.n_classes - 1}")
        return found.astype(np.int64)


def check_function(function: Any, params: Mapping[str, Any]) -> None:
    """Check that a function takes the arguments of a noise, and its parameters.

    Raises
    ------
    TypeError
        If it is not callable.
    ValueError
        If it lacks ``y``, has another argument without a default value, or does not take one of `params`.
    """
    if not callable(function):
        raise TypeError(f"function of noise must be callable, got {function!r:.60}")
    name = getattr(function, "__name__", "function")
    known = inspect.signature(function).parameters
    if "y" not in known:
        raise ValueError(f"noise {name} must have an argument 'y'; allowed: {', '.join(ARGUMENTS)}")
    for parameter in params:
        if parameter in ARGUMENTS or parameter not in known:
            own = [one for one in known if one not in ARGUMENTS]
            raise ValueError(
                f"noise {name} has no parameter {parameter!r}; parameters: {', '.join(own) or 'none'}"
            )
    missing = [
        one
        for one, parameter in known.items()
        if one not in (*ARGUMENTS, *params)
        and parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    ]
    if missing:
        raise ValueError(f"noise {name} needs a value of {missing[0]!r} in 'params'")
