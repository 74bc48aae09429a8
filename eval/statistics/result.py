"""What the results of all statistical tests share, and how they are worded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real

import pandas as pd

from .._wording import counted, is_or_are, sentence

NO_DATASET = "There is no data set of which all models have values."


@dataclass(frozen=True, eq=False, kw_only=True)
class Finding:
    """The result of a test; printed, it is prose and a small table.

    Attributes
    ----------
    n_datasets : int
        Data sets that were compared.
    alpha : float
        Significance level.
    has_power : bool
        Whether any outcome on so many data sets or repeats could be significant.  Where it is false, p-values
        are NaN.
    remark : str
        What limits the result, in plain sentences; empty where nothing does.
    dropped : dict of str to str
        Data sets that were not compared, and why.
    left_out : dict of str to str
        Models without any value, which were not compared, and why.
    """

    n_datasets: int
    alpha: float = 0.05
    has_power: bool = True
    remark: str = ""
    dropped: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join(text for text in (self.found, self.omitted) if text)

    @property
    def found(self) -> str:
        """Prose and tables, and what limits them."""
        return "\n".join(part for part in (*self._parts(), self.remark) if part)

    @property
    def omitted(self) -> str:
        """What was not compared, and why."""
        lines = [f"Data set {name} was dropped: {why}." for name, why in self.dropped.items()]
        lines += [f"Model {name} {why}; it was left out." for name, why in self.left_out.items()]
        return "\n".join(lines)

    def _parts(self) -> tuple[str, ...]:
        """What was found, as prose and tables; an empty one is not printed."""
        return ()


def aligned(table: pd.DataFrame) -> str:
    """A table as text; empty if it has no row."""
    return table.to_string(index=False, float_format="{:.4f}".format) if len(table) else ""


def checked_alpha(alpha: float) -> float:
    """Check a significance level."""
    if not isinstance(alpha, Real) or not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, got {alpha!r}")
    return alpha


def too_few(n: int, noun: str, test: str, needed: int) -> str:
    """Sentence on a test that so few data sets or repeats allow no result of."""
    are = f"{counted(n, noun)} {is_or_are(n)} too few" if n else f"there is no {noun}"
    return sentence(f"{are} for {test}; it takes {counted(needed, noun)} at least.")
