"""The error of a user's input, and the errors of others in one line."""

from __future__ import annotations

import re

MAX_LENGTH = 300

# XGBoost tells when and where in its source an error is found, and at its end by which calls.
SURROUNDINGS = re.compile(r"^\[\d\d:\d\d:\d\d\] \S+:\d+: | Stack trace: .*$")


class ConfigError(ValueError):
    """What the user asked for cannot be run; the message says what, where and why, one line per problem."""


def one_line(error: BaseException) -> str:
    """What an error of a library says, on one line that can be printed; its type if it says nothing."""
    text = SURROUNDINGS.sub("", " ".join(str(error).split())) or type(error).__name__
    text = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 3] + "..."
