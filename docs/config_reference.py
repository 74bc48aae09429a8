"""Generate the tables of docs/config.md from the JSON Schema of configs and the short names of models.

Run it after a change to a key, a kind of noise or a short name: ``python docs/config_reference.py``.  It
replaces everything between a line ``<!-- table: NAME -->`` and the next ``<!-- end of table -->``; the rest of
the page is written by hand.  A test fails if a table is out of date.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from boostnoise.eval.config.json_schema import config_schema
from boostnoise.eval.config.run import SCHEMA_KEY
from boostnoise.eval.metrics.registry import SCORED, TIMED, Measure
from boostnoise.eval.models.short_names import SHORT_NAMES
from boostnoise.eval.models.variants import variants

REFERENCE = Path(__file__).with_name("config.md")
TABLE = re.compile(r"(<!-- table: ([\w ]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
SCHEMA = config_schema()
DEFINITIONS = SCHEMA["$defs"]
KINDS = [kind["$ref"].rpartition("/")[2] for kind in SCHEMA["properties"]["noise"]["items"]["oneOf"]]

HEAD_OF_KEYS = ("key", "meaning", "value", "default")
OBJECTS = {
    "AnnotatorsSpec": "[annotators](#noisy-labels-of-your-own)",
    "DatasetSpec": "[data set](#data-sets)",
    "MetricSpec": "[metric](#metrics-of-installed-packages)",
    "ModelSpec": "[model](#models)",
    "SearchSpec": "[search](#search)",
    "EarlyStoppingSpec": "[early stopping](#early-stopping)",
    "FigureOptions": "[figure](#options-of-figures)",
}
NOISE = "[noise](#noise)"
VARIANTS = {  # of names that are listed without them
    "mean_": "and each with the prefix `mean_`",
    "_by_dataset": "and each up to `predict_seconds` with `_by_dataset` appended",
}
PLURALS = {"[data set]": "[data sets]", "[metric]": "[metrics]", "[model]": "[models]", NOISE: NOISE}


def updated(text: str) -> str:
    """Return the text of the reference with new tables."""
    return TABLE.sub(lambda found: f"{found[1]}\n{_table(found[2])}\n{found[3]}", text)


def _table(name: str) -> str:
    match name:
        case "Config":
            return _rows(HEAD_OF_KEYS, _keys(SCHEMA))
        case "noise kinds":
            return _rows(("kind", "effect", "`rates`", "values"), map(_kind, KINDS))
        case "noise keys":
            return _rows(HEAD_OF_KEYS, _keys(DEFINITIONS["UniformSpec"], ("noise_on", "name")))
        case "function noise":
            return _rows(HEAD_OF_KEYS, _keys(DEFINITIONS["FunctionSpec"], ("function", "params")))
        case "given noise":
            return _rows(HEAD_OF_KEYS, _keys(DEFINITIONS["GivenSpec"], ("labels", "rate")))
        case "short names":
            models = (
                (f"`{name}`", of.group, _text(of.summary), f"`{of.model}`") for name, of in SHORT_NAMES.items()
            )
            return _rows(("short name", "library", "model", "class"), models)
        case "measures":
            return _rows(("measure", "best", "definition"), map(_measure, (*SCORED, *TIMED)))
        case "criterion" | "loss":
            known = ((f"`{key}`", _text(line)) for key, line in variants(name).items())
            return _rows((name, "definition"), known)
        case _:
            # An object that also has a short form is the last of them.
            return _rows(HEAD_OF_KEYS, _keys(DEFINITIONS[name].get("anyOf", [DEFINITIONS[name]])[-1]))


def _keys(schema: dict[str, Any], names: Iterable[str] | None = None) -> Iterator[tuple[str, ...]]:
    """Yield a row for each key."""
    for name in schema["properties"] if names is None else names:
        if name == SCHEMA_KEY:
            continue
        key = schema["properties"][name]
        default = key.get("default")
        if name in schema.get("required", ()):
            shown = "required"
        else:
            shown = "" if default is None or "$ref" in key else f"`{json.dumps(default)}`"
        yield f"`{name}`", _text(key["description"]), _value(key), shown


def _kind(name: str) -> tuple[str, ...]:
    """Return the row of a kind of noise."""
    keys = DEFINITIONS[name]["properties"]
    what = _text(DEFINITIONS[name]["description"])
    rates = keys.get("rates")
    if rates is None:
        return f"`{keys['kind']['const']}`", what, "none", ""
    default = f"; default `{json.dumps(rates['default'])}`" if "default" in rates else ""
    return f"`{keys['kind']['const']}`", what, _text(rates["description"]), _value(rates["items"]) + default


def _measure(measure: Measure) -> tuple[str, ...]:
    text = inspect.getdoc(measure.score) if measure.score else f"{measure.label.capitalize()}, wall time."
    definition = _text(" ".join(str(text).split()))
    return f"`{measure.name}`", "highest" if measure.higher_is_better else "lowest", definition


def _value(schema: dict[str, Any]) -> str:
    """Describe in words what a schema allows."""
    if "$ref" in schema:
        return OBJECTS[schema["$ref"].rpartition("/")[2]]
    if "oneOf" in schema:
        return NOISE
    if "const" in schema or "enum" in schema:
        return _names([schema["const"]] if "const" in schema else schema["enum"])
    if "anyOf" in schema:
        forms = [form for form in schema["anyOf"] if form != {"type": "null"}]
        if all("enum" in form for form in forms):
            return _names([name for form in forms for name in form["enum"]])
        return " or ".join(dict.fromkeys(map(_value, forms)))
    match schema["type"]:
        case "array":
            n = f"{schema['minItems']} " if schema.get("minItems") == schema.get("maxItems", 0) else ""
            return f"list of {n}{_plural(_value(schema['items']))}" if schema["items"] else "list"
        case "boolean":
            return "`true` or `false`"
        case "object" if "patternProperties" in schema:
            (of_any_name,) = schema["patternProperties"].values()
            return f"object of {_plural(_value(of_any_name))}"
        case "object" if isinstance(schema["additionalProperties"], dict):
            return f"object of {_plural(_value(schema['additionalProperties']))}"
        case "string" if schema.get("maxLength") == 1:
            return "one character"
        case kind:
            words = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to"}
            words["exclusiveMaximum"] = "and below"
            return " ".join([kind, *(f"{word} {schema[key]}" for key, word in words.items() if key in schema)])


def _names(names: list[str]) -> str:
    """List names to choose from; prefixed and suffixed ones are summarised."""
    listed = [f"`{name}`" for name in names if not any(affix in name for affix in VARIANTS)]
    listed += [text for affix, text in VARIANTS.items() if any(affix in name for name in names)]
    return ", ".join(listed)


def _plural(value: str) -> str:
    """Put words for values into the plural."""
    for singular, plural in PLURALS.items():
        value = value.replace(singular, plural)
    return re.sub(r"(?<![`\w])(string|integer|number|list|object)\b", r"\1s", value)


def _text(text: str) -> str:
    """Escape text for a cell of a Markdown table; code stays as it is."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [re.sub(r"([*|<>\\]|(?<!\w)_|_(?!\w))", r"\\\1", part) for part in parts[::2]]
    return "".join(parts).removesuffix(".")


def _rows(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, *rows]
    table = [f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines]
    return "\n".join([table[0], "|---" * len(head) + "|", *table[1:]]) + "\n"


if __name__ == "__main__":
    REFERENCE.write_text(updated(REFERENCE.read_text(encoding="utf-8")), encoding="utf-8")
