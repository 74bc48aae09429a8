"""The error of a user's input, and the errors of others in one line."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

MAX_LENGTH = 300

# XGBoost tells when and where in its source an error is found, and at its end by which calls.
SURROUNDINGS = re.compile(r"^\[\d\d:\d\d:\d\d\] \S+:\d+: | Stack trace: .*$")


class ConfigError(ValueError):
    """What the user asked for cannot be run; the message says what, where and why, one line per problem."""


def one_line(error: BaseException) -> str:
    """What an error of a library says, on one line that can be printed; its type if it says nothing."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - such as that of a message with the % of a file in it
        message = ""
    text = SURROUNDINGS.sub("", " ".join(message.split())) or type(error).__name__
    return shortened(printable(text), MAX_LENGTH)


def printable(text: str) -> str:
    """Text that a terminal shows as it is: no character controls it, or changes the direction of others."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def shortened(text: str, width: int) -> str:
    """Text on at most so many characters: where there is more, it ends after a word, with an ellipsis."""
    if len(text) <= width:
        return text
    words, _, _ = text[: width - 1].rpartition(" ")  # the room of a space and an ellipsis is left
    return f"{words.rstrip(' .,:;')} …" if words else f"{text[: width - 1]}…"


def shown(value: Any) -> str:
    """A value as a message shows it: as JSON, on one line and not too long."""
    try:
        text = "".join(islice(json.JSONEncoder().iterencode(value), 61))  # of a long list the beginning alone
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
