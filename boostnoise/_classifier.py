"""Shared code of `RobustXGBClassifier` and `RobustLGBMClassifier`."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, column_or_1d

from ._library_inputs import check_any_weight, check_weight_sum, read_weights
from .losses.registry import LOSSES
from .losses.softmax import Floats

OWN_PARAMETERS = ("loss", "loss_params", "hessian", "budget", "cv")  # unknown to both libraries
# Arguments of `fit` that start training from margins or a model, in either library.
START_ARGUMENTS = ("base_margin", "xgb_model", "init_score", "init_model")
LOSS_PARAMETER = "loss_params__"  # prefix of a parameter of the loss in `set_params`


def encode_labels(y: ArrayLike) -> tuple[LabelEncoder, NDArray[np.int64]]:
    """Fitted label encoder, and class numbers of shape (n,).

    Raises
    ------
    ValueError
        If labels are missing, infinite or continuous, or if there is only one class.
    """
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    labels = pd.Series(y)
    if labels.isna().any():
        raise ValueError(f"y contains {labels.isna().sum()} missing labels")
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError("y contains infinite labels")
    check_classification_targets(y)
    encoder = LabelEncoder()
    codes: NDArray[np.int64] = encoder.fit_transform(y)
    if len(encoder.classes_) < 2:
        found = [f"one class, {label!r}" for label in encoder.classes_.tolist()] or ["no labels"]
        raise ValueError(f"y must contain at least two classes, got {found[0]}")
    return encoder, codes


def encode_eval_set(eval_set: Any, encoder: LabelEncoder) -> list[tuple[Any, NDArray[np.int64]]]:
    """Evaluation sets as pairs of features and class numbers.

    Raises
    ------
    ValueError
        If an item is not a pair, or if a label does not occur in the training data.
    """
    pairs = []
    for i, pair in enumerate(eval_set):
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            parts = f" with {len(pair)} parts" if isinstance(pair, tuple | list) else ""
            raise ValueError(
                "eval_set must be a list of pairs, such as [(X, y)]; "
                f"item {i} is a {type(pair).__name__}{parts}"
            )
        pairs.append((pair[0], encode_eval_labels(pair[1], encoder, f"eval_set[{i}]")))
    return pairs


def encode_eval_labels(labels: Any, encoder: LabelEncoder, name: str) -> NDArray[np.int64]:
    """Class numbers of evaluation labels, shape (n,); errors call them `name`.

    Raises
    ------
    ValueError
        If a label does not occur in the training data.
    """
    try:
        numbers: NDArray[np.int64] = encoder.transform(labels)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: labels must occur in the training data: {error}") from error
    return numbers


def combine_weights(labels: NDArray[Any], sample_weight: Any, class_weight: Any) -> Floats | None:
    """Product of sample weights and class weights, or None if neither is given.

    Raises
    ------
    ValueError
        If there is not one weight for each row, if a weight is negative or not finite, if the weights sum to
        less than 1e-6 or more than 1e18, or if ``class_weight`` is unknown or lacks a class.
    """
    if sample_weight is None and class_weight is None:
        return None
    weight = np.ones(labels.size)
    if sample_weight is not None:
        weight *= read_weights(sample_weight, labels.size)
    check_any_weight(weight)
    name = "sample_weight"
    if class_weight is not None:
        if not (isinstance(class_weight, dict) or class_weight == "balanced"):
            raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}")
        weight *= read_weights(compute_sample_weight(class_weight, labels), labels.size, "class_weight")
        name = "sample_weight times class_weight"
        check_any_weight(weight, name)
    check_weight_sum(weight, name)
    return weight


def total_weights(codes: NDArray[np.int64], weight: Any, classes: NDArray[Any]) -> Floats:
    """Sum of the weights of each class, or its number of rows if `weight` is None.

    Raises
    ------
    ValueError
        If the weights of a class are all zero.
    """
    totals: Floats = np.bincount(codes, weights=weight, minlength=len(classes)).astype(np.float64)
    if not totals.all():
        raise ValueError(f"sample_weight is zero for all rows of classes {classes[totals == 0].tolist()}")
    return totals


def combine_all_weights(
    labels: NDArray[Any],
    codes: NDArray[np.int64],
    sample_weight: Any,
    class_weight: Any,
    scale_pos_weight: float,
) -> Floats | None:
    """Product of `combine_weights` and of the weight of class 1, which the objective applies in a fit."""
    weight = combine_weights(labels, sample_weight, class_weight)
    if scale_pos_weight == 1:
        return weight
    return np.where(codes == 1, scale_pos_weight, 1.0) * (1.0 if weight is None else weight)


def positive_weight(scale_pos_weight: float | None, n_classes: int) -> float:
    """Weight of class 1; like the built-in objectives, ignored for more than two classes."""
    return 1.0 if scale_pos_weight is None or n_classes > 2 else float(scale_pos_weight)


def reject_start(arguments: dict[str, Any], choice: str, remedy: str) -> None:
    """Raise a ValueError if training starts from margins or a model, which may depend on labels of any fold."""
    for start in START_ARGUMENTS:
        if arguments.get(start) is not None:
            raise ValueError(
                f"{start} cannot be combined with {choice}: it may depend on the labels used for the choice; "
                f"{remedy}"
            )


def check_same_length(X: Any, codes: NDArray[np.int64]) -> None:
    """Raise a ValueError if there is not one label for each row."""
    if _num_samples(X) != codes.size:
        raise ValueError(f"X and y must have the same number of rows, got {_num_samples(X)} and {codes.size}")


@contextmanager
def temporarily_set(estimator: Any, **values: Any) -> Iterator[None]:
    """Set parameters of an estimator within a ``with`` block."""
    before = {name: getattr(estimator, name) for name in values}
    other = getattr(estimator, "_other_params", None)  # LightGBM's copy of parameters that were set later
    try:
        for name, value in values.items():
            setattr(estimator, name, value)
        if other is not None:
            estimator._other_params = {**other, **{name: values[name] for name in values if name in other}}
        yield
    finally:
        for name, value in before.items():
            setattr(estimator, name, value)
        if other is not None:
            estimator._other_params = other


def check_loss_params(params: Any) -> dict[str, Any]:
    """``loss_params`` as a new dict; a TypeError if it is neither a dict nor None."""
    if params is not None and not isinstance(params, dict):
        raise TypeError(f"loss_params must be a dict or None, got {params!r}")
    return dict(params or {})


def pop_loss_keywords(keywords: dict[str, Any]) -> dict[str, Any]:
    """Remove from keywords those named ``loss_params__x``, and return them."""
    return {name: keywords.pop(name) for name in list(keywords) if name.startswith(LOSS_PARAMETER)}


def merge_loss_params(estimator: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Arguments of `set_params`, with those named ``loss_params__x`` merged into ``loss_params``.

    A new `loss` keeps, of the earlier ``loss_params``, those that it has too.
    """
    merged = {name: value for name, value in params.items() if not name.startswith(LOSS_PARAMETER)}
    changed = {name.removeprefix(LOSS_PARAMETER): params[name] for name in params if name not in merged}
    if not changed and ("loss" not in params or "loss_params" in params):
        return merged
    kept = check_loss_params(merged.get("loss_params", estimator.loss_params))
    if "loss" in params and "loss_params" not in params:
        known = _loss_fields(params["loss"]) if isinstance(params["loss"], str) else set()
        kept = {name: value for name, value in kept.items() if name in known}
    merged["loss_params"] = {**kept, **changed} or None
    return merged


