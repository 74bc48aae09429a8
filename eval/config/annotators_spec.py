"""Config of annotators: where the labels of each of them are."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from .base import Name, Strict, with_keys
from .data_paths import format_of, pattern_of

Columns = Annotated[list[str | int], Field(min_length=2, max_length=10_000)]

FORMATS = ("csv", "parquet")
LONG_KEYS = ("row", "annotator", "label")


def _schema_of_annotators(schema: dict[str, Any]) -> None:
    schema["anyOf"] = [
        with_keys("columns", absent=("path", *LONG_KEYS, "id")),
        with_keys("path", absent=("columns", *LONG_KEYS, "id")),
        with_keys("path", *LONG_KEYS, absent=("columns",)),
    ]


class AnnotatorsSpec(Strict):
    """Labels of several annotators, who need not have labelled every row.

    In a config, the list of the columns can replace the object.

    Attributes
    ----------
    columns : list of str or int, or None
        Columns of the data set, one per annotator, empty where one gave no label.  They are not used as
        features.
    path : str or None
        A CSV or Parquet file in place of the columns.  Without `row` it has one column per annotator, and the
        rows of the data set, or its training rows if the split is given, in the same order.
    row : str or None
        Column of the file with row numbers of the data set, counted from 0, or with values of `id`.  Every row
        of the file then has a single label.
    annotator : str or None
        Column of the file with the names of the annotators.
    label : str or None
        Column of the file with the labels.
    id : str, int or None
        Column of the data set with the values of `row`.  It is not used as a feature.
    """

    model_config = ConfigDict(json_schema_extra=_schema_of_annotators)

    columns: Columns | None = None
    path: Annotated[Name, Field(json_schema_extra={"pattern": pattern_of(*FORMATS)})] | None = None
    row: Name | None = None
    annotator: Name | None = None
    label: Name | None = None
    id: str | int | None = None

    @classmethod
    def short_form(cls) -> dict[str, Any]:
        """JSON Schema of a list of columns."""
        column = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
        return {"type": "array", "items": column, "minItems": 2, "maxItems": 10_000}

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, value: Any) -> Any:
        return {"columns": value} if isinstance(value, list) else value

    @field_validator("path")
    @classmethod
    def _known_format(cls, path: str | None) -> str | None:
        if path is not None and format_of(path) not in FORMATS:
            raise ValueError("must be a CSV or Parquet file")
        return path

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        if (self.columns is None) == (self.path is None):
            raise ValueError("must have either 'columns' or 'path'")
        present = [key for key in (*LONG_KEYS, "id") if getattr(self, key) is not None]
        if present and self.path is None:
            raise ValueError(f"{present[0]!r} requires 'path'")
        missing = [key for key in LONG_KEYS if getattr(self, key) is None]
        if present and missing:
            raise ValueError(f"{present[0]!r} requires {missing[0]!r}")
        return self
