"""Size of the table in a file, found before it is read: a small file may unpack to a huge one."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .._memory import available_bytes, check_memory

BYTES_PER_CHARACTER = 3  # of text, while pandas parses it
BYTES_PER_VALUE = 16  # of a number, and once more in a copy
CHUNK = 2**24

# By suffix, as pandas knows them.
OPENED_BY: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def check_unpacked_size(path: Path, file_format: str, context: str) -> None:
    """Check that the table in a compressed file fits into the available memory.

    Parameters
    ----------
    path : Path
        An existing file.
    file_format : {"csv", "parquet", "arff", "svmlight"}
    context : str
        Prefix of error messages.

    Raises
    ------
    ConfigError
        If it does not.
    """
    if file_format == "parquet":
        n_bytes = _parquet_values(path) * BYTES_PER_VALUE
    elif path.suffix.lower() in OPENED_BY:
        n_bytes, largest = 0, available_bytes()
        for chunk in _chunks(path):
            n_bytes += len(chunk) * BYTES_PER_CHARACTER
            if n_bytes > largest:
                break
    else:
        return
    check_memory(n_bytes, f"{context}: {path} needs", "use fewer rows or columns")


def count_rows(path: Path, file_format: str) -> int:
    """Number of rows of a Parquet file, or of lines of any other file."""
    if file_format == "parquet":
        from pyarrow.parquet import read_metadata

        return int(read_metadata(path).num_rows)
    return sum(chunk.count(b"\n") for chunk in _chunks(path))


def _parquet_values(path: Path) -> int:
    """Number of values in all columns; lists have many in a row."""
    from pyarrow.parquet import read_metadata

    metadata = read_metadata(path)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return sum(group.column(j).num_values for group in groups for j in range(group.num_columns))


def _chunks(path: Path) -> Iterator[bytes]:
    """Content of a file, unpacked."""
    with OPENED_BY.get(path.suffix.lower(), open)(path, "rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
