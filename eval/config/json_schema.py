"""JSON Schema of configs, for completion and checks in editors."""

from __future__ import annotations

import inspect
import re
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from .run import SCHEMA_KEY, Config

# An entry of an "Attributes" section: its names, and its indented description.
ATTRIBUTE = re.compile(r"^(\w+(?:, \w+)*)(?: : .*)?\n((?:(?:    .*)?\n)+)", re.MULTILINE)


def config_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a config.

    It describes keys, types, ranges, names and allowed combinations of keys.  Only the reader of configs checks
    that names are unique, files exist and probabilities sum to 1, and that 3.0 is not an integer.  Configs of
    the 2020 study have another format, which the schema does not cover.
    """
    schema = Config.model_json_schema(schema_generator=_Generator)
    address = {
        "type": "string",
        "description": "URL or path of the JSON Schema of this file, for editors; otherwise ignored.",
    }
    schema["properties"] = {SCHEMA_KEY: address} | schema["properties"]
    return {"$schema": _Generator.schema_dialect, "title": "noisyeval config"} | schema


class _Generator(GenerateJsonSchema):
    """Adds descriptions from docstrings, and the short forms of objects."""

    def model_schema(self, schema: core_schema.ModelSchema) -> dict[str, Any]:
        """Schema of a model with its descriptions and short form."""
        model: Any = schema["cls"]
        described = super().model_schema(schema)
        texts = attribute_descriptions(model)
        keys = described["properties"]
        for key in keys.keys() & texts.keys():  # no texts if Python drops docstrings (-OO)
            keys[key]["description"] = texts[key]
        # In the order of the documentation, which may differ from that of validation.
        described["properties"] = {key: keys[key] for key in texts if key in keys} | keys
        del described["title"]
        description = described.pop("description", "").partition("\n\n")[0]
        short_form = model.short_form()
        if short_form is None:
            return {"description": description} | described
        return {"description": description, "anyOf": [short_form, described]}

    def field_title_should_be_set(self, schema: Any) -> bool:
        """No titles, because they would repeat the keys."""
        return False


def attribute_descriptions(model: type[BaseModel]) -> dict[str, str]:
    """Descriptions of the attributes in the docstrings of a model and of its base classes."""
    texts = {}
    for base in reversed(model.__mro__):
        _, _, section = inspect.cleandoc(base.__doc__ or "").partition("\nAttributes\n----------\n")
        for names, text in ATTRIBUTE.findall(section + "\n"):
            # Single backticks mark code in Markdown, which editors and docs/config.md render.
            text = " ".join(text.split()).replace("``", "`")
            texts.update(dict.fromkeys(names.split(", "), text))
    return texts
