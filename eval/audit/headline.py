"""The result of an audit in one sentence without statistical terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .expected_counts import ExpectedCounts
from .text import LITTLE

if TYPE_CHECKING:
    from .estimates import AuditEstimates

MOST, OFTEN = 0.6, 0.2  # shares of the wrong labels
UNCERTAIN = 1.5  # upper end of the interval in noise rates
AHEAD = 1.5  # times as many as the next confusion
SMALLEST = 0.0005  # share that rounds to 1 in 1,000
NAME_WIDTH = 36  # characters


def headline(audit: AuditEstimates, counts: ExpectedCounts) -> str:
    """Say how many labels are wrong, and which confusion is far more frequent than the others, if one is.

    Parameters
    ----------
    audit : AuditEstimates
    counts : ExpectedCounts
        Those of the audit.
    """
    possible = audit.noise_rate_interval[1]
    if audit.noise_rate < LITTLE and not audit.n_checked:
        but = f", but up to {_ratio(possible)} may be" if possible >= SMALLEST else ""
        return f"Hardly any label is proven wrong{but}"
    if audit.noise_rate < SMALLEST:
        return "Fewer than 1 in 1,000 labels are wrong"
    n = _base(audit.noise_rate)
    wrong, most = f"{n * audit.noise_rate:.0f}", f"{n * possible:.0f}"
    verb = "is" if wrong == "1" else "are"
    if possible >= UNCERTAIN * audit.noise_rate and wrong != most:
        wrong, verb = f"{wrong}, perhaps up to {most}", "are"
    return f"About {wrong} in {n:,} labels {verb} wrong{_main_confusion(counts)}"


def _ratio(share: float) -> str:
    """Share as a number of cases: 9 in 100, 4 in 1,000."""
    return f"{_base(share) * share:.0f} in {_base(share):,}"


def _base(share: float) -> int:
    return 100 if share >= LITTLE else 1000


def _main_confusion(counts: ExpectedCounts) -> str:
    """Clause that names the most frequent confusion; empty unless it is far ahead of the others."""
    wrong = counts.wrong
    second, first = np.sort(wrong, axis=None)[-2:]
    if first < AHEAD * second or first < OFTEN * wrong.sum():
        return ""
    given, right = (shorten(counts.names[i], NAME_WIDTH) for i in np.unravel_index(wrong.argmax(), wrong.shape))
    amount = "most of them" if first >= MOST * wrong.sum() else "most often"
    return f", {amount} '{given}' that is '{right}'"


def shorten(name: str, width: int) -> str:
    """Cut a name to at most `width` characters in its middle, since long names often begin alike."""
    end = (width - 1) // 3
    return name if len(name) <= width else f"{name[: width - end - 1].rstrip()}…{name[-end:].lstrip()}"