def _loss_fields(loss: Any) -> set[str]:
    """Names of the parameters of a loss, which is given by its name or as an object."""
    cls = LOSSES.get(loss) if isinstance(loss, str) else type(loss)
    return {field.name for field in fields(cls)} if is_dataclass(cls) else set()


def reject_loss_keywords(estimator: Any) -> None:
    """Raise a TypeError if a parameter of the loss was passed as a keyword of the estimator.

    The estimator accepts any keyword for its library, where this one would have no effect.
    """
    known = set(type(estimator)().get_params(deep=False)) | {"alpha"}  # also a parameter of both libraries
    loss_fields = _loss_fields(estimator.loss)
    for name, value in estimator.get_params(deep=False).items():
        if name in loss_fields and name not in known:
            raise TypeError(
                f"{name}={value!r} has no effect; pass parameters of the loss as loss_params={ {name: value}!r}"
            )


def check_fit_params(parent: Any, fit_params: Collection[str]) -> None:
    """Raise a TypeError before a long search if the library's `fit` does not know an argument."""
    known = inspect.signature(parent.fit).parameters
    unknown = [name for name in fit_params if name not in known]
    if unknown:
        raise TypeError(
            f"fit got an unexpected keyword argument {unknown[0]!r}; parameters of the booster belong in the "
            "constructor"
        )


def format_estimator(estimator: Any) -> str:
    """Representation of an estimator: its loss, and the parameters that differ from their defaults.

    scikit-learn's own would omit the default loss.
    """
    parameters = estimator.get_params(deep=False)
    defaults = type(estimator)().get_params(deep=False)
    shown = {"loss": parameters.pop("loss")}
    for name, value in sorted(parameters.items()):
        default = defaults.get(name)
        if value is not default and repr(value) != repr(default):
            shown[name] = value
    return f"{type(estimator).__name__}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"
