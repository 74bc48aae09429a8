"""Data sets: from what the config says of one to its matrix of features and its classes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..config.dataset_spec import FORMAT_OF_SUFFIX, Column, DatasetSpec
from ..errors import ConfigError
from .encoding import code_features
from .files import SVMLIGHT_TARGET, read_files
from .named_sets import load_openml, load_set

# Rows are drawn with a seed of their own: a data set is the same in every run.
SEED = 0


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set ready to fit.

    Attributes
    ----------
    name : str
    X : float64 array of shape (n_samples, n_features)
        NaN for a missing value that is to be kept.
    y : int64 array of shape (n_samples,)
        Class numbers.
    classes : ndarray of shape (n_classes,)
        The sorted labels.
    is_test : bool array of shape (n_samples,) or None
        Which rows are tested on; None if that is left to chance.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    classes: NDArray[Any]
    is_test: NDArray[np.bool_] | None = None

    @property
    def fingerprint(self) -> str:
        """Hash of the features, the labels, their order and, if it is given, the split; not of the name."""
        digest = hashlib.sha256()
        digest.update(repr(self.X.shape).encode())
        digest.update(np.ascontiguousarray(self.X, dtype="<f8").tobytes())
        digest.update(np.ascontiguousarray(self.y, dtype="<i8").tobytes())
        if self.is_test is not None:
            digest.update(np.ascontiguousarray(self.is_test, dtype="u1").tobytes())
        return digest.hexdigest()


def load_dataset(spec: DatasetSpec) -> Dataset:
    """Read a data set and check that it can be learnt from.

    In this order: the split is told apart, columns and, if asked for, incomplete rows are dropped, labels
    become classes, at most `max_rows` rows are drawn, and features become numbers.  The draw keeps the order of
    the rows and, as nearly as can be, the shares of the classes (in training and test rows each, where the
    split is given), with one row of each at least.  Its seed is fixed: the data set is the same in every run.

    Raises
    ------
    ConfigError
        If the source cannot be read or is empty, a column that is named is not there, a label is missing or
        infinite, there is only one class, or a value is none that can be learnt from.
    """
    where = f"data set {spec.name!r}"
    frame, target, is_test = _read(spec, where)
    dropped = [_find_column(frame, column, "drop", where) for column in spec.drop]
    if target in dropped:
        raise ConfigError(f"{where}: drop names the target {target!r}")
    if spec.split is not None:
        split = _find_column(frame, spec.split, "split", where)
        if split == target:
            raise ConfigError(f"{where}: split names the target {target!r}")
        is_test = _told_by(frame[split], where)
        dropped.append(split)
    frame = frame.drop(columns=dropped)
    if len(frame) == 0:
        raise ConfigError(f"{where}: holds no row")
    if spec.missing == "drop_rows":
        rows = frame.notna().all(axis=1).to_numpy()
        if not rows.any():
            raise ConfigError(f"{where}: every row has a missing value")
        frame, is_test = frame[rows], None if is_test is None else is_test[rows]
    classes, y = _code_labels(frame[target], spec.positive, where)
    if spec.max_rows is not None and spec.max_rows < len(frame):
        drawn = draw_rows(y if is_test is None else y + classes.size * is_test, spec.max_rows, where)
        frame, y, is_test = frame.iloc[drawn], y[drawn], None if is_test is None else is_test[drawn]
    if is_test is not None:
        _check_split(y, is_test, where)
    X = code_features(frame.drop(columns=target), spec.categorical, spec.missing, where)
    return Dataset(spec.name, X, y, classes, is_test)


def _read(spec: DatasetSpec, where: str) -> tuple[pd.DataFrame, Any, NDArray[np.bool_] | None]:
    """All columns, which of them is the target, and the rows that a second file holds."""
    if spec.set is not None:
        return *load_set(spec.set, where), None
    if spec.openml is not None:
        frame, target = load_openml(spec.openml, spec.target, where)
        return frame, _find_column(frame, target, "target", where), None
    paths = [path for path in (spec.path, spec.test_path) if path is not None]
    formats = [spec.format or FORMAT_OF_SUFFIX[Path(path).suffix.lower()] for path in paths]
    tables = read_files(paths, formats, where, spec.separator or ",")
    target = SVMLIGHT_TARGET if spec.target is None else _find_column(tables[0], spec.target, "target", where)
    if len(tables) == 1:
        return tables[0], target, None
    return pd.concat(tables, ignore_index=True), target, np.repeat([False, True], [len(t) for t in tables])


def _find_column(frame: pd.DataFrame, column: Column, key: str, where: str) -> Any:
    if isinstance(column, int):
        if not -frame.shape[1] <= column < frame.shape[1]:
            raise ConfigError(f"{where}: {key} is column {column}, but there are {frame.shape[1]} columns")
        return frame.columns[column]
    if column not in frame.columns:
        names = [str(name) if str(name).isprintable() else repr(name) for name in frame.columns[:20]]
        columns = ", ".join(names) + (", ..." if frame.shape[1] > 20 else "")
        raise ConfigError(f"{where}: {key} {column!r} is not a column; columns are {columns}")
    return column


def _told_by(split: pd.Series[Any], where: str) -> NDArray[np.bool_]:
    is_test = split.isin(["test"]).to_numpy()
    strange = split[~is_test & ~split.isin(["train"]).to_numpy()]
    if len(strange):
        found = strange.tolist()[0]
        raise ConfigError(f"{where}: column {split.name!r} must hold 'train' or 'test', found {found!r}")
    return np.asarray(is_test, dtype=np.bool_)


def _code_labels(
    labels: pd.Series[Any], positive: list[Any] | None, where: str
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    target = labels.name
    if labels.isna().any():
        raise ConfigError(
            f"{where}: {labels.isna().sum()} labels in column {target!r} are missing; "
            '"missing": "drop_rows" leaves such rows out, and those with missing features'
        )
    if pd.api.types.is_float_dtype(labels) and not np.isfinite(labels).all():
        raise ConfigError(f"{where}: labels in column {target!r} are infinite")
    try:
        classes, y = np.unique(labels.to_numpy(), return_inverse=True)
    except (TypeError, ValueError):
        raise ConfigError(f"{where}: column {target!r} holds labels that cannot be sorted") from None
    if classes.size < 2:
        raise ConfigError(f"{where}: needs two classes at least, found only {classes.tolist()[0]!r}")
    if classes.size > len(labels) / 2:
        raise ConfigError(
            f"{where}: column {target!r} holds {classes.size} different labels in {len(labels)} rows; "
            "is it the right target?"
        )
    if positive is None:
        return classes, y.astype(np.int64)
    found = classes.tolist()
    for label in positive:
        if label not in found:
            known = ", ".join(map(repr, found[:20])) + (", ..." if classes.size > 20 else "")
            raise ConfigError(f"{where}: positive names {label!r}, which is no label; labels are {known}")
    is_positive = np.array([label in positive for label in found])
    if is_positive.all():
        raise ConfigError(f"{where}: positive names all labels; some must be left for the other class")
    return np.array(["negative", "positive"]), is_positive[y].astype(np.int64)


def draw_rows(groups: NDArray[np.int64], n_rows: int, where: str) -> NDArray[np.int64]:
    """Rows, in order, that hold each group in about its share, and once at least.

    Raises
    ------
    ConfigError
        If there are more groups than rows to be drawn; it begins with `where`.
    """
    _, groups, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if sizes.size > n_rows:
        raise ConfigError(f"{where}: max_rows is {n_rows}, too few for {sizes.size} classes")
    shuffled = np.random.RandomState(SEED).permutation(groups.size)
    by_group = shuffled[np.argsort(groups[shuffled], kind="stable")]
    place = np.concatenate([np.arange(size) / size for size in sizes])  # from 0 to 1 within each group
    return np.sort(by_group[np.argsort(place, kind="stable")[:n_rows]])


def _check_split(y: NDArray[np.int64], is_test: NDArray[np.bool_], where: str) -> None:
    if not is_test.any() or is_test.all():
        raise ConfigError(f"{where}: the split leaves no row to {'train' if is_test.any() else 'test'} on")
    if np.unique(y[~is_test]).size < 2:
        raise ConfigError(f"{where}: the training rows of the split hold one class only")
