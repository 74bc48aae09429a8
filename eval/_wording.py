"""Wording of messages: counts, lists, percentages, p-values, noise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice
from textwrap import TextWrapper

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def numbered(n: int, noun: str) -> str:
    """Count in digits: 1 cell, 3 cells."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def counted(n: int, noun: str) -> str:
    """Count in words up to ten: one data set, three data sets, 11 data sets."""
    return numbered(n, noun).replace(str(n), WORDS[n], 1) if n < len(WORDS) else numbered(n, noun)


def is_or_are(n: int) -> str:
    """Verb for a count."""
    return "is" if n == 1 else "are"


def there_are(n: int, noun: str) -> str:
    """Clause with a count: there is one model, there are two models."""
    return f"there {is_or_are(n)} {counted(n, noun)}"


def listed(names: list[str]) -> str:
    """List in a sentence: a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def joined(names: Iterable[object], limit: int = 20) -> str:
    """Comma-separated list, cut to `limit` names: a, b, c, ..."""
    texts = [str(name) for name in islice(names, limit + 1)]
    return ", ".join([*texts[:limit], "..."] if len(texts) > limit else texts)


def distinct_numbers(one: float, other: float, digits: int = 3, most: int = 6) -> tuple[str, str]:
    """Two numbers with `digits` decimals, or with as many up to `most` as tell them apart."""
    for decimals in range(digits, most + 1):
        texts = f"{one:.{decimals}f}", f"{other:.{decimals}f}"
        if texts[0] != texts[1]:
            break
    return texts


def sentence(text: str) -> str:
    """Capitalise the first letter."""
    return text[:1].upper() + text[1:]


def wrap_sentences(text: str, width: int = 88) -> str:
    """Wrap the lines that end with a full stop, and so not those of tables."""
    wrapper = TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrapper.fill(line) if line.endswith(".") else line for line in text.splitlines())


def percent(share: float, digits: int = 4) -> str:
    """Share in percent with a number of significant digits: 30 %."""
    return f"{100 * share:.{digits}g} %"


def short_percent(share: float) -> str:
    """Share in percent with two digits, or as a whole number from 10 %."""
    return percent(round(share, 2), 3) if share >= 0.1 else percent(share, 2)


def under_noise(noise_kind: str, noise_rate: float | None = None) -> str:
    """Noise of a table or test: at 30 % uniform noise, under uniform noise, without noise."""
    if noise_rate is None:
        return f"under {noise_kind} noise"
    return f"at {percent(noise_rate)} {noise_kind} noise" if noise_rate else "without noise"


def p_text(p: float) -> str:
    """P-value in a sentence: three decimals, four near 5 %; no p-value if NaN."""
    if math.isnan(p):
        return "no p-value"
    return "p < 0.001" if p < 0.0005 else f"p = {p:.{4 if abs(p - 0.05) < 0.0005 else 3}f}"
