"""Parameters with the value "auto": which of them `fit` chooses, and the values of the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

AUTO = "auto"  # value of a parameter that is chosen on the data
ROUND_PARAMETERS = ("n_estimators", "learning_rate")
MAX_RATE = 0.3  # learning rate of few rounds
N_FOLDS = 3  # what "auto" means for `cv`


@dataclass(frozen=True)
class AutoParameters:
    """Parameters of a library that may be "auto".

    Attributes
    ----------
    structures : tuple of pairs of dict
        Values of these parameters to compare, of a smaller and a larger booster: a pair for few rows, ..., and
        one for many.
    defaults : dict
        The library's defaults of these parameters.
    aliases : dict of str to tuple of str
        Other names of these parameters.
    limits : dict of str to tuple of str
        Names of parameters that limit a tree too: where one of them is given, the other has its default.
    default_rounds, default_rate : int, float
        The library's defaults where a user sets `ROUND_PARAMETERS` to None.
    """

    structures: tuple[tuple[dict[str, Any], dict[str, Any]], ...]
    defaults: dict[str, Any]
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    limits: dict[str, tuple[str, ...]] = field(default_factory=dict)
    default_rounds: int = 100
    default_rate: float = 0.1

    def divide(self, params: dict[str, Any], *, chooses: bool) -> tuple[list[str], dict[str, Any]]:
        """Divide the parameters with the value "auto" into those to choose and those whose value is known.

        Parameters
        ----------
        params : dict
            All parameters of an estimator.
        chooses : bool
            Whether `fit` chooses parameters; if not, they have their defaults.

        Returns
        -------
        to_choose : list of str
        known : dict
        """
        known: dict[str, Any] = {}
        to_choose: list[str] = []
        for name, default in self.defaults.items():
            if not is_auto(params[name]):
                continue
            values = [params[alias] for alias in self.aliases.get(name, ()) if params.get(alias) is not None]
            if values:
                known[name] = values[0]
            elif not chooses or any(
                params.get(other) not in (None, -1, 0) for other in self.limits.get(name, ())
            ):
                known[name] = default
            else:
                to_choose.append(name)
        return to_choose, known

    def adapt(self, structure: dict[str, Any], to_choose: list[str], params: dict[str, Any]) -> dict[str, Any]:
        """Values of a structure for the parameters to choose.

        If either the number of rounds or the learning rate is given, the other one is such that their product
        is that of the structure.

        Raises
        ------
        ValueError
            If a given number of rounds or learning rate is not a positive number.
        """
        if not to_choose:
            return {}
        rounds = _positive(params, "n_estimators", self.default_rounds)
        rate = _positive(params, "learning_rate", self.default_rate)
        adapted = {name: value for name, value in structure.items() if name in to_choose}
        total = structure["n_estimators"] * structure["learning_rate"]
        if "n_estimators" not in to_choose and "learning_rate" in to_choose:
            adapted["learning_rate"] = min(total / rounds, MAX_RATE)
        if "n_estimators" in to_choose and "learning_rate" not in to_choose:
            adapted["n_estimators"] = max(1, round(total / rate))
        return adapted


def is_auto(value: Any) -> bool:
    """Whether a parameter is chosen on the data."""
    return isinstance(value, str) and value == AUTO


def resolve_folds(cv: Any) -> Any:
    """The parameter `cv`, with the number of folds in the place of "auto"."""
    return N_FOLDS if is_auto(cv) else cv


def _positive(params: dict[str, Any], name: str, default: float) -> float:
    """Value of one of `ROUND_PARAMETERS`, or the library's default if it is None or chosen later."""
    value = params[name]
    if value is None or is_auto(value):
        return default
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not value > 0:
        raise ValueError(f"{name} must be a positive number or 'auto', got {value!r}")
    return float(value)
