"""Checks of the parameters that only forests have, and of those that may be "auto" for forests only."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from ._checks import AUTO, check_choice, check_number, is_auto


def check_forest(forest: Any) -> None:
    """Raise a TypeError or ValueError if a parameter is invalid."""
    if not callable(forest.oob_score) and not isinstance(forest.oob_score, bool | np.bool_):
        raise TypeError(f"oob_score must be True, False or a callable, got {forest.oob_score!r}")
    if not isinstance(forest.verbose, Integral):
        raise TypeError(f"verbose must be an integer, got {forest.verbose!r}")
    if forest.passes not in (1, 2, AUTO) or isinstance(forest.passes, bool):
        raise ValueError(f"passes must be 1, 2 or {AUTO!r}, got {forest.passes!r}")
    if forest.selection is not None:
        check_choice("selection", forest.selection, ("holdout", "oob"))
    needs_bootstrap = {
        "selection": forest.selection == "oob",
        "oob_score": forest.oob_score is not False,
        "passes": forest.passes == 2,
    }
    for name, needed in needs_bootstrap.items():
        if needed and not forest.bootstrap:
            value = getattr(forest, name)
            raise ValueError(f"{name}={value!r} needs bootstrap=True; otherwise no row is out of bag")
    for name in ("min_samples_split", "shrinkage"):
        value = getattr(forest, name)
        if value is None or isinstance(value, str):
            check_choice(name, value, (AUTO,), "a number")
    fixed_shrinkage(forest)


def fixed_shrinkage(forest: Any) -> float:
    """Shrinkage if it is not chosen on the out-of-bag rows."""
    if is_auto(forest.shrinkage):
        return 0.0
    return check_number("shrinkage", forest.shrinkage, low=0.0, high=np.inf)
