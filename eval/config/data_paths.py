"""Paths of data files: their format by suffix, and folders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

FORMAT_OF_SUFFIX = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
    ".arff": "arff",
    ".svm": "svmlight",
    ".libsvm": "svmlight",
    ".svmlight": "svmlight",
}

SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")


def format_of(path: str) -> str | None:
    """Format of a file by its suffix; None if that is unknown."""
    suffix = suffix_of(path)
    return FORMAT_OF_SUFFIX.get(suffix) if suffix else None


def advice_on_format(path: str) -> str:
    """Advice on a file of an unknown format, to end a message with; empty if there is none."""
    is_sheet = Path(path).suffix.lower() in SPREADSHEETS
    return "; save the sheet of the workbook as CSV" if is_sheet else ""


def suffix_of(path: str) -> str:
    """Suffix of a data file in lower case, such as ``.csv.gz``; empty if it is unknown."""
    name = Path(path).name.lower()
    return max((suffix for suffix in FORMAT_OF_SUFFIX if name.endswith(suffix)), key=len, default="")


def pattern_of(*formats: str) -> str:
    """Regular expression for JSON Schema that matches the paths of files of these formats."""
    suffixes = [suffix for suffix, file_format in FORMAT_OF_SUFFIX.items() if file_format in formats]
    letters = ["".join(f"[{c}{c.upper()}]" for c in suffix.removeprefix(".")) for suffix in suffixes]
    return rf"\.({'|'.join(letters)})$"


def stem_of(path: str) -> str:
    """Name of a data file without its suffix."""
    name = Path(path).name
    return name.removesuffix(name[len(name) - len(suffix_of(path)) :]) if suffix_of(path) else Path(path).stem


_is_reading_record = ContextVar("_is_reading_record", default=False)


@contextmanager
def reading_record() -> Iterator[None]:
    """Read the config of a record, which may come from another machine.

    Every path is treated as a file without access to it, and names of data sets may be those of packages that
    are not installed here.
    """
    token = _is_reading_record.set(True)
    try:
        yield
    finally:
        _is_reading_record.reset(token)


def is_reading_record() -> bool:
    """Whether the config that is read is that of a record."""
    return _is_reading_record.get()


def is_folder(path: str) -> bool:
    """Whether a path is an existing folder."""
    if _is_reading_record.get():
        return False
    try:
        return Path(path).is_dir()
    except OSError:  # for example, if the name is too long
        return False
