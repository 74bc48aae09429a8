"""Validation with pydantic, and its errors in one line each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from ..errors import ConfigError, printable, shown

Model = TypeVar("Model", bound=BaseModel)


def _check_name(name: str) -> str:
    if not name.strip() or not name.isprintable():
        raise ValueError("must be printable and not blank")
    return name


MAX_NAME = 4096  # characters, as many as a path may have
MAX_DEPTH = 100  # of lists and objects within one another
MAX_VALUES = 1_000_000  # in a config
MAX_PROBLEMS = 20  # in a message


# A schema can only say that there is something to see and that nothing controls a terminal.
PRINTABLE = r"^(?=.*\S)[^\u0000-\u001f\u007f-\u00a0]+$"

Name = Annotated[
    str, Field(max_length=MAX_NAME, json_schema_extra={"pattern": PRINTABLE}), AfterValidator(_check_name)
]


def has_printable_lines(text: str) -> bool:
    """Whether text holds printable characters and ends of lines alone."""
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
    """No unknown keys, no conversion between types, no change after validation."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @classmethod
    def short_form(cls) -> dict[str, Any] | None:
        """The JSON Schema of what a config may hold in place of an object with these keys; None for nothing."""
        return None


def with_keys(*present: str, absent: Sequence[str] = ()) -> dict[str, Any]:
    """The JSON Schema of objects with some keys and without others; null stands for a key that is absent."""
    wanted: dict[str, Any] = {key: {"not": {"type": "null"}} for key in present}
    return {"required": list(present), "properties": wanted | {key: {"type": "null"} for key in absent}}


def validate(model: type[Model], content: Mapping[str, Any]) -> Model:
    """Validate with pydantic and say what is wrong in one line per problem.

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
    """Check what no field of a model says anything about: that numbers are finite and text is Unicode.

    Parameters
    ----------
    content : JSON object

    Raises
    ------
    ConfigError
        If a number is infinite or NaN, text holds half a surrogate pair, there are very many values, or the
        nesting is too deep.
    """
    n_values = 0
    waiting: list[tuple[Any, str, int]] = [(content, "", 0)]
    while waiting:
        value, where, depth = waiting.pop()
        n_values += 1
        problem = None
        if isinstance(value, float) and not math.isfinite(value):
            problem = f"must be a finite number, got {value}"
        elif isinstance(value, str) and not _is_unicode(value):
            problem = f"must be Unicode text, got {ascii(value)[:60]}"
        elif isinstance(value, dict) and not all(_is_unicode(str(key)) for key in value):
            problem = "its keys must be Unicode text"
        elif isinstance(value, dict | list) and depth == MAX_DEPTH:
            problem = f"lists and objects may be nested {MAX_DEPTH} deep at most"
        elif n_values > MAX_VALUES:
            where, problem = "", f"holds more than {MAX_VALUES:,} values"
        if problem is not None:
            raise ConfigError(f"{printable(where)[:200] or 'the config'}: {problem}")
        if isinstance(value, dict):
            waiting += [
                (item, f"{where}.{key}" if where else str(key), depth + 1) for key, item in value.items()
            ]
        elif isinstance(value, list):
            waiting += [(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value[: MAX_VALUES + 1])]


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _describe(problem: Any, model: type[BaseModel]) -> str:
    where, models = _place(problem["loc"], model)
    context, found = problem.get("ctx", {}), problem["input"]
    if problem["type"].startswith("union_tag"):
        key = context["discriminator"].strip("'")
        where += f".{key}"
        found = found.get(key)
    where = where if where.isprintable() else repr(where)
    match problem["type"]:
        case "missing" | "union_tag_not_found":
            return f"{where}: the key is missing"
        case "extra_forbidden":
            allowed = [key for key, field in models[0].model_fields.items() if not field.exclude]
            return f"{where}: unknown key; allowed are {', '.join(allowed)}"
        case "union_tag_invalid":
            message = f"must be one of {context['expected_tags']}"
        case "value_error":
            message = str(context["error"])
        case "too_short":
            message = f"must hold at least {_items(context['min_length'])}"
        case "too_long":
            message = f"must hold at most {_items(context['max_length'])}"
        case "model_type" | "dict_type" | "model_attributes_type":
            message = "must be a JSON object"
        case _:
            message = problem["msg"].replace("Input should", "must").replace("String should", "must")
    if not where:
        return message
    return f"{where}: {message}, got {shown(found)}"


def _items(n: int) -> str:
    return "1 item" if n == 1 else f"{n} items"


def _place(location: Sequence[int | str], model: type[BaseModel]) -> tuple[str, list[type[BaseModel]]]:
    """A place as users write it, and the models that may describe it, or the object around an unknown key."""
    where, models = "", [model]
    for part in location:
        if isinstance(part, int):
            where += f"[{part}]"
        elif len(models) > 1:
            # Not a key, but the kind of the object, which pydantic names to tell which of several models it is.
            models = [m for m in models if part in get_args(m.model_fields["kind"].annotation)]
        else:
            where += f".{part}" if where else part
            if models and part in models[0].model_fields:
                models = _models_in(models[0].model_fields[part].annotation)
    return where, models


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]
