"""What a config says about a data set: where it comes from, and how it becomes numbers and classes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from .base import Name, Strict, with_keys

Bundled = Literal["breast_cancer", "digits", "iris", "wine"]
Downloaded = Literal["covtype", "kddcup99", "olivetti_faces"]
Synthetic = Literal["checkerboard2x2", "checkerboard4x4", "imbalanced_linear", "imbalanced_asymmetric_linear"]
BUNDLED, DOWNLOADED, SYNTHETIC = map(get_args, (Bundled, Downloaded, Synthetic))
SETS = (*BUNDLED, *DOWNLOADED, *SYNTHETIC)
FORMAT_OF_SUFFIX = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".arff": "arff",
    ".svm": "svmlight",
    ".libsvm": "svmlight",
    ".svmlight": "svmlight",
}

# scikit-learn makes addresses and paths of files of a name as it is.
OPENML_NAME = r"^(?!.*\.\.)(?=.*[A-Za-z0-9])[A-Za-z0-9._,()'+-]+$"

OpenMLName = Annotated[Name, Field(json_schema_extra={"pattern": OPENML_NAME})]

Format = Literal["csv", "parquet", "arff", "svmlight"]
Categorical = Literal["onehot", "ordinal"]
Missing = Literal["error", "drop_rows", "impute", "keep"]
Column = str | int

_SOURCES = ("set", "path", "openml")
_KEYS_OF_FILES = ("format", "separator", "test_path")


def _schema_of_dataset(schema: dict[str, Any]) -> None:
    """Which keys go together.  Of a folder a schema knows nothing, so it takes any path for one."""
    del schema["required"]
    schema["anyOf"] = [
        with_keys("set", absent=("path", "openml", "target", *_KEYS_OF_FILES)),
        with_keys("openml", absent=("path", "set", *_KEYS_OF_FILES)),
        with_keys("path", absent=("set", "openml")),
    ]
    schema["allOf"] = [
        {"anyOf": [with_keys(absent=["split"]), with_keys(absent=["test_path"])]},
        {"if": _of_formats("csv", "parquet", "arff"), "then": with_keys("target")},
        {"if": _of_formats("svmlight"), "then": with_keys(absent=["target"])},
        {"if": _of_formats("parquet", "arff", "svmlight"), "then": with_keys(absent=["separator"])},
        {
            "if": with_keys("test_path", absent=["format"]),
            "then": {"properties": {"test_path": {"pattern": _ends_in(*FORMAT_OF_SUFFIX)}}},
        },
    ]


def _of_formats(*formats: str) -> dict[str, Any]:
    """The JSON Schema of data sets in files of these formats, whether told by a key or by the suffix."""
    suffixes = [suffix for suffix, file_format in FORMAT_OF_SUFFIX.items() if file_format in formats]
    path = {"type": "string", "pattern": _ends_in(*suffixes)}
    told = {"required": ["path", "format"], "properties": {"format": {"enum": list(formats)}}}
    seen = {"required": ["path"], "properties": {"path": path, "format": {"type": "null"}}}
    return {"anyOf": [told, seen]}


def _ends_in(*suffixes: str) -> str:
    letters = ["".join(f"[{c}{c.upper()}]" for c in suffix.removeprefix(".")) for suffix in suffixes]
    return rf"\.({'|'.join(letters)})$"


class DatasetSpec(Strict):
    r"""A data set: one known by its name, a file or folder of files, or one of OpenML.

    In a config the first kind may be written as the name alone.  Columns are named by their names or, counted
    from 0 as they stand in the source, their positions.

    Attributes
    ----------
    set : str or None
        What a name alone means: a set that comes with scikit-learn (``breast_cancer`` to ``wine``), one that
        scikit-learn downloads once and keeps in its data home (``covtype`` to ``olivetti_faces``), or one of
        the synthetic sets of Ghosh et al. (2017).
    path : str or None
        A CSV, Parquet, ARFF or svmlight (LIBSVM) file, or a folder: each such file in it is a data set, named
        after it, for which the other keys hold.
    openml : str, int or None
        Name or number of a set on OpenML, downloaded once; the number names one version of it.
    target : str, int or None
        The labels: a column's name or its position, counted from 0, or from -1 at the end.  Left out for sets
        known by name and for svmlight files, which have their own; that of OpenML may be replaced.
    name : str
        What tables and pictures call it; by default the name of the set, or the file's without its suffix.
    format : {"csv", "parquet", "arff", "svmlight"} or None
        Of the files; by default told by their suffix.
    separator : str or None
        The character between the values of a CSV file, such as ``";"`` or ``"\t"``; by default a comma.
    test_path : str or None
        A second file: all its rows are tested on, those of the first trained on.  Repeats then differ in
        their noise and seeds only.
    split : str, int or None
        A column that says it for each row, by ``train`` or ``test``; it becomes no feature.  Repeats then
        differ in their noise and seeds only.
    drop : list of str or int
        Columns, by name or position, that are no features.
    categorical : {"onehot", "ordinal"}
        What becomes of columns that do not hold numbers: ``onehot``, one column of zeros and ones per value; or
        ``ordinal``, the value's rank: in the order of the file if it gives one (Parquet, ARFF), otherwise
        sorted.
    missing : {"error", "drop_rows", "impute", "keep"}
        What becomes of missing features: ``error``; ``drop_rows``, rows with any missing value or label;
        ``impute``, the column's median or most frequent value over all rows, whatever their labels; or
        ``keep``, as NaN (a one-hot column: 0), for models that take it.
    positive : list or None
        Labels that together become the one class, all others the other.
    max_rows : int or None
        So many rows at most, drawn with the classes in the same shares, and with a seed of their own, so that
        the data set is the same in every run.
    """

    model_config = ConfigDict(json_schema_extra=_schema_of_dataset)

    name: Name
    set: Bundled | Downloaded | Synthetic | None = None
    format: Format | None = None  # before the paths, whose check looks at it
    separator: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    path: Name | None = None
    openml: OpenMLName | Annotated[int, Field(gt=0)] | None = None
    test_path: Name | None = None
    target: Column | None = None
    split: Column | None = None
    drop: list[Column] = Field(default=[], max_length=100_000)
    categorical: Categorical = "onehot"
    missing: Missing = "error"
    positive: list[str | int | float | bool] | None = Field(default=None, min_length=1, max_length=10_000)
    max_rows: int | None = Field(default=None, ge=4)

    @classmethod
    def short_form(cls) -> dict[str, Any]:
        """The names that stand for a set."""
        return {"enum": list(SETS)}

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = {"set": value}
        if not isinstance(value, dict):
            raise ValueError("must be the name of a data set or an object with path and target")
        sources = [key for key in _SOURCES if value.get(key) is not None]
        if not sources:
            raise ValueError("says no source; needs 'path' and 'target', 'set', or 'openml'")
        if len(sources) > 1:
            raise ValueError(f"has several sources ({', '.join(sources)}); only one is possible")
        source = value[sources[0]]
        match sources[0]:
            case "set" if source not in SETS:
                raise ValueError(
                    f"unknown data set; known are {', '.join(SETS)}, or an object with path and target"
                )
            case "path" if not isinstance(source, str):
                raise ValueError("path must be a string")
            case "path":
                return {"name": Path(source).stem or source, **value}
            case "openml" if not isinstance(source, str):
                return {"name": f"OpenML {source}", **value}
        return {"name": source, **value}

    @field_validator("openml", mode="before")
    @classmethod
    def _name_or_number(cls, source: Any) -> Any:
        is_number = isinstance(source, int) and not isinstance(source, bool) and source > 0
        if isinstance(source, str) and not re.fullmatch(OPENML_NAME, source):
            raise ValueError("must be the name of a data set: letters, digits and . _ , ( ) ' + - without '..'")
        if source is not None and not is_number and not isinstance(source, str):
            raise ValueError("must be the name or the number of a data set")
        return source

    @field_validator("path", "test_path")
    @classmethod
    def _known_format(cls, path: str | None, info: ValidationInfo) -> str | None:
        if path is None or info.data.get("format") is not None:
            return path
        if info.field_name == "path" and _is_folder(path):
            return path
        if Path(path).suffix.lower() not in FORMAT_OF_SUFFIX:
            suffixes = ", ".join(FORMAT_OF_SUFFIX)
            raise ValueError(f"must end in {suffixes}, be a folder that is there, or come with a 'format'")
        return path

    @field_validator("target", "split", mode="before")
    @classmethod
    def _name_or_position(cls, column: Any) -> Any:
        if column is not None and (isinstance(column, bool) or not isinstance(column, str | int)):
            raise ValueError("must be a column's name or position")
        return column

    @field_validator("drop", mode="before")
    @classmethod
    def _names_or_positions(cls, columns: Any) -> Any:
        if not isinstance(columns, list):
            raise ValueError("must be a list of columns' names or positions")
        return [cls._name_or_position(column) for column in columns]

    @model_validator(mode="after")
    def _keys_fit_the_source(self) -> Self:
        if self.split is not None and self.test_path is not None:
            raise ValueError("has both 'split' and 'test_path'; only one can say which rows are tested on")
        if self.set is not None and self.target is not None:
            raise ValueError(f"key 'target' is too much: the set {self.set!r} has its own")
        if self.path is None:
            for key in _KEYS_OF_FILES:
                if getattr(self, key) is not None:
                    raise ValueError(f"key {key!r} needs 'path'")
            return self
        if self.is_folder:
            if self.test_path is not None:
                raise ValueError("key 'test_path' needs a file, but path is a folder")
            if self.name != (Path(self.path).stem or self.path):
                raise ValueError("key 'name' is too much: a folder's data sets have the names of its files")
        if self.separator is not None and self.file_format not in ("csv", None):
            raise ValueError(f"key 'separator' is for CSV files, but the format is {self.file_format}")
        if self.file_format == "svmlight":
            if self.target is not None:
                raise ValueError("key 'target' is too much: a row of an svmlight file begins with its label")
        elif self.target is None and not (self.is_folder and self.format is None):
            raise ValueError(
                "key 'target' is missing; a file needs path and target (a column's name or position)"
            )
        return self

    @property
    def is_folder(self) -> bool:
        """Whether `path` is a folder."""
        return self.path is not None and _is_folder(self.path)

    @property
    def file_format(self) -> str | None:
        """The format of the file at `path`; None for other sources, and for a folder of several formats."""
        if self.format is not None or self.path is None:
            return self.format
        return FORMAT_OF_SUFFIX.get(Path(self.path).suffix.lower())


_looks_at_paths = ContextVar("whether a path is looked at, to see if it is a folder", default=True)


@contextmanager
def paths_not_looked_at() -> Iterator[None]:
    """Take every path for that of a file, as in the record of a run, which may come from another machine."""
    token = _looks_at_paths.set(False)
    try:
        yield
    finally:
        _looks_at_paths.reset(token)


def _is_folder(path: str) -> bool:
    if not _looks_at_paths.get():
        return False
    try:
        return Path(path).is_dir()
    except OSError:  # such as a name that is too long
        return False


def each_file_of_folders(specs: Sequence[DatasetSpec]) -> list[DatasetSpec]:
    """Put in place of each folder the data files in it, in the order of their names.

    All that the folder's object says holds for each of them, but for `target`, which svmlight files do not
    have.  Folders in it are left out, and so are hidden files and, with a warning, those of no known format.

    Raises
    ------
    ValueError
        If a folder cannot be read or holds no data file or one whose name cannot be printed, or has no
        `target` and a file needs one.
    """
    return [file for spec in specs for file in (_files_of(spec) if spec.is_folder else [spec])]


def _files_of(folder: DatasetSpec) -> list[DatasetSpec]:
    assert folder.path is not None  # noqa: S101 - is_folder has seen to it
    try:
        files = sorted(path for path in Path(folder.path).iterdir() if path.is_file())
    except OSError as error:
        raise ValueError(f"the folder {folder.path} cannot be read: {error.strerror}") from None
    for file in files:
        if not file.name.isprintable() or not file.stem.strip():
            raise ValueError(f"the folder {folder.path} holds a file with the name {file.name!r}, no good name")
    formats = {
        file: folder.format or FORMAT_OF_SUFFIX.get(file.suffix.lower())
        for file in files
        if not file.name.startswith(".")
    }
    ignored = [file.name for file, file_format in formats.items() if file_format is None]
    if len(ignored) == len(formats):
        raise ValueError(f"the folder {folder.path} holds no file that ends in {', '.join(FORMAT_OF_SUFFIX)}")
    if ignored:
        warnings.warn(f"{folder.path}: of no known format, ignored: {', '.join(ignored)}", stacklevel=2)
    specs = []
    for file, file_format in formats.items():
        if file_format is None:
            continue
        target = None if file_format == "svmlight" else folder.target
        if target is None and file_format != "svmlight":
            raise ValueError(f"key 'target' is missing for {file}")
        changes = {"name": file.stem, "path": str(file), "format": file_format, "target": target}
        specs.append(folder.model_copy(update=changes))
    return specs
