"""The common form of data sets with real noise: features, noisy labels and checked ones in one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

MAX_ROWS = 20_000  # more are sampled
TARGET, PREFIX = "target", "noisy_"


class Labelled(NamedTuple):
    """A data set as its source has it.

    Attributes
    ----------
    X : DataFrame of n rows
        Features.
    noisy : dict of str to array-like of shape (n,)
        Labels as they were given, by name.
    checked : array-like of shape (n,)
        Checked labels.
    """

    X: pd.DataFrame
    noisy: Mapping[str, Any]
    checked: Any


def to_table(found: Labelled) -> pd.DataFrame:
    """Features as float32, then the columns ``noisy_...`` and ``target``, both int8.

    Text becomes the ranks of its values, missing values become NaN.  Of more than `MAX_ROWS` rows, so many are
    drawn, always the same ones.
    """
    labels = {f"{PREFIX}{name}": np.asarray(values) for name, values in found.noisy.items()}
    labels[TARGET] = np.asarray(found.checked)
    columns = {str(name): _to_numbers(column) for name, column in found.X.items()}
    columns |= {name: values.astype(np.int8) for name, values in labels.items()}
    table = pd.DataFrame(columns)
    if len(table) > MAX_ROWS:
        drawn = np.random.RandomState(0).permutation(len(table))[:MAX_ROWS]
        table = table.iloc[np.sort(drawn)].reset_index(drop=True)
    return table


def _to_numbers(column: pd.Series) -> np.ndarray:
    if pd.api.types.is_numeric_dtype(column):
        with np.errstate(invalid="ignore"):  # R's missing values are signalling ones
            return column.to_numpy(dtype=np.float32, na_value=np.nan)
    coded = column.astype("category").cat.codes.to_numpy(dtype=np.float32)
    return np.where(column.isna(), np.float32("nan"), coded)
