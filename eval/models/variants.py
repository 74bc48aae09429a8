"""Variants of this project's estimators that a config may name: split criteria and losses."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection
from typing import Any

from robust_splits.plugins import package_of, plugin_names, plugins

from ..errors import suggest

OWN_PACKAGES = frozenset({"boostnoise", "robust_splits"})

# The adaptive criterion of the estimators in `robust_splits`; unlike the others it has no criterion object.
ADAPTIVE_CRITERION = "ane"
ADAPTIVE_SUMMARY = "negative_exponential, with lam chosen on noisy labels."

# Losses with parameters that JSON cannot hold, here a distribution of scipy.stats.
NOT_IN_CONFIGS = frozenset({"distribution"})


def default_variant(model: str) -> dict[str, str]:
    """Criterion or loss that one of this project's estimators uses by default.

    The estimator is not imported, which would take seconds.

    Parameters
    ----------
    model : str
        Name of a class.

    Returns
    -------
    dict of str to str
        The parameter and its default; empty for other classes.
    """
    from boostnoise.losses.registry import DEFAULT_LOSS
    from robust_splits.criteria import FOREST_CRITERION, TREE_CRITERION

    defaults = {
        "RobustDecisionTreeClassifier": {"criterion": TREE_CRITERION},
        "RobustForestClassifier": {"criterion": FOREST_CRITERION},
        "RobustExtraTreesClassifier": {"criterion": FOREST_CRITERION},
        "RobustXGBClassifier": {"loss": DEFAULT_LOSS},
        "RobustLGBMClassifier": {"loss": DEFAULT_LOSS},
    }
    return defaults.get(model, {})


def variants(parameter: str) -> dict[str, str]:
    """Criteria or losses that a config may name, each with a summary; `parameter` is "criterion" or "loss"."""
    if parameter == "criterion":
        from robust_splits.criteria import CRITERIA

        synonyms: dict[str, list[str]] = {name: [] for name in CRITERIA}
        for synonym, name in criterion_synonyms().items():
            synonyms[name].append(synonym)
        summaries = {
            name: _summary(criterion) + (f" Also {', '.join(synonyms[name])}." if synonyms[name] else "")
            for name, criterion in CRITERIA.items()
        }
        return {ADAPTIVE_CRITERION: ADAPTIVE_SUMMARY, **summaries, **_plugin_summaries("criteria", CRITERIA)}
    from boostnoise.losses.registry import LOSSES, needed_parameters

    summaries = {
        name: _summary(loss) + (f" Needs loss_params: {', '.join(needed)}." if needed else "")
        for name, loss in LOSSES.items()
        if name not in NOT_IN_CONFIGS
        for needed in [needed_parameters(name)]
    }
    return summaries | _plugin_summaries("losses", LOSSES)


def _plugin_summaries(group: str, builtin: Collection[str]) -> dict[str, str]:
    """Where the names of installed packages come from; none of them is imported."""
    return {name: f"From {package_of(plugins(group)[name])}." for name in plugin_names(group, builtin)}


def variant_names(parameter: str) -> list[str]:
    """All names of criteria or losses, including synonyms."""
    synonyms = criterion_synonyms() if parameter == "criterion" else ()
    return [*variants(parameter), *synonyms]


def check_variant(parameter: str, name: str) -> None:
    """Raise a ValueError for an unknown criterion or loss."""
    if parameter == "criterion":
        check_criterion(name)
    elif name not in variants(parameter):
        hint = "; give parameters of a loss in loss_params" if "(" in name else ""
        raise ValueError(
            f"unknown loss {name!r}{suggest(name, variants(parameter))}; "
            f"known losses: {', '.join(variants(parameter))}{hint}"
        )


def check_criterion(criterion: Any) -> None:
    """Raise a ValueError for an unknown criterion."""
    from robust_splits import get_criterion

    if criterion != ADAPTIVE_CRITERION:
        get_criterion(criterion)


def _summary(cls: Any) -> str:
    """First line of a docstring, without markup and references."""
    line = (cls.__doc__ or "").partition("\n")[0]
    return re.sub(r" \[\d+\]_|``| \([A-Z][a-z]+[^()]*\)", "", line)


def criterion_name(value: Any) -> str | None:
    """Name of a criterion object of `robust_splits`, such as ``"gce(0.5)"``; None for an object without one."""
    criteria = sys.modules.get("robust_splits.criteria")
    if criteria is None:  # not imported, so no criterion object exists
        return None
    for name, criterion in criteria.CRITERIA.items():
        if type(value) is criterion:
            parameters = criteria.number_parameters(criterion)
            while parameters and getattr(value, parameters[-1]) == getattr(criterion(), parameters[-1]):
                parameters.pop()
            numbers = ", ".join(repr(float(getattr(value, parameter))) for parameter in parameters)
            full_name = f"{name}({numbers})" if numbers else name
            return full_name if criteria.get_criterion(full_name) == value else None
    return None


def criterion_synonyms() -> dict[str, str]:
    """Synonyms of criterion names, each with the name that it stands for."""
    from robust_splits.criteria import ALIASES

    return ALIASES
