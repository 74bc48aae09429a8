"""What the classifiers of both libraries share."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ._library_inputs import check_total, read_weights
from .losses.registry import LOSSES
from .losses.softmax import Floats

OWN_PARAMETERS = ("loss", "loss_params", "hessian")  # that neither library knows


def encode_labels(y: ArrayLike) -> tuple[LabelEncoder, NDArray[np.int64]]:
    """Encoder of labels, and class numbers of shape (n,).

    Raises
    ------
    ValueError
        If labels are missing, continuous, or of one class alone.
    """
    y = column_or_1d(y, warn=True)
    missing = pd.Series(y).isna().sum()
    if missing:
        raise ValueError(f"y holds {missing} missing labels")
    check_classification_targets(y)
    encoder = LabelEncoder()
    codes: NDArray[np.int64] = encoder.fit_transform(y)
    if len(encoder.classes_) < 2:
        found = [f"one class, {label!r}" for label in encoder.classes_.tolist()] or ["no labels"]
        raise ValueError(f"y must hold at least two classes, got {found[0]}")
    return encoder, codes


def encode_eval_set(eval_set: Any, encoder: LabelEncoder) -> list[tuple[Any, NDArray[np.int64]]]:
    """Pairs of features and class numbers of an `eval_set`.

    Raises
    ------
    ValueError
        If it does not hold pairs, or a label was not in training.
    """
    pairs = []
    for i, pair in enumerate(eval_set):
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            raise ValueError(
                f"eval_set must be a list of pairs, such as [(X, y)], got {type(pair).__name__} in it"
            )
        try:
            pairs.append((pair[0], encoder.transform(pair[1])))
        except (TypeError, ValueError) as error:
            raise ValueError(f"the labels of eval_set[{i}] are not those of training: {error}") from error
    return pairs


def combined_weight(labels: NDArray[Any], sample_weight: Any, class_weight: Any) -> Floats | None:
    """Weights of rows times those of their classes, or None where neither is given.

    Raises
    ------
    ValueError
        If one is negative or not finite, their sum is less than 1e-6 or more than 1e18, or their number is not
        that of the rows.
    """
    if sample_weight is None and class_weight is None:
        return None
    weight = np.ones(labels.size)
    if sample_weight is not None:
        weight *= read_weights(sample_weight, labels.size)
    if not weight.any():
        raise ValueError("sample_weight is zero for all rows")
    if class_weight is not None:
        weight *= read_weights(compute_sample_weight(class_weight, labels), labels.size, "class_weight")
        if not weight.any():
            raise ValueError("sample_weight times class_weight is zero for all rows")
    check_total(weight, "sample_weight" if class_weight is None else "sample_weight times class_weight")
    return weight


def check_keywords(estimator: Any) -> None:
    """Raise a TypeError where a parameter of the loss was given to the estimator, which passes it on unread."""
    known = set(type(estimator)().get_params(deep=False)) | {"alpha"}  # a parameter of both libraries
    loss = LOSSES.get(estimator.loss) if isinstance(estimator.loss, str) else type(estimator.loss)
    of_loss = {field.name for field in fields(loss)} if is_dataclass(loss) else set()
    for name, value in estimator.get_params(deep=False).items():
        own = name.removeprefix("loss_params__")
        if own != name or (name in of_loss and name not in known):
            raise TypeError(
                f"{name}={value!r} has no effect; parameters of the loss are given as "
                f"loss_params={ {own: value}!r}"
            )


def shown(estimator: Any) -> str:
    """The loss and what differs from the parent's defaults; scikit-learn would leave out a loss by default."""
    parameters = estimator.get_params(deep=False)
    defaults = type(estimator)().get_params(deep=False)
    told = {"loss": parameters.pop("loss")}
    for name, value in sorted(parameters.items()):
        default = defaults.get(name)
        if value is not default and repr(value) != repr(default):
            told[name] = value
    return f"{type(estimator).__name__}({', '.join(f'{name}={value!r}' for name, value in told.items())})"
