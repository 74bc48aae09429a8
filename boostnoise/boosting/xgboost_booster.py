"""XGBoost's booster: callbacks during training, and class labels in saved models."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xgboost.callback import EarlyStopping

# Kinds of NumPy types, and the types of JSON that their labels have.
PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "b": (bool,), "i": (int,), "u": (int,), "f": (int, float), "U": (str,), "O": (str,)
}  # fmt: skip
MAX_SHOWN = 60  # characters of a text in a message


def stops_early(callbacks: Any) -> bool:
    """Whether one of the callbacks is early stopping."""
    return any(isinstance(callback, EarlyStopping) for callback in callbacks or ())


def labels_to_json(labels: NDArray[Any]) -> str:
    """Labels as JSON, with their type."""
    values = labels.tolist()
    if labels.dtype.kind not in "biufU" and not all(isinstance(label, str) for label in values):
        raise TypeError(
            f"labels must be strings or numbers to be saved in XGBoost's format, got dtype {labels.dtype}; "
            "use pickle, or save only the booster with get_booster().save_model"
        )
    return json.dumps({"type": labels.dtype.str, "labels": values})


def labels_from_json(written: str, n_classes: int) -> NDArray[Any]:
    """Labels from the result of `labels_to_json`, which may come from a stranger.

    Raises
    ------
    ValueError
        If it is no such result, or has not one label for each class.
    """
    try:
        content = json.loads(written)
        labels, dtype = content["labels"], np.dtype(content["type"])
        python_types = PYTHON_TYPES[dtype.kind]
        is_valid = len(labels) == n_classes and all(type(label) in python_types for label in labels)
        # A type of strings has a length, which could be huge.
        result = np.array(labels, dtype=str if dtype.kind == "U" else dtype) if is_valid else None
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        result = None
    if result is None or len(np.unique(result)) != n_classes:
        raise ValueError(
            f"the labels in the saved model must be {n_classes} different strings or numbers, one for each "
            f"class, got {written[:MAX_SHOWN]!r}"
        )
    return result
