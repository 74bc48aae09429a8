"""Configuration errors, and one-line summaries of library errors."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

MAX_LENGTH = 300

# XGBoost's messages begin with a time and a source line and end with a stack trace.
XGBOOST_CONTEXT = re.compile(r"^\[\d\d:\d\d:\d\d\] \S+:\d+: | Stack trace: .*$")


class ConfigError(ValueError):
    """Error in the user's input.  The message has one line per problem."""


def one_line(error: BaseException) -> str:
    """Message of a library's error as one printable line, or its type if the message is empty."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - for example, a % in the message that breaks its formatting
        message = ""
    text = XGBOOST_CONTEXT.sub("", " ".join(message.split())) or type(error).__name__
    return shortened(printable(text), MAX_LENGTH)


def printable(text: str) -> str:
    """Replace characters that control a terminal or change the direction of text."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def shortened(text: str, width: int) -> str:
    """Cut text to at most `width` characters, after a word and with an ellipsis."""
    if len(text) <= width:
        return text
    words, _, _ = text[: width - 1].rpartition(" ")  # leaves space for a blank and an ellipsis
    return f"{words.rstrip(' .,:;')} …" if words else f"{text[: width - 1]}…"


def shown(value: Any) -> str:
    """Format a value for a message: JSON on one line, at most 60 characters."""
    try:
        encoder = json.JSONEncoder(ensure_ascii=False)
        text = printable("".join(islice(encoder.iterencode(value), 61)))  # stops early for long lists
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
