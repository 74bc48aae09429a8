"""Write arrays and data frames to Parquet files, so that a config can name them."""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._atomic_file import atomic_write, check_folder
from .._frames import as_pandas
from ..errors import ConfigError, nearest_first, one_line, suggest

TARGET = "target"


@dataclass(frozen=True)
class DataFile:
    """A Parquet file to write.

    Attributes
    ----------
    path : Path
        Its name contains the name of the data set and a hash of the content.
    content : bytes
    """

    path: Path
    content: bytes

    def write(self) -> None:
        """Write the file atomically, unless it exists with the same content.

        Raises
        ------
        ConfigError
            If the file cannot be written.
        """
        check_folder(self.path.parent)
        try:
            if self.path.is_file() and self.path.read_bytes() == self.content:
                return
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(self.path) as file:
                file.write(self.content)
        except OSError as error:
            raise ConfigError(f"results_dir: {self.path} cannot be written: {error.strerror}") from None


def data_file(name: str, data: Any, target: Any, folder: Path, context: str) -> tuple[DataFile, str]:
    """The file of a data set, and the name of its label column.

    Parameters
    ----------
    name : str
        Name of the data set.
    data : DataFrame or pair
        A frame of pandas, polars or Arrow with the column `target`; a frame and the name of its label column;
        or features and labels with rows in the same order.  If both have a pandas index, the indexes must not
        hold the same labels in different orders.
    target : str or None
        Label column of a frame; None for a pair.
    folder : Path
        Folder of the file.
    context : str
        How error messages refer to the data set.

    Raises
    ------
    ConfigError
        If the column is unknown; features and labels do not match, for example because their indexes hold the
        same labels in different orders; or the data cannot be written to Parquet.
    """
    is_pair = isinstance(data, tuple | list) and len(data) == 2
    data = tuple(map(as_pandas, data)) if is_pair else as_pandas(data)
    if is_pair and isinstance(data[0], pd.DataFrame) and isinstance(data[1], str):
        if target not in (None, data[1]):
            raise ConfigError(f"{context}: two label columns, {data[1]!r} and {target!r:.60}; give one")
        data, target = data
    if isinstance(data, pd.DataFrame):
        if target is None:
            raise ConfigError(f"{context}: a frame needs the name of its label column: (frame, 'label')")
        frame = data.reset_index(drop=True)
    elif is_pair:
        if target is not None:
            raise ConfigError(
                f"{context}: target must be left out for a pair (X, y), whose y holds the labels, "
                f"got {target!r:.60}"
            )
        frame, target = _joined(data[0], data[1], context)
    else:
        raise ConfigError(
            f"{context}: data must be a pair (X, y), or a frame and its label column, (frame, 'label'), "
            f"got {type(data).__name__}"
        )
    frame.columns = frame.columns.map(str)
    target = str(target)
    if target not in frame:
        raise ConfigError(
            f"{context}: unknown column {target!r}{suggest(target, frame.columns)}; "
            f"columns: {nearest_first(target, frame.columns)}"
        )
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ConfigError(f"{context}: several columns are named {twice!r}")
    content = io.BytesIO()
    try:
        frame.to_parquet(content, index=False)
    except Exception as error:  # noqa: BLE001 - pandas and Arrow may raise anything
        for column in frame:
            types = sorted({type(value).__name__ for value in frame[column].dropna()})
            if frame[column].dtype == object and len(types) > 1:
                raise ConfigError(
                    f"{context}: column {column!r} must hold values of one type, got {', '.join(types)}"
                ) from None
        raise ConfigError(f"{context}: cannot be written to Parquet: {one_line(error)}") from None
    digest = hashlib.sha256(content.getvalue()).hexdigest()[:16]
    stem = re.sub(r"[^\w.-]+", "_", name)[:60].strip("._") or "data"
    return DataFile(folder / f"{stem}-{digest}.parquet", content.getvalue()), target


def _joined(X: Any, y: Any, context: str) -> tuple[pd.DataFrame, str]:
    """Features and labels as one frame, and the name of the label column."""
    if hasattr(X, "toarray"):
        raise ConfigError(f"{context}: X is a sparse matrix; use X.toarray()")
    features = X.reset_index(drop=True) if isinstance(X, pd.DataFrame) else _columns(X, context)
    labels = pd.Series(y).reset_index(drop=True) if _is_vector(y) else None
    if labels is None:
        raise ConfigError(f"{context}: y must be a vector of labels, got {np.shape(y)} of {type(y).__name__}")
    if len(features) != len(labels):
        raise ConfigError(f"{context}: X has {len(features)} rows, but y has {len(labels)}")
    if isinstance(X, pd.DataFrame) and isinstance(y, pd.Series) and _are_shuffled(X.index, y.index):
        raise ConfigError(
            f"{context}: X and y must have the same row order, but their indexes hold the same labels in "
            "different orders; use y.loc[X.index], or y.to_numpy() if row i of X has label i of y"
        )
    target = str(labels.name) if labels.name is not None else TARGET
    while target in set(map(str, features.columns)):
        target += "_"
    # Concatenated, since adding a column to a wide frame makes pandas copy or warn.
    return pd.concat([features, labels.rename(target)], axis=1), target


def _are_shuffled(one: pd.Index, other: pd.Index) -> bool:
    """Whether two indexes hold the same labels in different orders."""
    return not one.equals(other) and Counter(one) == Counter(other)


def _is_vector(y: Any) -> bool:
    return isinstance(y, pd.Series) or np.ndim(y) == 1


def _columns(X: Any, context: str) -> pd.DataFrame:
    try:
        matrix = np.asarray(X)
    except ValueError as error:
        raise ConfigError(f"{context}: X must be a matrix: {one_line(error)}") from None
    if matrix.ndim != 2:
        raise ConfigError(f"{context}: X must have two dimensions, rows and columns, got {matrix.ndim}")
    # An object array may hold columns of numbers and columns of text.
    return pd.DataFrame(matrix, columns=[f"x{i}" for i in range(matrix.shape[1])]).infer_objects()
