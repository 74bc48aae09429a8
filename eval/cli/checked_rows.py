"""Read the rows whose labels were checked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from .._wording import joined
from ..audit.checked import LABEL, PROBABILITY, ROUND
from ..audit.spelling import spelled_as
from ..config.data_paths import format_of
from ..datasets.files import read_files
from ..datasets.row_columns import check_single_values
from ..errors import ConfigError, nearest_first, suggest
from .table_guesses import guess_csv

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

OPTION = "--checked"
ROW = "row"


def read_checked(
    paths: Sequence[str], frame: pd.DataFrame, target: str | int | None, id_column: str | None
) -> tuple[pd.DataFrame, int]:
    """Read right labels by the numbers of their rows.

    Parameters
    ----------
    paths : sequence of str
        CSV, Parquet or ARFF files with the column of the names of rows, or ``row``, and ``label``, or
        that of the labels of the data; and, as far as they are known, ``probability`` and ``round``.
    frame : DataFrame
        The data.
    target : str, int or None
        Column of the labels of the data; None if the files must have the column ``label``.
    id_column : str or None
        Column of the names of rows.

    Returns
    -------
    checked : DataFrame
        The column ``label``, and ``probability`` and ``round`` if a file has them, by the number of the row.
    n_empty : int
        Number of rows without a label, which are left out.

    Raises
    ------
    ConfigError
        If a file cannot be read or has no such columns, or a row does not exist or is checked twice.
    """
    by_name = _row_numbers(frame, id_column)
    by_number: dict[Hashable, int] = {row: row for row in range(len(frame))}
    tables = [_read_file(path, target, {id_column: by_name, ROW: by_number}) for path in paths]
    table = pd.concat(tables)
    if table.empty:
        raise ConfigError(f"{OPTION}: {joined(paths)} {'has' if len(tables) == 1 else 'have'} no rows")
    is_empty = table[LABEL].isna()
    if is_empty.all():
        raise ConfigError(f"{OPTION}: column {LABEL!r} is empty in all rows of {joined(paths)}")
    table = table[~is_empty]
    repeated = table.index[table.index.duplicated()]
    if repeated.size:
        raise ConfigError(f"{OPTION}: row {repeated[0]} is checked more than once in {joined(paths)}")
    return table, int(is_empty.sum())


def check_right_labels(
    checked: pd.DataFrame, names: Iterable[Any], classes: NDArray[Any], *, merge_spellings: bool
) -> None:
    """Raise a ConfigError if a checked label is none of the data's.

    Parameters
    ----------
    checked : DataFrame
        From `read_checked`.
    names : iterable
        Number or name of each checked row.
    classes : ndarray of shape (K,)
        Labels of the data.
    merge_spellings : bool
        Whether case and blanks do not matter.
    """
    labels = checked[LABEL].tolist()
    known = set(classes.tolist())
    spelled = spelled_as(classes, labels) if merge_spellings else labels
    for name, label, given in zip(names, spelled, labels, strict=True):
        if label not in known:
            similar, allowed = suggest(str(given), known), nearest_first(str(given), classes.tolist())
            raise ConfigError(
                f"{OPTION}: {given!r} in row {name} is no label of the data{similar}; labels are {allowed}"
            )


def labels_by_row(checked: pd.DataFrame | None) -> dict[int, Any]:
    """Right labels by the numbers of their rows; none without checked rows."""
    if checked is None:
        return {}
    return dict(zip(checked.index.tolist(), checked[LABEL].tolist(), strict=True))


def _row_numbers(frame: pd.DataFrame, id_column: str | None) -> dict[Hashable, int]:
    """Number of the row by its name; empty without names."""
    if id_column is None:
        return {}
    names = frame[id_column]
    if not names.is_unique:
        raise ConfigError(
            f"{OPTION}: column {id_column!r} names several rows {str(names[names.duplicated()].iloc[0])!r}"
        )
    return {name: row for row, name in enumerate(names.tolist())}


def _read_file(
    path: str, target: str | int | None, known: dict[str | None, dict[Hashable, int]]
) -> pd.DataFrame:
    """Labels and draws of a file; `known` has the numbers of rows by the columns that may name them."""
    file_format = format_of(path)
    if file_format is None or file_format == "svmlight":
        raise ConfigError(f"{OPTION}: {path}: must be a CSV, Parquet or ARFF file")
    if file_format == "csv":
        table, _ = guess_csv(path, OPTION, {})
    else:
        (table,) = read_files([path], [file_format], OPTION)
    label = next((name for name in (LABEL, target) if isinstance(name, str) and name in table), None)
    key = next((name for name in known if name is not None and name in table), None)
    if label is None or key is None:
        needed = f"{' or '.join(repr(name) for name in known if name is not None)} and {LABEL!r}"
        raise ConfigError(
            f"{OPTION}: {path} needs the columns {needed}; its columns are {joined(table.columns)}"
        )
    draws = [name for name in (PROBABILITY, ROUND) if name in table]
    check_single_values(table[[key, label, *draws]], f"{OPTION}: {path}")
    rows = [_row_number(name, key, known[key]) for name in table[key].tolist()]
    columns = {LABEL: table[label].tolist()} | {name: table[name].tolist() for name in draws}
    return pd.DataFrame(columns, index=pd.Index(rows, dtype="int64"), dtype=object)


def _row_number(name: Any, key: str, known: dict[Hashable, int]) -> int:
    if key == ROW and isinstance(name, str) and name.strip().isdecimal():
        name = int(name)  # in a column with text
    if name not in known:
        raise ConfigError(f"{OPTION}: {key} {name!r} is not a row of the data")
    return known[name]
