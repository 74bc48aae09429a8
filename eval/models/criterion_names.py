"""Names of split criteria in configs."""

from __future__ import annotations

import sys
from typing import Any

# The adaptive criterion of the estimators in `robust_splits`; unlike the others it has no criterion object.
ADAPTIVE_CRITERION = "ane"


def criterion_name(value: Any) -> str | None:
    """Name of a criterion object of `robust_splits`, such as ``"gce(0.5)"``; None for any other object."""
    criteria = sys.modules.get("robust_splits.criteria")
    if criteria is None:  # not imported, so no criterion object exists
        return None
    for name, criterion in criteria.CRITERIA.items():
        if type(value) is criterion:
            return name if value == criterion() else f"{name}({value.parameter!r})"
    return None


def criterion_synonyms() -> dict[str, str]:
    """Synonyms of criterion names, each with the name that it stands for."""
    from robust_splits.criteria import ALIASES

    return ALIASES
