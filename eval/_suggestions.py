"""Suggestions in error messages about unknown names."""

from __future__ import annotations

from collections.abc import Collection
from difflib import SequenceMatcher, get_close_matches

from ._wording import joined

CUTOFF = 0.7  # similarity of a suggestion, from 0 to 1
MAX_LENGTH = 100  # of names that are compared


def suggest(name: str, known: Collection[object]) -> str:
    """Most similar known name, as in " (did you mean 'xgboost'?)"; empty if none is similar."""
    by_lower = {str(one).lower(): str(one) for one in known}
    matches = get_close_matches(name[:MAX_LENGTH].lower(), by_lower, n=1, cutoff=CUTOFF)
    return f" (did you mean {by_lower[matches[0]]!r}?)" if matches else ""


def nearest_first(name: str, known: Collection[object], limit: int = 20) -> str:
    """List known names; if there are more than `limit`, those most similar to `name`."""
    names = [str(one) if str(one).isprintable() else repr(one) for one in known]
    if len(names) > limit:
        name = name[:MAX_LENGTH].lower()
        names.sort(key=lambda one: -SequenceMatcher(None, name, one[:MAX_LENGTH].lower()).quick_ratio())
    return joined(names, limit)
