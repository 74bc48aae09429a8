"""Classifiers that predict the given labels, which noise is estimated from."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from .variants import OWN_PACKAGES


def predicting_given_labels(model: Any) -> Any:
    """Clone of a classifier in which the classifiers of this project make one pass.

    After two passes their probabilities are those of the clean labels, which tell nothing about the noise.
    """
    model = clone(model)
    nested = model.get_params() if hasattr(model, "get_params") else {}
    for prefix, part in [("", model), *((f"{name}__", value) for name, value in nested.items())]:
        if has_passes(part):
            model.set_params(**{f"{prefix}passes": 1})
    return model


def has_passes(model: Any) -> bool:
    """Whether a classifier of this project may judge the labels in a first pass."""
    is_own = type(model).__module__.partition(".")[0] in OWN_PACKAGES
    return is_own and hasattr(model, "get_params") and "passes" in model.get_params(deep=False)
