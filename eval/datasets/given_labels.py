"""Labels of a data set in addition to its target: noisy ones, those of annotators, and checked ones."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._wording import joined, numbered
from ..config.annotators_spec import AnnotatorsSpec
from ..config.data_paths import format_of
from ..config.dataset_spec import DatasetSpec
from ..errors import ConfigError
from .files import read_files
from .labels import encode_labels, rows_with_label
from .row_columns import check_single_values, find_column

Rows = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class GivenLabels:
    """Noisy labels as in the source.

    Attributes
    ----------
    labels : DataFrame
        One column per name of noisy labels.  The index has the numbers of the rows in the source.
    answers : DataFrame or None
        Labels of the annotators, one column for each, with the same index.
    columns : list
        Columns of the source that are no features.
    """

    labels: pd.DataFrame
    answers: pd.DataFrame | None = None
    columns: list[Any] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether there are no noisy labels."""
        return not len(self.labels.columns) and self.answers is None

    def take(self, rows: Any) -> GivenLabels:
        """Select rows by their numbers in the source."""
        answers = None if self.answers is None else self.answers.loc[rows]
        return GivenLabels(self.labels.loc[rows], answers, self.columns)

    @property
    def in_row(self) -> Rows:
        """Whether each row has all kinds of noisy labels."""
        rows: Rows = self.labels.notna().all(axis=1).to_numpy()
        return rows if self.answers is None else rows & self.answers.notna().any(axis=1).to_numpy()


def read_given_labels(
    frame: pd.DataFrame, spec: DatasetSpec, is_test: NDArray[np.bool_] | None, context: str
) -> GivenLabels:
    """Read the noisy labels of a data set.

    Parameters
    ----------
    frame : DataFrame
        All columns of the source; the index is the number of the row.
    spec : DatasetSpec
    is_test : bool array or None
        Whether each row is a test row.
    context : str
        Prefix of error messages.

    Raises
    ------
    ConfigError
        If a column does not exist, or the file of the annotators cannot be read or does not fit the data set.
    """
    found = {
        name: find_column(frame, column, f"noisy ({name})", context) for name, column in spec.noisy.items()
    }
    labels = pd.DataFrame({name: frame[column] for name, column in found.items()}, index=frame.index)
    columns = list(found.values())
    if spec.annotators is None:
        return GivenLabels(labels, None, columns)
    if spec.annotators.columns is not None:
        chosen = [find_column(frame, column, "annotators", context) for column in spec.annotators.columns]
        _check_distinct(chosen, "annotators", context)
        return GivenLabels(labels, frame[chosen], columns + chosen)
    identity = None
    if spec.annotators.id is not None:
        identity = find_column(frame, spec.annotators.id, "id of annotators", context)
        columns.append(identity)
    return GivenLabels(labels, _read_answers(frame, spec.annotators, identity, is_test, context), columns)


def _read_answers(
    frame: pd.DataFrame, spec: AnnotatorsSpec, identity: Any, is_test: NDArray[np.bool_] | None, context: str
) -> pd.DataFrame:
    path = str(spec.path)
    (table,) = read_files([path], [str(format_of(path))], context)
    if spec.row is None:
        train = frame.index if is_test is None else frame.index[~is_test]
        if len(table) not in (len(frame), len(train)):
            raise ConfigError(
                f"{context}: {path} has {len(table)} rows, but the data set has {len(frame)}"
                + ("" if is_test is None else f", {len(train)} of them for training")
                + "; both must have the same rows in the same order"
            )
        check_single_values(table, f"{context}: {path}")
        return table.set_axis(train if len(table) == len(train) else frame.index).reindex(frame.index)
    named = [key for key in (spec.row, spec.annotator, spec.label) if key is not None]
    row, annotator, label = (find_column(table, column, f"file {path}:", context) for column in named)
    _check_distinct([row, annotator, label], path, context)
    table = table[[row, annotator, label]].dropna()
    twice = table[table.duplicated([row, annotator])]
    if len(twice):
        raise ConfigError(
            f"{context}: {path} has two labels by annotator {twice[annotator].tolist()[0]!r} "
            f"for row {twice[row].tolist()[0]!r}"
        )
    rows = pd.Index(frame.index if identity is None else frame[identity])
    if not rows.is_unique:
        raise ConfigError(f"{context}: column {identity!r} has {rows[rows.duplicated()].tolist()[0]!r} twice")
    unknown = table[~table[row].isin(rows)]
    if len(unknown):
        raise ConfigError(
            f"{context}: {path} has a label for row {unknown[row].tolist()[0]!r}, which is not in the data set"
        )
    return table.pivot(index=row, columns=annotator, values=label).reindex(rows).set_axis(frame.index)


def _check_distinct(columns: list[Any], key: str, context: str) -> None:
    for column in columns:
        if columns.count(column) > 1:
            raise ConfigError(f"{context}: {key}: column {column!r} is named twice")


