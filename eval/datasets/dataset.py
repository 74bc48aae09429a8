"""Load a data set: features as numbers or as a frame, labels as class numbers."""

from __future__ import annotations

import dataclasses
import hashlib
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..config.data_paths import format_of
from ..config.dataset_spec import DatasetSpec, Missing
from ..errors import ConfigError
from ..models.input_form import Form
from .encoding import Encoding, FeatureEncoder, Features, check_features, is_number, update_with_frame
from .files import SVMLIGHT_TARGET, CsvOptions, read_files
from .given_labels import choose_rows, encode_all_labels, read_given_labels
from .inspection import describe_numbers_as_text, parse_dates
from .named_sets import load_openml, load_set
from .row_columns import check_split, find_column, read_groups, read_split, read_weights

# Fixed seed for drawing rows, so that a data set is the same in every run.
SEED = 0


@dataclass(frozen=True, eq=False)
class Dataset:
    """Data set with features and encoded labels.

    Attributes
    ----------
    name : str
    X : float64 array or DataFrame of shape (n_samples, n_features)
        Features: an array if all columns are numbers and none is imputed.
    y : int64 array of shape (n_samples,)
        Class numbers.
    classes : ndarray of shape (n_classes,)
        Sorted labels.
    is_test : bool array of shape (n_samples,) or None
        Whether each row is a test row; None if the split is random.
    columns : tuple of str
        Names of the features, for frames made of an array.
    encoding : Encoding
        How features are converted for models.
    groups : int64 array of shape (n_samples,) or None
        Number of the group of each row.  Rows of a group stay together.
    weights : float64 array of shape (n_samples,) or None
        Weight of each row in training.
    rows : int64 array of shape (n_samples,) or None
        Number of each row in the source, from 0.
    train_rows : int or None
        Number of rows that are drawn from the training rows; None for all of them.
    is_known : bool array of shape (n_samples,) or None
        Whether each true label is known; None if all are.  Where it is unknown, `y` has a noisy label.
    noisy : dict of str to int64 array of shape (n_samples,)
        Given noisy labels by name, as class numbers; -1 if a test row has none.
    answers : int64 array of shape (n_samples, n_annotators) or None
        Labels of annotators, as class numbers; -1 if one gave none.
    """

    name: str
    X: Features
    y: NDArray[np.int64]
    classes: NDArray[Any]
    is_test: NDArray[np.bool_] | None = None
    columns: tuple[str, ...] = ()
    encoding: Encoding = dataclasses.field(default_factory=Encoding)
    groups: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    rows: NDArray[np.int64] | None = None
    train_rows: int | None = None
    is_known: NDArray[np.bool_] | None = None
    noisy: dict[str, NDArray[np.int64]] = dataclasses.field(default_factory=dict)
    answers: NDArray[np.int64] | None = None

    def take(self, rows: NDArray[np.int64]) -> Dataset:
        """Select rows by position."""
        return dataclasses.replace(
            self,
            X=self.X.iloc[rows] if isinstance(self.X, pd.DataFrame) else self.X[rows],
            y=self.y[rows],
            is_test=None if self.is_test is None else self.is_test[rows],
            groups=None if self.groups is None else self.groups[rows],
            weights=None if self.weights is None else self.weights[rows],
            rows=None if self.rows is None else self.rows[rows],
            is_known=None if self.is_known is None else self.is_known[rows],
            noisy={name: labels[rows] for name, labels in self.noisy.items()},
            answers=None if self.answers is None else self.answers[rows],
        )

    def features(self, form: Form, train: NDArray[np.int64], *parts: NDArray[np.int64]) -> list[Features]:
        """Features of parts of the rows, in the form that a model takes.

        Parameters
        ----------
        form : Form
            See `input_form`.  Replaced with "numbers" if the config says so, or if all features are numbers and
            the model needs no frame.
        train : int array
            Rows that medians, frequent values and categories are read from.
        *parts : int array
            Rows to convert.
        """
        frame, asked = self.X, self.encoding.features
        if asked == "numbers":
            form = "numbers"
        if isinstance(frame, np.ndarray):
            if form == "numbers" or (asked is None and form != "frame"):
                return [frame[rows] for rows in parts]
            frame = pd.DataFrame(frame, columns=list(self.columns) or None)
        encoder = FeatureEncoder(form, self.encoding).fit(frame.iloc[train])
        return [encoder.transform(frame.iloc[rows]) for rows in parts]

    @property
    def fingerprint(self) -> str:
        """Hash of features, class numbers, given split, groups and weights, in order, without the name.

        Noisy labels are not part of it, because cells without noise do not depend on them.
        """
        digest = hashlib.sha256()
        digest.update(repr(self.X.shape).encode())
        if isinstance(self.X, pd.DataFrame):
            update_with_frame(digest, self.X)
            digest.update(repr(self.encoding).encode())
        else:
            digest.update(np.ascontiguousarray(self.X, dtype="<f8").tobytes())
            if self.encoding.features == "frame":
                digest.update(repr(self.columns).encode(errors="surrogatepass"))
        digest.update(np.ascontiguousarray(self.y, dtype="<i8").tobytes())
        if self.is_test is not None:
            digest.update(np.ascontiguousarray(self.is_test, dtype="u1").tobytes())
        if self.groups is not None:
            digest.update(b"groups" + np.ascontiguousarray(self.groups, dtype="<i8").tobytes())
        if self.weights is not None:
            digest.update(b"weights" + np.ascontiguousarray(self.weights, dtype="<f8").tobytes())
        if self.train_rows is not None:
            digest.update(b"train rows" + str(self.train_rows).encode())
        if self.is_known is not None:
            digest.update(b"known" + np.ascontiguousarray(self.is_known, dtype="u1").tobytes())
        return digest.hexdigest()


