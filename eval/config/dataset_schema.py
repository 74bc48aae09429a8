"""Keys of a data set that go together, as JSON Schema."""

from __future__ import annotations

from typing import Any, Literal, get_args

from .base import with_keys
from .data_paths import pattern_of

Synthetic = Literal["checkerboard2x2", "checkerboard4x4", "imbalanced_linear", "imbalanced_asymmetric_linear"]
Format = Literal["csv", "parquet", "arff", "svmlight"]

SOURCES = ("set", "path", "openml")
CSV_KEYS = ("separator", "decimal", "encoding", "missing_values")
FILE_KEYS = ("format", "test_path", *CSV_KEYS)


def allow_combinations(schema: dict[str, Any]) -> None:
    """Add the allowed combinations of keys.  Any path may be a folder, as a schema cannot check that."""
    del schema["required"]
    schema["anyOf"] = [
        with_keys("set", absent=("path", "openml", "target", *FILE_KEYS)),
        with_keys("openml", absent=("path", "set", *FILE_KEYS)),
        with_keys("path", absent=("set", "openml")),
    ]
    schema["allOf"] = [
        {"anyOf": [with_keys(absent=["split"]), with_keys(absent=["test_path"])]},
        {"if": _schema_of_formats("csv", "parquet", "arff"), "then": with_keys("target")},
        {"if": _schema_of_formats("svmlight"), "then": with_keys(absent=["target"])},
        {"if": _schema_of_formats("parquet", "arff", "svmlight"), "then": with_keys(absent=CSV_KEYS)},
        {
            "if": with_keys("test_path", absent=["format"]),
            "then": {"properties": {"test_path": {"pattern": pattern_of(*get_args(Format))}}},
        },
        {
            "if": {"required": ["copies"], "properties": {"copies": {"const": "together"}}},
            "then": {
                **with_keys(absent=["group", "split", "test_path"]),
                "not": {"required": ["unchecked"], "properties": {"unchecked": {"const": "train"}}},
            },
        },
        {
            "if": {"required": ["labels"], "properties": {"labels": {"const": "noisy"}}},
            "then": {
                "properties": {
                    "set": {"not": {"enum": list(get_args(Synthetic))}},
                    "noisy": {"maxProperties": 0},
                    "annotators": {"type": "null"},
                }
            },
            "else": with_keys(absent=["checked"]),
        },
    ]


def _schema_of_formats(*formats: str) -> dict[str, Any]:
    """JSON Schema of data sets in files of these formats, given by the key or by the suffix."""
    path = {"type": "string", "pattern": pattern_of(*formats)}
    by_key = {"required": ["path", "format"], "properties": {"format": {"enum": list(formats)}}}
    by_suffix = {"required": ["path"], "properties": {"path": path, "format": {"type": "null"}}}
    return {"anyOf": [by_key, by_suffix]}
