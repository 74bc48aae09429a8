"""Reading a config file, in either format: JSON, with // and /* */ comments."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ..errors import ConfigError, shown
from .base import check_json
from .run import Config, parse_config
from .study2020 import is_study2020, translate

MAX_CHARACTERS = 50_000_000

# What looks like a comment in a string is none.  Nothing is read twice, however broken the file is.
STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]+|\\.)*+"?|(//[^\n]*+|/\*(?:[^*]+|\*(?!/))*+(?:\*/)?)', re.DOTALL)


def load_config(path: str | Path) -> Config:
    """Read and validate a config file, in this format or that of the 2020 study.

    It may hold comments.

    Raises
    ------
    ConfigError
        If the file cannot be read or does not describe a run; one line per problem names the key, what was
        found and what is allowed.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_CHARACTERS + 1)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    if len(text) > MAX_CHARACTERS:
        raise ConfigError(f"{path}: holds more than {MAX_CHARACTERS} characters, too many for a config")
    try:
        content = parse_text(text)
        return translate(content, path.stem) if is_study2020(content) else parse_config(content, path.stem)
    except ConfigError as error:
        raise ConfigError("\n".join(f"{path}: {line}" for line in str(error).splitlines())) from None


def parse_text(text: str) -> dict[str, Any]:
    """The object that the text of a config holds.

    Raises
    ------
    ConfigError
        If it is no JSON object, or JSON that says something twice or knows no number for; it names line and
        column.
    """
    if not text.strip():
        raise ConfigError("the file is empty")
    try:
        content = json.loads(
            STRING_OR_COMMENT.sub(_blank_comment, text),
            object_pairs_hook=_object_without_duplicates,
            parse_constant=_reject_constant,
        )
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not valid JSON: {error}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"must hold a JSON object, got {shown(content)}")
    check_json(content)
    return content


def _blank_comment(found: re.Match[str]) -> str:
    """Spaces in place of a comment, so that errors name lines and columns as they are in the file."""
    comment = found[1]
    if comment is None:
        return found[0]
    if comment.startswith("/*") and (len(comment) < 4 or not comment.endswith("*/")):
        raise json.JSONDecodeError("Unterminated comment starting at", found.string, found.start())
    return re.sub(r"[^\n]", " ", comment)


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise ValueError(f"an object holds the key {key!r} twice")
        content[key] = value
    return content


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number that JSON knows")
