"""Configuration errors, and what their messages quote: values, suggestions and errors of libraries."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection
from difflib import SequenceMatcher, get_close_matches
from itertools import islice
from typing import Any

from ._wording import joined

MAX_LENGTH = 300  # characters of a library's message
MAX_NAME = 80
MAX_WORD, MAX_LINE = 300, 3_000  # in a ConfigError
CUTOFF = 0.7  # similarity of a suggestion, from 0 to 1
MAX_COMPARED = 100  # characters of names that are compared

# XGBoost's messages begin with a time and a source line and end with a stack trace.
XGBOOST_CONTEXT = re.compile(r"^\[\d\d:\d\d:\d\d\] \S+:\d+: | Stack trace: .*$")

# Characters that control a terminal or change the direction of text.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

LONG_WORD = re.compile(rf"(\S{{{MAX_WORD - 1}}})\S\S+")


class ConfigError(ValueError):
    """Error in the user's input.  The message has one line per problem.

    Names in a message may come from a stranger's file, so words and lines of any length are cut.
    """

    def __init__(self, message: str) -> None:
        lines = LONG_WORD.sub(r"\1…", message).split("\n")
        super().__init__("\n".join(shortened(line, MAX_LINE) for line in lines))


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


def without_controls(text: str) -> str:
    """Replace `CONTROL` characters; unlike `printable`, this keeps line breaks, joiners and no-break spaces."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def short_name(name: str) -> str:
    """Name for a message, printable and with at most `MAX_NAME` characters."""
    return printable(name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…")


def shell_word(text: str) -> str:
    """Quote text for a command that a message suggests, so that a shell takes it as one argument."""
    return shlex.quote(printable(text))


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


def suggest(name: str, known: Collection[object]) -> str:
    """Most similar known name, as in " (did you mean 'xgboost'?)"; empty if none is similar."""
    by_lower = {str(one).lower(): str(one) for one in known}
    matches = get_close_matches(name[:MAX_COMPARED].lower(), by_lower, n=1, cutoff=CUTOFF)
    return f" (did you mean {by_lower[matches[0]]!r}?)" if matches else ""


def _is_plain(name: str) -> bool:
    """Whether a name can be read without quotes."""
    return name.isprintable() and name == name.strip() != ""


def nearest_first(name: str, known: Collection[object], limit: int = 20) -> str:
    """List known names; if there are more than `limit`, those most similar to `name`."""
    names = [str(one) if _is_plain(str(one)) else repr(one) for one in known]
    if len(names) > limit:
        name = name[:MAX_COMPARED].lower()
        names.sort(key=lambda one: -SequenceMatcher(None, name, one[:MAX_COMPARED].lower()).quick_ratio())
    return joined(names, limit)
