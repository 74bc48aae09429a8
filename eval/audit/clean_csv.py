"""Write a CSV file again without some rows, with other labels in them, or with more columns."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .._input_file import check_input_file
from .._wording import numbered
from ..datasets.files import CsvOptions, default_separator
from ..errors import ConfigError


def clean_csv(path: str, options: CsvOptions, column: int, changes: Mapping[int, Any], n_rows: int) -> bytes:
    """Drop or relabel rows of a CSV file.  All other rows keep their bytes.

    Parameters
    ----------
    path : str
        The CSV file, which may be compressed by gzip; the result is not.
    options : CsvOptions
    column : int
        Position of the column of the labels.
    changes : mapping of int to int or None
        For each row to change, None to drop it, or the number of a row whose label it gets, as it is spelled
        there.
    n_rows : int
        Number of rows that the file should have.

    Returns
    -------
    bytes

    Raises
    ------
    ConfigError
        If the file cannot be read, does not have this number of rows, or has rows with more fields than the
        head, whose first field pandas takes for the name of the row.
    """
    file = _read(path, options, n_rows)
    texts = [text for _, text in file.records]
    for row, other in changes.items():
        record = file.records[file.rows[row]]
        texts[file.rows[row]] = (
            "" if other is None else _relabelled(record, file.records[file.rows[other]], column, file.separator)
        )
    return "".join([file.head[1], *texts]).encode(file.encoding)


def extend_csv(path: str, options: CsvOptions, columns: Mapping[str, Sequence[str]], n_rows: int) -> bytes:
    """Add columns to a CSV file, after all others, whose bytes remain.

    Parameters
    ----------
    path, options, n_rows
        As in `clean_csv`.
    columns : mapping of str to sequence of str
        The fields of each new column, one for each row.

    Returns
    -------
    bytes

    Raises
    ------
    ConfigError
        As in `clean_csv`.
    """
    file = _read(path, options, n_rows)
    n_fields = len(file.head[0])
    texts = [text for _, text in file.records]
    for row, *fields in zip(file.rows, *columns.values(), strict=True):
        record = file.records[row]
        missing = [""] * (n_fields - len(record[0]))  # at the end of a short record
        texts[row] = _extended(record[1], [*missing, *fields], file.separator)
    return "".join([_extended(file.head[1], [*columns], file.separator), *texts]).encode(file.encoding)


Record = tuple[list[str], str]


class _File(NamedTuple):
    head: Record
    records: list[Record]
    rows: list[int]  # numbers of the records that are no blank lines
    separator: str
    encoding: str


def _read(path: str, options: CsvOptions, n_rows: int) -> _File:
    separator = options.separator or default_separator(path)
    encoding = options.encoding or "utf-8"
    file = check_input_file(path)
    try:
        content = file.read_bytes()
        content = gzip.decompress(content) if path.lower().endswith(".gz") else content
        head, *records = _records(content.decode(encoding), separator)
    except (OSError, EOFError, zlib.error, ValueError, LookupError, csv.Error) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    rows = [i for i, (fields, _) in enumerate(records) if fields]
    if len(rows) != n_rows:
        raise ConfigError(
            f"{path} cannot be written again: it has {numbered(len(rows), 'record')}, not {n_rows}"
        )
    for row in rows:
        n_fields, n_columns = len(records[row][0]), len(head[0])
        if n_fields > n_columns:
            raise ConfigError(
                f"{path} cannot be written again: {n_fields} fields in record {row + 1}, "
                f"but {n_columns} in the head"
            )
    return _File(head, records, rows, separator, encoding)


def _records(text: str, separator: str) -> list[Record]:
    """Fields and text of each record, the head first."""
    lines: list[str] = []

    def read() -> Any:
        for line in io.StringIO(text, newline=""):
            lines.append(line)
            yield line

    records = []
    for fields in csv.reader(read(), delimiter=separator):
        records.append((fields, "".join(lines)))
        lines.clear()
    return records


def _relabelled(record: Record, other: Record, column: int, separator: str) -> str:
    """Text of a record with the label of another one."""
    fields, text = record
    changed = [*fields[:column], other[0][column], *fields[column + 1 :]]
    return _written(changed, separator) + _line_end(text)


def _extended(text: str, fields: list[str], separator: str) -> str:
    """Text of a record with more fields."""
    end = _line_end(text)
    return text.removesuffix(end) + _written(["", *fields], separator) + end


def _written(fields: list[str], separator: str) -> str:
    written = io.StringIO()
    csv.writer(written, delimiter=separator, lineterminator="").writerow(fields)
    return written.getvalue()


def _line_end(text: str) -> str:
    return text[len(text.rstrip("\r\n")) :]
