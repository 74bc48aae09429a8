"""Load a data set: read its source, choose and draw rows, and encode labels and features."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..config.data_paths import format_of
from ..config.dataset_spec import Column, DatasetSpec, Missing
from ..errors import ConfigError
from .dataset import Dataset, draw_rows
from .encoding import Encoding, Features, check_features, is_number
from .files import SVMLIGHT_TARGET, CsvOptions, read_files
from .given_labels import (
    EncodedLabels,
    GivenLabels,
    choose_rows,
    encode_all_labels,
    encode_checked,
    read_given_labels,
)
from .inspection import describe_numbers_as_text, parse_dates
from .named_sets import load_openml, load_set
from .row_columns import (
    check_split,
    find_column,
    group_copies,
    read_groups,
    read_noise_rates,
    read_split,
    read_weights,
)


def load_dataset(spec: DatasetSpec) -> Dataset:
    """Read and check a data set, and encode its labels.

    The steps are: read the split, set groups, weights and noise rates aside, drop columns, rows without a label
    and (with ``"missing": "drop_rows"``) incomplete rows, encode the labels, draw at most `max_rows` rows.
    Rows without a label cause a warning.  The draw is stratified by class, and by training and test rows if
    the split is given, with at least one row of each stratum.  It keeps the order of the rows and has a fixed
    seed, so the data set is the same in every run.

    Raises
    ------
    ConfigError
        If the source cannot be read or is empty, a named column does not exist, all labels are missing, labels
        are infinite or continuous, there is only one class, the split, groups, weights or noise rates are
        unusable, or a column has neither numbers, nor dates, nor text.
    """
    context = f"data set {spec.name!r}"
    source = _read_source(spec, context)
    used, is_test = choose_rows(source.labels, source.given, source.is_test, spec, context)
    if spec.missing == "drop_rows":
        used = used & source.features.notna().all(axis=1).to_numpy()
        if not used.any():
            raise ConfigError(f"{context}: every row has a missing value")
    source = dataclasses.replace(source, is_test=is_test).take(np.flatnonzero(used))
    labels = encode_all_labels(source.labels, source.given, spec.positive, context)
    if spec.labels == "noisy":
        labels = encode_checked(labels, source.labels, source.checked, context)
    if spec.max_rows is not None and spec.max_rows < labels.y.size:
        drawn = _draw(labels, source.is_test, spec.max_rows, context, keep_test=spec.unchecked == "train")
        source, labels = source.take(drawn), labels.take(drawn)
    groups = None if source.groups is None else read_groups(source.groups, context)
    if spec.copies == "together":
        groups = group_copies(source.features, context)
    weights = None if source.weights is None else read_weights(source.weights, labels.y, context)
    if source.is_test is not None:
        check_split(labels.y, source.is_test, groups, context)
    features = _parse_features(source.features, spec, source.dates, context)
    return Dataset(
        name=spec.name,
        X=_to_array(features, spec.missing),
        y=labels.y,
        classes=labels.classes,
        is_test=source.is_test,
        columns=tuple(map(str, features.columns)),
        encoding=Encoding(spec.features, spec.categorical, spec.missing),
        groups=groups,
        weights=weights,
        noise_rates=None if source.noise_rates is None else read_noise_rates(source.noise_rates, context),
        rows=source.features.index.to_numpy(dtype=np.int64),
        train_rows=spec.train_rows if isinstance(spec.train_rows, int) else None,
        is_known=labels.is_known,
        noisy=labels.noisy,
        answers=labels.answers,
        checked=labels.checked,
    )


@dataclass(frozen=True, eq=False)
class _Source:
    """Columns of a data set by their role.  The index of all frames is the number of the row in the source.

    Attributes
    ----------
    features : DataFrame
    labels : Series
        Column of the target.
    is_test : bool array or None
        Whether each row is a test row; None if the split is random.
    groups, weights, noise_rates, checked : Series or None
    given : GivenLabels
    dates : list
        Columns of dates.
    """

    features: pd.DataFrame
    labels: pd.Series[Any]
    is_test: NDArray[np.bool_] | None
    groups: pd.Series[Any] | None
    weights: pd.Series[Any] | None
    noise_rates: pd.Series[Any] | None
    checked: pd.Series[Any] | None
    given: GivenLabels
    dates: list[Any]

    def take(self, rows: NDArray[np.int64]) -> _Source:
        """Select rows by position."""
        return _Source(
            self.features.iloc[rows],
            self.labels.iloc[rows],
            None if self.is_test is None else self.is_test[rows],
            None if self.groups is None else self.groups.iloc[rows],
            None if self.weights is None else self.weights.iloc[rows],
            None if self.noise_rates is None else self.noise_rates.iloc[rows],
            None if self.checked is None else self.checked.iloc[rows],
            self.given.take(self.labels.index[rows]),
            self.dates,
        )


def _read_source(spec: DatasetSpec, context: str) -> _Source:
    """Read all columns and divide them by role."""
    frame, target, is_test = _read(spec, context)
    frame = frame.reset_index(drop=True)

    def find(column: Column | None, key: str) -> Any:
        """Find a column that is not the target; None for no column."""
        if column is None:
            return None
        name = find_column(frame, column, key, context)
        if name == target:
            raise ConfigError(f"{context}: {key} names the target {target!r}")
        return name

    dropped = [find(column, "drop") for column in spec.drop]
    keys = ("split", "group", "weight", "rate_column", "checked")
    split, group, weight, noise_rate, checked = (find(getattr(spec, key), key) for key in keys)
    if split is not None:
        is_test = read_split(frame[split], context)
    given = read_given_labels(frame, spec, is_test, context)
    if target in given.columns:
        raise ConfigError(f"{context}: noisy labels must not be those of the target {target!r}")
    dates = [find_column(frame, column, "dates", context) for column in spec.dates]
    if len(frame) == 0:
        raise ConfigError(f"{context}: has no rows")
    special = [name for name in (split, group, weight, noise_rate, checked) if name is not None]
    return _Source(
        features=frame.drop(columns=[target, *dropped, *special, *given.columns]),
        labels=frame[target],
        is_test=is_test,
        groups=None if group is None else frame[group],
        weights=None if weight is None else frame[weight],
        noise_rates=None if noise_rate is None else frame[noise_rate],
        checked=None if checked is None else frame[checked],
        given=given,
        dates=dates,
    )


def _read(spec: DatasetSpec, context: str) -> tuple[pd.DataFrame, Any, NDArray[np.bool_] | None]:
    """Read all columns; also return the target column, and which rows are from the test file."""
    if spec.set is not None:
        return *load_set(spec.set, context), None
    if spec.openml is not None:
        frame, target = load_openml(spec.openml, spec.target, context)
        return frame, find_column(frame, target, "target", context), None
    paths = [path for path in (spec.path, spec.test_path) if path is not None]
    formats = [spec.format or str(format_of(path)) for path in paths]
    csv = CsvOptions(spec.separator, spec.decimal, spec.encoding, spec.missing_values or ())
    tables = read_files(paths, formats, context, csv)
    target = SVMLIGHT_TARGET if spec.target is None else find_column(tables[0], spec.target, "target", context)
    if len(tables) == 1:
        return tables[0], target, None
    return pd.concat(tables, ignore_index=True), target, np.repeat([False, True], [len(t) for t in tables])


def _draw(
    labels: EncodedLabels, is_test: NDArray[np.bool_] | None, max_rows: int, context: str, *, keep_test: bool
) -> NDArray[np.int64]:
    """Draw rows, stratified by class and by training and test rows; `keep_test` keeps all test rows."""
    y = labels.y
    if is_test is None:
        return draw_rows(y, max_rows, context)
    if not keep_test:
        return draw_rows(y + labels.classes.size * is_test, max_rows, context)
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    n_train = max(max_rows - test.size, np.unique(y[train]).size)
    if n_train >= train.size:
        return np.arange(y.size)
    return np.sort(np.concatenate([test, train[draw_rows(y[train], n_train, context)]]))


def _parse_features(features: pd.DataFrame, spec: DatasetSpec, dates: list[Any], context: str) -> pd.DataFrame:
    """Parse dates, warn of numbers that are read as text, and check the columns."""
    features = features.copy(deep=False)
    for name in dates:
        if name in features:
            features[name] = parse_dates(features[name], spec.date_format, context)
    for name in features:
        if remark := describe_numbers_as_text(features[name]):
            warnings.warn(f"{context}: {remark}", stacklevel=3)
    return check_features(features, spec.missing, context)


def _to_array(features: pd.DataFrame, missing: Missing) -> Features:
    """Array of features that are all numbers and not imputed; otherwise the frame itself."""
    if not is_number(features).all() or (missing == "impute" and features.isna().any(axis=None)):
        return features.set_axis(features.columns.map(str), axis=1)
    return np.ascontiguousarray(features.to_numpy(dtype=np.float64))
