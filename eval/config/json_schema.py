"""The JSON Schema of a config, from which editors complete and check."""

from __future__ import annotations

import inspect
import re
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from .run import SCHEMA_KEY, Config

# A field of an "Attributes" section: its names, and the indented lines that tell of it.
ATTRIBUTE = re.compile(r"^(\w+(?:, \w+)*)(?: : .*)?\n((?:(?:    .*)?\n)+)", re.MULTILINE)


def config_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a config.

    It tells all that a schema can: keys, types, ranges, names, and which keys go together.  Left to the reader
    of configs are names that must differ, files that must be there, rates that must sum to 1, and that 3.0 is
    no integer.  Configs of the 2020 study, a format of its own, are not described.
    """
    schema = Config.model_json_schema(schema_generator=_Generator)
    address = {
        "type": "string",
        "description": "Where editors find the JSON Schema of this file; else ignored.",
    }
    schema["properties"] = {SCHEMA_KEY: address} | schema["properties"]
    return {"$schema": _Generator.schema_dialect, "title": "A config of noisyeval"} | schema


class _Generator(GenerateJsonSchema):
    """Describes keys by the docstrings of their models, and knows the short forms of objects."""

    def model_schema(self, schema: core_schema.ModelSchema) -> dict[str, Any]:
        """As pydantic's, and what only the models know."""
        model: Any = schema["cls"]
        described = super().model_schema(schema)
        texts = attributes_of(model)
        keys = described["properties"]
        for key in keys.keys() & texts.keys():  # none where Python was told to drop docstrings
            keys[key]["description"] = texts[key]
        # In the order in which they are documented, which need not be that of validation.
        described["properties"] = {key: keys[key] for key in texts if key in keys} | keys
        del described["title"]
        description = described.pop("description", "").partition("\n\n")[0]
        short_form = model.short_form()
        if short_form is None:
            return {"description": description} | described
        return {"description": description, "anyOf": [short_form, described]}

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never: a title would be the key once more."""
        return False


def attributes_of(model: type[BaseModel]) -> dict[str, str]:
    """What the docstring of a model, or of a model that it extends, says of its attributes."""
    texts = {}
    for base in reversed(model.__mro__):
        _, _, section = inspect.cleandoc(base.__doc__ or "").partition("\nAttributes\n----------\n")
        for names, text in ATTRIBUTE.findall(section + "\n"):
            # A single grave accent, as in Markdown, is what editors and docs/config.md show as code.
            text = " ".join(text.split()).replace("``", "`")
            texts.update(dict.fromkeys(names.split(", "), text))
    return texts
