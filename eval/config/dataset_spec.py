"""Config of a data set: its source, and its conversion to numbers and classes."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from robust_splits.plugins import plugin_names

from .._numbers import is_integer
from ..errors import suggest
from .annotators_spec import AnnotatorsSpec
from .base import Name, Strict
from .data_paths import FORMAT_OF_SUFFIX, advice_on_format, format_of, is_folder, is_reading_record, stem_of
from .dataset_schema import CSV_KEYS, FILE_KEYS, SOURCES, Format, Synthetic, allow_combinations

Bundled = Literal["breast_cancer", "digits", "iris", "wine"]
Downloaded = Literal["covtype", "kddcup99", "olivetti_faces"]
BUNDLED, DOWNLOADED, SYNTHETIC = map(get_args, (Bundled, Downloaded, Synthetic))
ONE_ANNOTATOR = "one_annotator"
LABELS_OF_ANNOTATORS = ("majority", "dawid_skene", ONE_ANNOTATOR, "soft_majority", "soft_dawid_skene")
SETS = (*BUNDLED, *DOWNLOADED, *SYNTHETIC)


def set_names() -> list[str]:
    """Names of data sets, those of installed packages last."""
    return [*SETS, *plugin_names("datasets", SETS)]


NamedSet = Annotated[Name, Field(json_schema_extra=lambda schema: schema.update(enum=set_names()))]

# scikit-learn inserts the name unchanged into URLs and file paths.
OPENML_NAME = r"^(?!.*\.\.)(?=.*[A-Za-z0-9])[A-Za-z0-9._,()'+-]+$"

OpenMLName = Annotated[Name, Field(json_schema_extra={"pattern": OPENML_NAME})]

Categorical = Literal["onehot", "ordinal"]
Missing = Literal["error", "drop_rows", "impute", "keep"]
FeaturesAs = Literal["frame", "numbers"]
Unchecked = Literal["drop", "train"]
Labels = Literal["right", "noisy"]
Copies = Literal["anywhere", "together"]
# Parts of a domain, such as software/jira.
DOMAIN = r"^[^/\s]([^/]*[^/\s])?(/[^/\s]([^/]*[^/\s])?)*$"
Column = str | int
MAX_SIZES = 1000


def _number_or_list(value: object) -> object:
    """Check a number of training rows, or a list of them, for which pydantic would report two errors."""
    numbers = value if isinstance(value, list) else [value]
    if len(numbers) > MAX_SIZES:
        raise ValueError(f"must have at most {MAX_SIZES} items")
    integers = [n for n in numbers if is_integer(n)]
    if value is not None and (not numbers or len(integers) < len(numbers) or min(integers) < 2):
        raise ValueError("must be an integer of at least 2, or a list of such integers")
    return value


TrainRows = Annotated[int, Field(ge=2)]


class DatasetSpec(Strict):
    r"""A data set: a named set, a file or folder of files, or a set from OpenML.

    In a config, the name of a named set can replace the object.  Columns are given by name or by position,
    counted from 0 in the order of the source.

    Attributes
    ----------
    set : str or None
        A named set.  scikit-learn includes ``breast_cancer`` to ``wine``, and downloads ``covtype`` to
        ``olivetti_faces`` once to its data home.  The others are synthetic sets of Ghosh et al. (2017).
    path : str or None
        A CSV, Parquet, ARFF or svmlight (LIBSVM) file, or a folder.  Each such file in the folder is a data set
        with the name of the file, and the other keys apply to all of them.
    openml : str, int or None
        Name or ID of a data set on OpenML, downloaded once.  An ID selects one version of the data set.
    target : str, int or None
        Column of the labels: its name or position, counted from 0, or from -1 at the end.  Not allowed for
        named sets and svmlight files, which define their labels; optional for OpenML.
    name : str
        Name in tables and figures; by default the name of the set, or the file name without suffix.
    format : {"csv", "parquet", "arff", "svmlight"} or None
        Format of the files; by default given by their suffix.
    separator : str or None
        Separator of the values in a CSV file, such as ``";"``; by default a comma, and a tab for ``.tsv``.
    decimal : {".", ","} or None
        Decimal mark of a CSV file; by default a point.
    encoding : {"utf-8", "utf-16", "latin-1", "cp1252"} or None
        Character encoding of a CSV file; by default UTF-8.
    missing_values : list of str or None
        Text that stands for a missing value in a CSV file, such as ``["?", "-99"]``, in addition to empty cells
        and, in columns of numbers, ``NA``, ``N/A``, ``NaN``, ``null``, ``None`` and the like.
    dates : list of str or int
        Columns of dates, in the ISO format, such as ``2026-11-22`` or ``2026-11-22 10:30``, or that of
        `date_format`.  In pipelines they remain dates, and for other models they become days since 1970.
    date_format : str or None
        Format of `dates` as in Python's ``strptime``, such as ``"%d.%m.%Y"``.
    test_path : str or None
        A second file with the test rows; the first then has the training rows.  Repeats then differ only in
        noise and seeds.
    split : str, int or None
        Column that marks each row as ``train`` or ``test``; it is not used as a feature.  Repeats then differ
        only in noise and seeds.
    group : str, int or None
        Column of groups of rows that stay together, such as the rows of one patient: in the random split, in
        searches and early stopping, and in the folds and bootstrap samples of this project's models.  It is not
        used as a feature.
    copies : {"anywhere", "together"}
        Where rows with the same features go: ``anywhere``, so that models may be tested on copies of training
        rows; or ``together``, as if they were a `group`.
    weight : str, int or None
        Column of the weights of rows in training, numbers from 0, which every model must accept.  It is not
        used as a feature.  Scores are not weighted.
    rate_column : str, int or None
        Column of numbers from 0, with which the rates of ``by_row`` noise grow.  It is not used as a feature.
    noisy : dict of str to str or int
        Columns of noisy labels, by the names under which `given` noise refers to them, such as ``{"heuristic":
        "label_v1"}``.  They are not used as features.  Rows that lack any of them are removed, except
        test rows of a given split.
    annotators : AnnotatorsSpec or None
        Labels of several annotators, to which `given` noise refers as ``majority``, ``dawid_skene``,
        ``one_annotator``, ``soft_majority`` and ``soft_dawid_skene``.
    unchecked : {"drop", "train"}
        Treatment of rows with noisy labels, but without a label in `target`: ``drop``, remove them; or
        ``train``, train on their noisy labels.  Without a given split they are the training rows, and the rows
        with a label in `target` are the test rows.  The true labels of the training rows are then unknown, so
        only `given` noise is possible, without accuracy at the rate 0 and ELA, or `audited` noise that is added
        to one column of noisy labels.
    labels : {"right", "noisy"}
        What the labels in `target` are: ``right``, models are tested on them; or ``noisy``, test labels are as
        noisy as all others, so scores are estimates of those on right labels.  Models are trained on the labels
        as they are.
    checked : str, int or None
        With ``"labels": "noisy"``, the column of the right labels of the rows that somebody has checked, empty
        in the others.  It is not used as a feature.
    drop : list of str or int
        Columns, by name or position, that are not used as features.
    features : {"frame", "numbers"} or None
        What models get: ``frame``, the form that suits each model (pipelines that select columns or transform
        text: a frame; XGBoost, LightGBM, CatBoost, TabICL, TabPFN and scikit-learn's histogram boosting: native
        categories; other models: numbers); or ``numbers``, numbers for all.  By default ``frame``, but where
        all features are numbers, only pipelines get a frame.
    categorical : {"onehot", "ordinal"}
        How text becomes numbers: ``onehot``, one 0/1 column for each of the 255 most frequent values; or
        ``ordinal``, the rank of the value, in the order given by the file (Parquet, ARFF) or else in sorted
        order, and -1 for values that no training row has.
    missing : {"error", "drop_rows", "impute", "keep"}
        Treatment of missing feature values: ``error``; ``drop_rows``, remove rows with a missing value;
        ``impute``, insert the median or most frequent value of the column in the training rows, regardless of
        labels; or ``keep``, as missing (0 in one-hot columns), for models that support it.  Rows without a
        label are removed, unless `unchecked` is ``train``.
    positive : list or None
        Labels that form the positive class; all others form the negative class.
    max_rows : int or None
        Maximum number of rows.  Larger data sets are sampled with unchanged class shares and a fixed seed, so
        that every run uses the same rows.  Of unchecked and checked rows, all checked ones are kept.
    train_rows : int, list of int or None
        Number of training rows, drawn in each repeat with unchanged class shares; smaller numbers are part of
        larger ones.  The test rows stay the same.  A list stands for one data set for each number, and the
        figure ``training_size`` shows the measure against it.
    domain : str or None
        Where the data set comes from, such as ``"medicine"`` or ``"software/jira"``.  Means over data sets,
        ranks and tests count each domain once, and in a domain each part, and in a part each data set alike.
        Either all data sets have a domain or none.
    """

    model_config = ConfigDict(json_schema_extra=allow_combinations)

    name: Name
    set: NamedSet | None = None
    format: Format | None = None  # before the paths, whose validation depends on it
    separator: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    decimal: Literal[".", ","] | None = None
    encoding: Literal["utf-8", "utf-16", "latin-1", "cp1252"] | None = None
    missing_values: list[str] | None = Field(default=None, max_length=1000)
    path: Name | None = None
    openml: OpenMLName | Annotated[int, Field(gt=0)] | None = None
    test_path: Name | None = None
    target: Column | None = None
    split: Column | None = None
    group: Column | None = None
    copies: Copies = "anywhere"
    weight: Column | None = None
    rate_column: Column | None = None
    noisy: dict[Name, Column] = Field(default={}, max_length=100)
    annotators: AnnotatorsSpec | None = None
    unchecked: Unchecked = "drop"
    labels: Labels = "right"
    checked: Column | None = None
    drop: list[Column] = Field(default=[], max_length=100_000)
    dates: list[Column] = Field(default=[], max_length=100_000)
    date_format: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    features: FeaturesAs | None = None
    categorical: Categorical = "onehot"
    missing: Missing = "error"
    positive: list[str | int | float | bool] | None = Field(default=None, min_length=1, max_length=10_000)
    max_rows: int | None = Field(default=None, ge=4)
    train_rows: Annotated[
        TrainRows | Annotated[list[TrainRows], Field(min_length=1, max_length=MAX_SIZES)] | None,
        BeforeValidator(_number_or_list),
    ] = None
    domain: Annotated[Name, Field(json_schema_extra={"pattern": DOMAIN})] | None = None

    @classmethod
    def short_form(cls) -> dict[str, Any]:
        """JSON Schema of the names of named sets."""
        return {"enum": set_names()}

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = {"set": value}
        if not isinstance(value, dict):
            raise ValueError("must be the name of a data set, or an object with 'path' and 'target'")
        sources = [key for key in SOURCES if value.get(key) is not None]
        if not sources:
            raise ValueError("has no source; add 'path' and 'target', 'set', or 'openml'")
        if len(sources) > 1:
            raise ValueError(f"has several sources ({', '.join(sources)}); only one is allowed")
        source = value[sources[0]]
        match sources[0]:
            case "set" if not isinstance(source, str) or not (source in set_names() or is_reading_record()):
                raise ValueError(
                    f"unknown data set{suggest(str(source), set_names())}; must be an object with 'path' and "
                    f"'target', or one of {', '.join(set_names())}"
                )
            case "path" if not isinstance(source, str):
                raise ValueError("path must be a string")
            case "path":
                return {"name": stem_of(source) or source, **value}
            case "openml" if not isinstance(source, str):
                return {"name": f"OpenML {source}", **value}
        return {"name": source, **value}

    @field_validator("openml", mode="before")
    @classmethod
    def _name_or_number(cls, source: Any) -> Any:
        is_number = is_integer(source) and source > 0
        if isinstance(source, str) and not re.fullmatch(OPENML_NAME, source):
            raise ValueError("must consist of letters, digits and . _ , ( ) ' + - without '..'")
        if source is not None and not is_number and not isinstance(source, str):
            raise ValueError("must be the name or the ID of a data set")
        return source

    @field_validator("path", "test_path")
    @classmethod
    def _known_format(cls, path: str | None, info: ValidationInfo) -> str | None:
        if path is None or info.data.get("format") is not None:
            return path
        if info.field_name == "path" and is_folder(path):
            return path
        if format_of(path) is None:
            suffixes = ", ".join(FORMAT_OF_SUFFIX)
            raise ValueError(
                f"must end in {suffixes}, be an existing folder, or have a 'format'{advice_on_format(path)}"
            )
        return path

    @field_validator("domain")
    @classmethod
    def _parts_of_domain(cls, domain: str | None) -> str | None:
        if domain is not None and not re.fullmatch(DOMAIN, domain):
            raise ValueError(f"must be a name, or names with '/' between them, got {domain!r}")
        return domain

    @field_validator("target", "split", "group", "weight", "rate_column", "checked", mode="before")
    @classmethod
    def _name_or_position(cls, column: Any) -> Any:
        if column is not None and (isinstance(column, bool) or not isinstance(column, str | int)):
            raise ValueError("must be the name or position of a column")
        return column

    @field_validator("noisy", mode="before")
    @classmethod
    def _names_and_columns(cls, columns: Any) -> Any:
        if not isinstance(columns, dict):
            raise ValueError("must be an object of names and columns")
        return {name: cls._name_or_position(column) for name, column in columns.items()}

    @field_validator("drop", "dates", mode="before")
    @classmethod
    def _names_or_positions(cls, columns: Any) -> Any:
        if not isinstance(columns, list):
            raise ValueError("must be a list of names or positions of columns")
        return [cls._name_or_position(column) for column in columns]

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        if self.split is not None and self.test_path is not None:
            raise ValueError("has both 'split' and 'test_path'; only one is allowed")
        if self.path is not None and self.path == self.test_path:
            raise ValueError("'test_path' must be another file than 'path'")
        for name in self.noisy:
            if self.annotators is not None and name in LABELS_OF_ANNOTATORS:
                raise ValueError(f"'noisy' must not use the name {name!r}, which is that of 'annotators'")
        if self.copies == "together" and self.group is not None:
            raise ValueError('has both \'group\' and "copies": "together"; only one is allowed')
        if self.copies == "together" and self.has_own_split:
            raise ValueError('"copies": "together" requires a random split')
        if self.unchecked == "train" and not self.noisy_names:
            raise ValueError("'unchecked' requires 'noisy' or 'annotators'")
        if self.labels == "noisy" and self.set in SYNTHETIC:
            raise ValueError(f"'labels' must be 'right', because those of the set {self.set!r} are")
        if self.labels == "noisy" and self.noisy_names:
            raise ValueError(
                "'labels' must be 'right' with 'noisy' or 'annotators', because models are tested on the right "
                "labels in 'target'"
            )
        if self.checked is not None and self.labels == "right":
            raise ValueError('\'checked\' requires "labels": "noisy"')
        if self.set is not None and self.target is not None:
            raise ValueError(f"'target' is not allowed, because the set {self.set!r} defines its labels")
        if self.path is None:
            for key in FILE_KEYS:
                if getattr(self, key) is not None:
                    raise ValueError(f"{key!r} requires 'path'")
            return self
        if self.is_folder:
            if self.test_path is not None:
                raise ValueError("'test_path' is not allowed, because 'path' is a folder")
            if self.name != (stem_of(self.path) or self.path):
                raise ValueError(
                    "'name' is not allowed, because data sets of a folder are named after its files"
                )
        for key in CSV_KEYS:
            if getattr(self, key) is not None and self.file_format not in ("csv", None):
                raise ValueError(f"{key!r} is only allowed for CSV files, but the format is {self.file_format}")
        if self.file_format == "svmlight":
            if self.target is not None:
                raise ValueError(
                    "'target' is not allowed, because rows of svmlight files begin with their labels"
                )
        elif self.target is None and not (self.is_folder and self.format is None):
            raise ValueError("'target' is missing; it is the name or position of the column with the labels")
        return self

    @property
    def noisy_names(self) -> list[str]:
        """Names of the noisy labels of this data set."""
        return [*self.noisy, *(LABELS_OF_ANNOTATORS if self.annotators is not None else ())]

    @property
    def test_labels(self) -> str:
        """Labels of the test rows: ``right``, ``estimated`` right ones, ``checked``, or ``given`` ones."""
        if self.set in SYNTHETIC:
            return "right"
        if self.labels == "noisy":
            return "estimated"
        return "checked" if self.noisy_names else "given"

    @property
    def has_own_split(self) -> bool:
        """Whether all repeats have the same test rows."""
        return self.split is not None or self.test_path is not None or self.unchecked == "train"

    @property
    def is_folder(self) -> bool:
        """Whether `path` is a folder."""
        return self.path is not None and is_folder(self.path)

    @property
    def file_format(self) -> str | None:
        """Format of the file at `path`; None for other sources and for folders without a `format`."""
        if self.format is not None or self.path is None:
            return self.format
        return format_of(self.path)
