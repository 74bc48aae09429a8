"""Validation with pydantic, and its errors in one line each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from .errors import ConfigError

Model = TypeVar("Model", bound=BaseModel)


def _check_name(name: str) -> str:
    if not name.strip() or not name.isprintable():
        raise ValueError("must be printable and not blank")
    return name


Name = Annotated[str, AfterValidator(_check_name)]


class Strict(BaseModel):
    """No unknown keys, no conversion between types, no change after validation."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def validate(model: type[Model], content: Mapping[str, Any]) -> Model:
    """Validate with pydantic and say what is wrong in one line per problem.

    Raises
    ------
    ConfigError
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise ConfigError("\n".join(_describe(problem, model) for problem in error.errors())) from None


def _describe(problem: Any, model: type[BaseModel]) -> str:
    where = ""
    for part in problem["loc"]:
        where += f"[{part}]" if isinstance(part, int) else f".{part}" if where else str(part)
    where = where if where.isprintable() else repr(where)
    context = problem.get("ctx", {})
    match problem["type"]:
        case "missing":
            return f"{where}: the key is missing"
        case "extra_forbidden":
            return f"{where}: unknown key; allowed are {', '.join(_allowed_keys(problem['loc'], model))}"
        case "value_error":
            message = str(context["error"])
        case "too_short":
            message = f"must hold at least {context['min_length']} items"
        case "too_long":
            message = f"must hold at most {context['max_length']} items"
        case "model_type" | "dict_type":
            message = "must be a JSON object"
        case _:
            message = problem["msg"].replace("Input should", "must")
    if not where:
        return message
    return f"{where}: {message}, got {shown(problem['input'])}"


def _allowed_keys(location: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    """Keys of the innermost object on the way to `location`."""
    for part in location[:-1]:
        if isinstance(part, str):
            annotation = model.model_fields[part].annotation
            candidates = [annotation, *getattr(annotation, "__args__", ())]
            model = next(c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel))
    return [key for key, field in model.model_fields.items() if not field.exclude]


def shown(value: Any) -> str:
    """A value as a message shows it: as JSON, on one line and not too long."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
