"""Label noise that a config refers to: of an installed package, or a function of the user's process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from ..extensions.references import identity_of, load
from .base import Integers, LabelledRows, Noise, NoisyLabels
from .function_noise import FunctionNoise

GROUP = "noise"


@dataclass(frozen=True, eq=False)
class ExtensionNoise(Noise):
    """`FunctionNoise` whose function is loaded when it is needed.

    Records of runs can then be read where the function is missing, and jobs can be sent to other processes.

    Parameters
    ----------
    reference : str or dict
        See `boostnoise.eval.extensions.references`.
    noise_rate : float
    params : mapping, default={}
    """

    reference: Any
    noise_rate: float
    params: Mapping[str, Any] = field(default_factory=dict)
    kind = "function"

    @cached_property
    def identity(self) -> list[Any]:
        """The version of the function, the noise rate and the parameters."""
        return [self.kind, identity_of(self.reference, GROUP), self.noise_rate, dict(self.params)]

    @property
    def needs_features(self) -> bool:  # type: ignore[override]
        """Whether the function has an argument ``X``."""
        return self._load().needs_features

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError if the function cannot be loaded, or does not take the parameters."""
        self._load()

    def corrupt_split(
        self, y: Any, train: Integers, test: Integers, X: Any = None, **options: Any
    ) -> tuple[NoisyLabels, NDArray[Any]]:
        """Corrupt the labels of a train/test split; see `Noise.corrupt_split`."""
        return self._load().corrupt_split(y, train, test, X, **options)

    def _draw(
        self, rows: LabelledRows, train: Integers, test: Integers, random_state: Any
    ) -> tuple[Integers, Integers, float]:
        return self._load()._draw(rows, train, test, random_state)

    def _load(self) -> FunctionNoise:
        return FunctionNoise(load(self.reference, GROUP), self.noise_rate, self.params)