def load_dataset(spec: DatasetSpec) -> Dataset:
    """Read and check a data set, and encode its labels.

    The steps are: read the split, set groups and weights aside, drop columns, rows without a label and (with
    ``"missing": "drop_rows"``) incomplete rows, encode the labels, draw at most `max_rows` rows.  Rows without
    a label cause a warning.  The draw is stratified by class, and by training and test rows if the split is
    given, with at least one row of each stratum.  It keeps the order of the rows and has a fixed seed, so the
    data set is the same in every run.

    Raises
    ------
    ConfigError
        If the source cannot be read or is empty, a named column does not exist, all labels are missing, labels
        are infinite or continuous, there is only one class, the split, the groups or the weights are unusable,
        or a column has neither numbers, nor dates, nor text.
    """
    where = f"data set {spec.name!r}"
    frame, target, is_test = _read(spec, where)
    dropped = [find_column(frame, column, "drop", where) for column in spec.drop]
    if target in dropped:
        raise ConfigError(f"{where}: drop names the target {target!r}")
    frame = frame.reset_index(drop=True)
    about = pd.DataFrame({"row": np.arange(len(frame))})  # what else is known of each row
    if is_test is not None:
        about["split"] = is_test
    names = {}
    for key in ("split", "group", "weight"):
        column = getattr(spec, key)
        if column is not None:
            names[key] = name = find_column(frame, column, key, where)
            if name == target:
                raise ConfigError(f"{where}: {key} names the target {target!r}")
            about[key] = read_split(frame[name], where) if key == "split" else frame[name]
    given = read_given_labels(frame, spec, _is_test(about), where)
    if target in given.columns:
        raise ConfigError(f"{where}: noisy labels must not be those of the target {target!r}")
    dropped += [*names.values(), *given.columns]
    dates = [find_column(frame, column, "dates", where) for column in spec.dates]
    frame = frame.drop(columns=dropped)
    if len(frame) == 0:
        raise ConfigError(f"{where}: has no rows")
    used, is_test = choose_rows(frame[target], given, _is_test(about), spec, where)
    if is_test is not None:
        about["split"] = is_test
    if spec.missing == "drop_rows":
        used = used & frame.drop(columns=target).notna().all(axis=1).to_numpy()
        if not used.any():
            raise ConfigError(f"{where}: every row has a missing value")
    frame, about = frame[used], about[used]
    labels = encode_all_labels(frame[target], given.take(frame.index), spec.positive, where)
    y, classes = labels.y, labels.classes
    if spec.max_rows is not None and spec.max_rows < len(frame):
        strata = y + classes.size * about["split"].to_numpy() if "split" in about else y
        if spec.unchecked == "train":  # checked rows are few and precious
            drawn = _draw_unchecked(y, about["split"].to_numpy(), spec.max_rows, where)
        else:
            drawn = draw_rows(strata, spec.max_rows, where)
        frame, about, labels = frame.iloc[drawn], about.iloc[drawn], labels.take(drawn)
        y = labels.y
    is_test = _is_test(about)
    groups = read_groups(about["group"].rename(names["group"]), where) if "group" in about else None
    weights = read_weights(about["weight"].rename(names["weight"]), y, where) if "weight" in about else None
    if is_test is not None:
        check_split(y, is_test, groups, where)
    features = frame.drop(columns=target)
    for name in dates:
        if name in features:
            features[name] = parse_dates(features[name], spec.date_format, where)
    for name in features:
        if remark := describe_numbers_as_text(features[name]):
            warnings.warn(f"{where}: {remark}", stacklevel=2)
    features = check_features(features, spec.missing, where)
    columns = tuple(map(str, features.columns))
    encoding = Encoding(spec.features, spec.categorical, spec.missing)
    X = _to_array(features, spec.missing)
    rows: NDArray[np.int64] = about["row"].to_numpy(dtype=np.int64)
    return Dataset(
        spec.name,
        X,
        y,
        classes,
        is_test,
        columns,
        encoding,
        groups=groups,
        weights=weights,
        rows=rows,
        train_rows=spec.train_rows if isinstance(spec.train_rows, int) else None,
        is_known=labels.is_known,
        noisy=labels.noisy,
        answers=labels.answers,
    )


