"""Data sets: scikit-learn's bundled ones, and CSV or Parquet files."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .config import DatasetSpec
from .errors import ConfigError

MAX_CATEGORIES = 255


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set ready to fit.

    Attributes
    ----------
    name : str
    X : float64 array of shape (n_samples, n_features)
    y : int64 array of shape (n_samples,)
        Class numbers.
    classes : ndarray of shape (n_classes,)
        The sorted labels.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    classes: NDArray[Any]

    @property
    def fingerprint(self) -> str:
        """Hash of the features, the labels and their order; not of the name."""
        digest = hashlib.sha256()
        digest.update(repr(self.X.shape).encode())
        digest.update(np.ascontiguousarray(self.X, dtype="<f8").tobytes())
        digest.update(np.ascontiguousarray(self.y, dtype="<i8").tobytes())
        return digest.hexdigest()


def load_dataset(spec: DatasetSpec) -> Dataset:
    """Read a data set and check that it can be learnt from.

    Columns of text become one column of zeros and ones per value.

    Raises
    ------
    ConfigError
        If the file cannot be read or is empty, the target is not one of its columns, a label or value is
        missing or infinite, there is only one class, or a column of text holds too many different values.
    """
    where = f"data set {spec.name!r}"
    if spec.path is None:
        frame, target = _load_bundled(spec.name)
    else:
        frame = read_table(spec.path, where)
        target = _find_target(frame, spec.target, where)
    if len(frame) == 0:
        raise ConfigError(f"{where}: holds no row")
    labels = frame[target]
    if labels.isna().any():
        raise ConfigError(f"{where}: {labels.isna().sum()} labels in column {target!r} are missing")
    if pd.api.types.is_float_dtype(labels) and not np.isfinite(labels).all():
        raise ConfigError(f"{where}: labels in column {target!r} are infinite")
    try:
        classes, y = np.unique(labels.to_numpy(), return_inverse=True)
    except (TypeError, ValueError):
        raise ConfigError(f"{where}: column {target!r} holds labels that cannot be sorted") from None
    if classes.size < 2:
        raise ConfigError(f"{where}: needs two classes at least, found only {classes.tolist()[0]!r}")
    if classes.size > len(frame) / 2:
        raise ConfigError(
            f"{where}: column {target!r} holds {classes.size} different labels in {len(frame)} rows; "
            "is it the right target?"
        )
    X = _encode_features(frame.drop(columns=target), where)
    return Dataset(spec.name, X, y.astype(np.int64), classes)


def _load_bundled(name: str) -> tuple[pd.DataFrame, str]:
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(as_frame=True).frame, "target"


def read_table(path: str, where: str) -> pd.DataFrame:
    """A CSV or Parquet file; a ConfigError that begins with `where` if it cannot be read."""
    if not Path(path).is_file():
        raise ConfigError(f"{where}: no such file: {path}")
    try:
        frame = pd.read_parquet(path) if path.lower().endswith(".parquet") else pd.read_csv(path)
    except pd.errors.EmptyDataError:
        raise ConfigError(f"{where}: the file is empty: {path}") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{where}: {path} cannot be read: {' '.join(str(error).split())}") from None
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise ConfigError(f"{where}: several columns are named {repeated[0]!r}")
    return frame


def _find_target(frame: pd.DataFrame, target: str | int | None, where: str) -> Any:
    if isinstance(target, int):
        if not -frame.shape[1] <= target < frame.shape[1]:
            raise ConfigError(f"{where}: target is column {target}, but there are {frame.shape[1]} columns")
        return frame.columns[target]
    if target not in frame.columns:
        columns = ", ".join(map(str, frame.columns[:20])) + (", ..." if frame.shape[1] > 20 else "")
        raise ConfigError(f"{where}: target {target!r} is not a column; columns are {columns}")
    return target


def _encode_features(frame: pd.DataFrame, where: str) -> NDArray[np.float64]:
    if frame.shape[1] == 0:
        raise ConfigError(f"{where}: has no column but the target")
    missing = frame.columns[frame.isna().any()]
    if len(missing):
        raise ConfigError(
            f"{where}: {len(missing)} columns have missing values, the first {missing[0]!r}; fill or drop them"
        )
    text = [c for c in frame.columns if not pd.api.types.is_numeric_dtype(frame[c])]
    for column in text:
        try:
            n_values = frame[column].nunique()
        except TypeError:
            raise ConfigError(f"{where}: column {column!r} holds neither numbers nor text") from None
        if n_values > MAX_CATEGORIES:
            raise ConfigError(
                f"{where}: column {column!r} holds text with {n_values} different values, more than "
                f"{MAX_CATEGORIES}; drop or encode it"
            )
    X: NDArray[np.float64] = pd.get_dummies(frame, columns=text).to_numpy(dtype=np.float64)
    if not np.isfinite(X).all():
        raise ConfigError(f"{where}: has infinite values")
    return np.ascontiguousarray(X)
