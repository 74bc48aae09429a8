"""Split criteria by the names that a config may hold."""

from __future__ import annotations

import sys
from typing import Any


def criterion_name(value: Any) -> str | None:
    """Name of a split criterion of `robust_splits`, such as ``"gce(0.5)"``; None for any other object."""
    learner = sys.modules.get("robust_splits.criteria")
    if learner is None:  # never imported, so there is no criterion
        return None
    for name, criterion in learner.CRITERIA.items():
        if type(value) is criterion:
            return name if value == criterion() else f"{name}({value.parameter!r})"
    return None