def choose_rows(
    true: pd.Series[Any], given: GivenLabels, is_test: Rows | None, spec: DatasetSpec, context: str
) -> tuple[Rows, Rows | None]:
    """Choose the rows that have the labels they need, and those of the test; warn if rows are removed.

    Returns
    -------
    used : bool array of shape (n_samples,)
    is_test : bool array of shape (n_samples,) or None
    """
    if given.is_empty:
        return rows_with_label(true, context), is_test
    has_true: Rows = true.notna().to_numpy()
    if spec.unchecked == "drop":
        hint = '; set "unchecked": "train" to train on the noisy labels of the rows without a label'
        used = rows_with_label(true, context, hint)
        needs_given = np.ones(used.size, dtype=bool) if is_test is None else ~is_test
    else:
        if not has_true.any():
            raise ConfigError(f"{context}: column {true.name!r} has no labels; test rows need true labels")
        is_test = has_true if is_test is None else is_test
        used = ~is_test | has_true
        needs_given = ~is_test
    without = used & needs_given & ~given.in_row
    if without.any():
        used = used & ~without
        warnings.warn(
            f"{context}: {numbered(int(without.sum()), 'row')} without one of the noisy labels; "
            f"the other {int(used.sum())} rows are used",
            stacklevel=3,
        )
    if not used.any():
        raise ConfigError(f"{context}: no row has both a true and a noisy label")
    return used, is_test


@dataclass(frozen=True, eq=False)
class EncodedLabels:
    """Labels as class numbers.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Sorted labels.
    y : int64 array of shape (n_samples,)
        True labels; where they are unknown, the first of the noisy labels.
    is_known : bool array of shape (n_samples,) or None
        Whether each true label is known; None if all are.
    noisy : dict of str to int64 array of shape (n_samples,)
        Noisy labels by name; -1 if a test row has none.
    answers : int64 array of shape (n_samples, n_annotators) or None
        Labels of the annotators; -1 if one gave none.
    checked : int64 array of shape (n_samples,) or None
        Right labels, if those in `y` are noisy; -1 where they are unknown.
    """

    classes: NDArray[Any]
    y: NDArray[np.int64]
    is_known: Rows | None
    noisy: dict[str, NDArray[np.int64]]
    answers: NDArray[np.int64] | None
    checked: NDArray[np.int64] | None = None

    def take(self, rows: NDArray[np.int64]) -> EncodedLabels:
        """Select rows by position."""
        return EncodedLabels(
            self.classes,
            self.y[rows],
            None if self.is_known is None else self.is_known[rows],
            {name: labels[rows] for name, labels in self.noisy.items()},
            None if self.answers is None else self.answers[rows],
            None if self.checked is None else self.checked[rows],
        )


def encode_all_labels(
    true: pd.Series[Any], given: GivenLabels, positive: list[Any] | None, context: str
) -> EncodedLabels:
    """Encode true and noisy labels.  If true labels are missing, noisy labels may add classes.

    Raises
    ------
    ConfigError
        If the labels are no classes, or a noisy label is not among the true labels.
    """
    is_known: Rows = true.notna().to_numpy()
    columns = {f"noisy labels {name!r}": given.labels[name] for name in given.labels}
    if given.answers is not None:
        columns |= {f"labels of annotator {name!r}": given.answers[name] for name in given.answers}
    known_labels = true
    if not is_known.all():
        known_labels = pd.concat([true, *columns.values()], ignore_index=True).dropna()
        known_labels.name = true.name
    classes, numbers = encode_labels(known_labels, positive, context)
    number_of = dict(zip(known_labels.tolist(), numbers.tolist(), strict=True))
    codes = {name: _encode(column, number_of, name, context) for name, column in columns.items()}
    noisy = {str(name): codes[f"noisy labels {name!r}"] for name in given.labels}
    answers = np.column_stack(list(codes.values())[len(noisy) :]) if given.answers is not None else None
    if is_known.all():
        return EncodedLabels(classes, numbers, None, noisy, answers)
    y = _encode(true, number_of, "", context)
    for column in codes.values():
        y = np.where(y < 0, column, y)
    return EncodedLabels(classes, y, is_known, noisy, answers)


def encode_checked(
    labels: EncodedLabels, noisy: pd.Series[Any], checked: pd.Series[Any] | None, context: str
) -> EncodedLabels:
    """Add the right labels of the checked rows to noisy labels; None if no row was checked.

    Raises
    ------
    ConfigError
        If a right label is not among the noisy ones.
    """
    if checked is None:
        return dataclasses.replace(labels, checked=np.full(labels.y.size, -1))
    number_of = dict(zip(noisy.tolist(), labels.y.tolist(), strict=True))
    return dataclasses.replace(labels, checked=_encode(checked, number_of, "checked", context))


def _encode(column: pd.Series[Any], number_of: dict[Any, int], name: str, context: str) -> NDArray[np.int64]:
    """Class numbers of labels, -1 for missing ones."""
    labels = column.tolist()
    numbers = [-1 if pd.isna(label) else number_of.get(label) for label in labels]
    if None in numbers:
        i = numbers.index(None)
        raise ConfigError(
            f"{context}: {name}: {labels[i]!r} in row {column.index[i]} is not a label of the data set; "
            f"its labels are {joined(map(repr, dict.fromkeys(number_of)))}"
        )
    return np.array(numbers, dtype=np.int64)
