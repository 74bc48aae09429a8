"""Reading config files of both formats: JSON with // and /* */ comments and trailing commas."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from .._input_file import check_input_file
from ..errors import ConfigError, short_name, shown
from .base import check_json
from .run import Config, parse_config
from .study2020 import is_study_config, parse_study_config

MAX_CHARACTERS = 50_000_000

# Matches strings too, because they may contain comment characters.  Possessive quantifiers keep it linear.
STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]+|\\.)*+"?|(//[^\n]*+|/\*(?:[^*]+|\*(?!/))*+(?:\*/)?)', re.DOTALL)

# The group is a comma after the last item.  A comma that no item precedes is no such comma.
STRING_OR_COMMA = re.compile(r'"(?:[^"\\]+|\\.)*+"?|[\[{,]\s*+,|(,)(?=\s*+[\]}])', re.DOTALL)


def load_config(path: str | Path) -> Config:
    """Read and validate a config file in the current format or that of the 2020 study.

    The file may contain comments, and commas after the last items.

    Raises
    ------
    ConfigError
        If the file cannot be read or is invalid; one line per problem.
    """
    path = Path(path)
    try:
        with check_input_file(path).open(encoding="utf-8-sig") as file:
            text = file.read(MAX_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    if len(text) > MAX_CHARACTERS:
        raise ConfigError(f"{path}: must have at most {MAX_CHARACTERS:,} characters")
    try:
        content = parse_text(text)
        parse = parse_study_config if is_study_config(content) else parse_config
        return parse(content, path.stem).without_missing()
    except ConfigError as error:
        raise ConfigError("\n".join(f"{path}: {line}" for line in str(error).splitlines())) from None


def parse_text(text: str) -> dict[str, Any]:
    """Parse the text of a config.

    Raises
    ------
    ConfigError
        If the text is not a JSON object, or has a duplicate key, NaN or infinity.
    """
    if not text.strip():
        raise ConfigError("the file is empty")
    try:
        content = json.loads(
            STRING_OR_COMMA.sub(_blank_comma, STRING_OR_COMMENT.sub(_blank_comment, text)),
            object_pairs_hook=_object_without_duplicates,
            parse_constant=_reject_constant,
        )
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not valid JSON: {error}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"must be a JSON object, got {shown(content)}")
    check_json(content)
    return content


def _blank_comment(found: re.Match[str]) -> str:
    """Replace a comment with spaces, so that errors name the lines and columns of the file."""
    comment = found[1]
    if comment is None:
        return found[0]
    if comment.startswith("/*") and (len(comment) < 4 or not comment.endswith("*/")):
        raise json.JSONDecodeError("Unterminated comment starting at", found.string, found.start())
    return re.sub(r"[^\n]", " ", comment)


def _blank_comma(found: re.Match[str]) -> str:
    return found[0] if found[1] is None else " "


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise ValueError(f"an object has the key {short_name(key)!r} twice")
        content[key] = value
    return content


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")
