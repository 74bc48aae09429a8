"""Read the labels of a data set as class numbers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._wording import joined, numbered
from ..errors import ConfigError

# More classes that are not whole numbers are measurements.
MAX_FRACTIONS = 20

MAX_WHOLE = 2**53  # floats represent all whole numbers up to here


def rows_with_label(labels: pd.Series[Any], context: str, hint: str = "") -> NDArray[np.bool_]:
    """Whether each row has a label; warns if some have none, with a hint at the end."""
    rows: NDArray[np.bool_] = labels.notna().to_numpy()
    if not rows.any():
        raise ConfigError(f"{context}: column {labels.name!r} has no labels")
    if not rows.all():
        n_dropped = int((~rows).sum())
        warnings.warn(
            f"{context}: column {labels.name!r} has {numbered(n_dropped, 'missing label')}; "
            f"the other {rows.size - n_dropped} rows are used{hint}",
            stacklevel=3,
        )
    return rows


def encode_labels(
    labels: pd.Series[Any], positive: list[Any] | None, context: str
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Sorted labels, or negative and positive if `positive` is given, and the class number of each row."""
    target = labels.name
    is_float = pd.api.types.is_float_dtype(labels)
    if is_float and not np.isfinite(labels).all():
        raise ConfigError(f"{context}: column {target!r} has infinite labels")
    if is_float and (labels == np.trunc(labels)).all() and (labels.abs() <= MAX_WHOLE).all():
        labels = labels.astype(np.int64)  # as without the missing labels that made them floats
    try:
        classes, y = np.unique(labels.to_numpy(), return_inverse=True)
    except (TypeError, ValueError):
        raise ConfigError(f"{context}: column {target!r} has labels that cannot be sorted") from None
    if classes.size < 2:
        raise ConfigError(f"{context}: needs at least two classes, found only {classes.tolist()[0]!r}")
    if is_float and classes.size > MAX_FRACTIONS and (classes != np.trunc(classes)).any():
        raise ConfigError(
            f"{context}: column {target!r} has {classes.size} different numbers from {classes[0]:g} to "
            f"{classes[-1]:g}, but labels must be classes; divide the numbers into classes"
        )
    if classes.size > len(labels) / 2:
        raise ConfigError(
            f"{context}: column {target!r} has {classes.size} different labels in {len(labels)} rows; "
            "is it the right target?"
        )
    if positive is None:
        return classes, y.astype(np.int64)
    found = classes.tolist()
    for label in positive:
        if label not in found:
            raise ConfigError(
                f"{context}: positive contains {label!r}, which is not a label; "
                f"labels are {joined(map(repr, found))}"
            )
    is_positive = np.array([label in positive for label in found])
    if is_positive.all():
        raise ConfigError(f"{context}: positive contains all labels; the negative class needs at least one")
    return np.array(["negative", "positive"]), is_positive[y].astype(np.int64)