def _is_test(about: pd.DataFrame) -> NDArray[np.bool_] | None:
    """Whether each row is a test row; None if the split is random."""
    return about["split"].to_numpy() if "split" in about else None


def _to_array(features: pd.DataFrame, missing: Missing) -> Features:
    """Array of features that are all numbers and not imputed; otherwise the frame itself."""
    if not is_number(features).all() or (missing == "impute" and features.isna().any(axis=None)):
        return features.set_axis(features.columns.map(str), axis=1)
    return np.ascontiguousarray(features.to_numpy(dtype=np.float64))


def _read(spec: DatasetSpec, where: str) -> tuple[pd.DataFrame, Any, NDArray[np.bool_] | None]:
    """Read all columns; also return the target column, and which rows are from the test file."""
    if spec.set is not None:
        return *load_set(spec.set, where), None
    if spec.openml is not None:
        frame, target = load_openml(spec.openml, spec.target, where)
        return frame, find_column(frame, target, "target", where), None
    paths = [path for path in (spec.path, spec.test_path) if path is not None]
    formats = [spec.format or str(format_of(path)) for path in paths]
    csv = CsvOptions(spec.separator, spec.decimal, spec.encoding, spec.missing_values or ())
    tables = read_files(paths, formats, where, csv)
    target = SVMLIGHT_TARGET if spec.target is None else find_column(tables[0], spec.target, "target", where)
    if len(tables) == 1:
        return tables[0], target, None
    return pd.concat(tables, ignore_index=True), target, np.repeat([False, True], [len(t) for t in tables])


def _draw_unchecked(
    y: NDArray[np.int64], is_test: NDArray[np.bool_], max_rows: int, where: str
) -> NDArray[np.int64]:
    """Draw training rows only; test rows are all kept, and count."""
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    n_train = max(max_rows - test.size, np.unique(y[train]).size)
    if n_train >= train.size:
        return np.arange(y.size)
    return np.sort(np.concatenate([test, train[draw_rows(y[train], n_train, where)]]))


def draw_rows(groups: NDArray[np.int64], n_rows: int, where: str, seed: int = SEED) -> NDArray[np.int64]:
    """Draw rows, stratified by group and with at least one row of each; return their sorted positions.

    Parameters
    ----------
    groups : int array of shape (n_samples,)
    n_rows : int
    where : str
        Prefix of error messages.
    seed : int, default=0
        With the same seed, fewer rows are part of more rows.

    Raises
    ------
    ConfigError
        If there are more groups than rows to draw.
    """
    _, groups, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if sizes.size > n_rows:
        raise ConfigError(f"{where}: max_rows is {n_rows}, too few for {sizes.size} classes")
    shuffled = np.random.RandomState(seed).permutation(groups.size)
    by_group = shuffled[np.argsort(groups[shuffled], kind="stable")]
    rank = np.concatenate([np.arange(size) / size for size in sizes])  # from 0 to 1 in each group
    return np.sort(by_group[np.argsort(rank, kind="stable")[:n_rows]])
