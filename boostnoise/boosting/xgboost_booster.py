"""XGBoost's booster: callbacks during training, and class labels in saved models."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xgboost.callback import EarlyStopping


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


def labels_from_json(written: str) -> NDArray[Any]:
    """Labels from the result of `labels_to_json`."""
    content = json.loads(written)
    return np.array(content["labels"], dtype=content["type"])
