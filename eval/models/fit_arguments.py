"""Weights and groups of rows, as arguments of the `fit` of an estimator."""

from __future__ import annotations

from typing import Any

from .input_form import PASS_ON, class_names, parts

SEARCHES = {"GridSearchCV", "NodeSizeSearch", "RandomizedSearchCV"}

# Their `fit` passes on weights without naming them.
VOTES = {"VotingClassifier", "StackingClassifier"}


def fit_arguments(estimator: Any, weights: Any, groups: Any) -> dict[str, Any]:
    """Arguments of `fit` for weights and groups of the training rows.

    Parameters
    ----------
    estimator : classifier
    weights : array of shape (n_samples,) or None
    groups : array of shape (n_samples,) or None
        Left out for estimators that take none.

    Raises
    ------
    ValueError
        If there are weights, and the estimator takes none.
    """
    arguments: dict[str, Any] = {}
    if weights is not None:
        name = _argument(estimator, "sample_weight")
        if name is None:
            raise ValueError("takes no weights of rows")
        arguments[name] = weights
    if groups is not None and (name := _argument(estimator, "groups")):
        arguments[name] = groups
    return arguments


def _argument(estimator: Any, name: str) -> str | None:
    """Name of an argument in `fit`, such as ``model__sample_weight`` of a pipeline; None if it takes none."""
    from sklearn.utils.validation import has_fit_parameter

    classes = class_names(estimator)
    if "Pipeline" in classes:
        step, last = estimator.steps[-1]
        inner = _argument(last, name)
        return None if inner is None else f"{step}__{inner}"
    if SEARCHES.intersection(classes):
        return name if name == "groups" else _argument(estimator.estimator, name)
    if name == "groups":
        return name if has_fit_parameter(estimator, name) else None
    if not (has_fit_parameter(estimator, name) or VOTES.intersection(classes)):
        return None
    nested = [part for cls in classes if cls in PASS_ON for part in parts(getattr(estimator, PASS_ON[cls]))]
    nested += parts(getattr(estimator, "final_estimator", None))
    # They pass on the weights by this name, which pipelines do not accept.
    return name if all(_argument(part, name) == name for part in nested) else None
