"""Reading a config file, in either format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .config import Config, parse_config
from .errors import ConfigError
from .study2020 import is_study2020, translate
from .validation import shown


def load_config(path: str | Path) -> Config:
    """Read and validate a config file, in this format or that of the 2020 study.

    Raises
    ------
    ConfigError
        If the file cannot be read or does not describe a run; one line per problem names the key, what was
        found and what is allowed.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    if not text.strip():
        raise ConfigError(f"{path}: the file is empty")
    try:
        content = json.loads(
            text, object_pairs_hook=_object_without_duplicates, parse_constant=_reject_constant
        )
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid JSON: {error}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: must hold a JSON object, got {shown(content)}")
    try:
        return translate(content, path.stem) if is_study2020(content) else parse_config(content, path.stem)
    except ConfigError as error:
        raise ConfigError("\n".join(f"{path}: {line}" for line in str(error).splitlines())) from None


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise ValueError(f"an object holds the key {key!r} twice")
        content[key] = value
    return content


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number that JSON knows")
