"""Validation with pydantic, with one line per error."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema

from ..errors import ConfigError, short_name, shown, suggest

Model = TypeVar("Model", bound=BaseModel)


def _check_name(name: str) -> str:
    if not name.strip() or not name.isprintable():
        raise ValueError("must be printable and not blank")
    return name


# The path of a value in a config: that of the list or object that has it, and its index or key.
_Path = tuple["_Path", int | str] | None

MAX_NAME = 4096  # characters, the maximum length of a path
MAX_DEPTH = 100  # of nested lists and objects
MAX_VALUES = 1_000_000  # in a config
MAX_PROBLEMS = 20  # in a message

# All that a JSON Schema can check: a visible character, and no control characters.
PRINTABLE = r"^(?=.*\S)[^\u0000-\u001f\u007f-\u00a0]+$"

Name = Annotated[
    str, Field(max_length=MAX_NAME, json_schema_extra={"pattern": PRINTABLE}), AfterValidator(_check_name)
]


def has_printable_lines(text: str) -> bool:
    """Whether text consists of printable characters and line breaks."""
    return all(line.isprintable() for line in text.split("\n"))


def _check_title(text: str) -> str:
    if not has_printable_lines(text):
        raise ValueError("must be printable")
    return text


Title = Annotated[
    str,
    Field(max_length=1000, json_schema_extra={"pattern": r"^[^\u0000-\u0009\u000b-\u001f\u007f-\u00a0]*$"}),
    AfterValidator(_check_title),
]


class Strict(BaseModel):
    """Base model: no unknown keys, no type conversion, immutable."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @classmethod
    def short_form(cls) -> dict[str, Any] | None:
        """JSON Schema of the values that can replace an object with these keys; None if there are none."""
        return None


def with_keys(*present: str, absent: Sequence[str] = ()) -> dict[str, Any]:
    """JSON Schema of objects with some keys and without others; a key with the value null counts as absent."""
    required: dict[str, Any] = {key: {"not": {"type": "null"}} for key in present}
    return {"required": list(present), "properties": required | {key: {"type": "null"} for key in absent}}


def validate(model: type[Model], content: Mapping[str, Any]) -> Model:
    """Validate with pydantic and report one line per problem.

    Raises
    ------
    ConfigError
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        problems = [_describe(problem, model) for problem in error.errors()[:MAX_PROBLEMS]]
        if error.error_count() > MAX_PROBLEMS:
            problems.append(f"and {error.error_count() - MAX_PROBLEMS} more problems")
        raise ConfigError("\n".join(problems)) from None


def check_json(content: dict[str, Any]) -> None:
    """Check that numbers are finite, text is Unicode, and size and nesting are limited.

    Parameters
    ----------
    content : JSON object

    Raises
    ------
    ConfigError
        If a number is infinite or NaN, text contains half a surrogate pair, there are too many values, or the
        nesting is too deep.
    """
    n_values = 0
    waiting: list[tuple[Any, _Path, int]] = [(content, None, 0)]
    while waiting:
        value, path, depth = waiting.pop()
        n_values += 1
        problem = None
        if isinstance(value, float) and not math.isfinite(value):
            problem = f"must be a finite number, got {value}"
        elif isinstance(value, str) and not _is_unicode(value):
            problem = f"must be Unicode text, got {ascii(value)[:60]}"
        elif isinstance(value, dict) and not all(_is_unicode(str(key)) for key in value):
            problem = "its keys must be Unicode text"
        elif isinstance(value, dict | list) and depth == MAX_DEPTH:
            problem = f"lists and objects must be nested at most {MAX_DEPTH} deep"
        elif n_values > MAX_VALUES:
            path, problem = None, f"must have at most {MAX_VALUES:,} values"
        if problem is not None:
            raise ConfigError(f"{_joined_path(path) or 'the config'}: {problem}")
        if isinstance(value, dict):
            waiting += [(item, (path, str(key)), depth + 1) for key, item in value.items()]
        elif isinstance(value, list):
            waiting += [(item, (path, i), depth + 1) for i, item in enumerate(value[: MAX_VALUES + 1])]


def _joined_path(path: _Path) -> str:
    """Text of a path, as in datasets[0].name; built only for messages, as a path is as long as its names."""
    parts: list[int | str] = []
    while path is not None:
        path, part = path
        parts.insert(0, part)
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{short_name(part)}" for part in parts)
    return text.removeprefix(".")


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _describe(problem: Any, model: type[BaseModel]) -> str:
    path, models = _locate(problem["loc"], model)
    context, found = problem.get("ctx", {}), problem["input"]
    if problem["type"].startswith("union_tag"):
        key = context["discriminator"].strip("'")
        path += f".{key}"
        found = found.get(key)
    match problem["type"]:
        case "missing" | "union_tag_not_found":
            return f"{path}: required key is missing"
        case "extra_forbidden":
            allowed = [key for key, field in models[0].model_fields.items() if not _is_hidden(field)]
            key = str(problem["loc"][-1])
            return f"{path}: unexpected key{suggest(key, allowed)}; allowed keys: {', '.join(allowed)}"
        case "union_tag_invalid":
            message = f"must be one of {context['expected_tags']}{_suggestion(found, context['expected_tags'])}"
        case "literal_error":
            message = problem["msg"].replace("Input should", "must") + _suggestion(found, context["expected"])
        case "value_error":
            message = str(context["error"])
        case "too_short":
            message = f"must have at least {_items(context['min_length'])}"
        case "too_long":
            message = f"must have at most {_items(context['max_length'])}"
        case "model_type" | "dict_type" | "model_attributes_type":
            message = "must be a JSON object"
        case _:
            message = problem["msg"].replace("Input should", "must").replace("String should", "must")
            message = message.replace("a valid integer", "an integer").replace("a valid ", "a ")
    if not path:
        return message
    return f"{path}: {message}, got {shown(found)}"


def _is_hidden(field: FieldInfo) -> bool:
    """Whether a key is set by the program alone."""
    return bool(field.exclude) or any(type(part) is SkipJsonSchema for part in field.metadata)


def _suggestion(found: Any, expected: str) -> str:
    """Suggestion from the quoted names in a message of pydantic."""
    return suggest(found, re.findall("'([^']*)'", expected)) if isinstance(found, str) else ""


def _items(n: int) -> str:
    return "1 item" if n == 1 else f"{n} items"


def _locate(location: Sequence[int | str], model: type[BaseModel]) -> tuple[str, list[type[BaseModel]]]:
    """Path of a value in the config, and the models of that value, or of the object with an unexpected key."""
    path, models = "", [model]
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif len(models) > 1:
            # Not a key, but the kind of the object, by which pydantic selects one of several models.
            models = [m for m in models if part in get_args(m.model_fields["kind"].annotation)]
        else:
            path += f".{short_name(part)}" if path else short_name(part)
            if models and part in models[0].model_fields:
                models = _models_in(models[0].model_fields[part].annotation)
    return path, models


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]
