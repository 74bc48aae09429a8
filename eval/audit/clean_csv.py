"""Write a CSV file again without some rows, or with other labels in them."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
    separator = options.separator or default_separator(path)
    encoding = options.encoding or "utf-8"
    try:
        content = Path(path).read_bytes()
        content = gzip.decompress(content) if path.lower().endswith(".gz") else content
        head, *records = _records(content.decode(encoding), separator)
    except (OSError, EOFError, zlib.error, ValueError, LookupError, csv.Error) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    rows = [i for i, (fields, _) in enumerate(records) if fields]  # others are blank lines
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
    texts = [text for _, text in records]
    for row, other in changes.items():
        texts[rows[row]] = (
            "" if other is None else _relabelled(records[rows[row]], records[rows[other]], column, separator)
        )
    return "".join([head[1], *texts]).encode(encoding)


Record = tuple[list[str], str]


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
    written = io.StringIO()
    end = text[len(text.rstrip("\r\n")) :]
    changed = [*fields[:column], other[0][column], *fields[column + 1 :]]
    csv.writer(written, delimiter=separator, lineterminator=end).writerow(changed)
    return written.getvalue()
