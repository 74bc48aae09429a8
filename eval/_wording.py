"""Words of messages and texts: counts, lists, p-values."""

from __future__ import annotations

import math

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def p_text(p: float) -> str:
    """A p-value as a sentence gives it: three digits behind the point, four near 5 %, or that there is none."""
    if math.isnan(p):
        return "no p-value"
    return "p < 0.001" if p < 0.0005 else f"p = {p:.{4 if abs(p - 0.05) < 0.0005 else 3}f}"


def counted(n: int, noun: str) -> str:
    """A number of things, in words up to ten: one data set, three data sets."""
    number = WORDS[n] if n < len(WORDS) else str(n)
    return f"{number} {noun}{'' if n == 1 else 's'}"


def there_are(n: int, noun: str) -> str:
    """There is one model, there are two models."""
    return f"there {'is' if n == 1 else 'are'} {counted(n, noun)}"


def listed(names: list[str]) -> str:
    """Names in a sentence: a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def sentence(text: str) -> str:
    """Text that begins with a capital letter."""
    return text[:1].upper() + text[1:]
