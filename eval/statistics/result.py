"""Base class of the results of statistical tests, and texts that they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from .._wording import counted, is_or_are, sentence, wrap_sentences

NO_DATASET = "No data set has values of all models."


@dataclass(frozen=True, eq=False, kw_only=True)
class TestResult:
    """Result of a statistical test.  Printed, it is prose and a small table.

    Attributes
    ----------
    n_datasets : int
        Number of data sets compared, or of domains, which then count as one data set each.
    unit : {"data set", "domain"}
    alpha : float
        Significance level.
    has_power : bool
        Whether any outcome on this many data sets or repeats could be significant.  If not, p-values are NaN.
    remark : str
        Limitations of the result, in plain sentences; empty if there are none.
    dropped : dict of str to str
        Data sets excluded from the comparison, and why.
    left_out : dict of str to str
        Models without any value, excluded from the comparison, and why.
    """

    n_datasets: int
    unit: str = "data set"
    alpha: float = 0.05
    has_power: bool = True
    remark: str = ""
    dropped: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return wrap_sentences("\n".join(text for text in (self.summary, self.exclusions) if text))

    @property
    def summary(self) -> str:
        """Result as prose and tables, and its limitations."""
        return "\n".join(part for part in (*self._parts(), self.remark) if part)

    @property
    def exclusions(self) -> str:
        """Excluded data sets and models, and why."""
        lines = [f"Data set {name} was dropped: {why}." for name, why in self.dropped.items()]
        lines += [f"Model {name} {why}; it was left out." for name, why in self.left_out.items()]
        return "\n".join(lines)

    def _parts(self) -> tuple[str, ...]:
        """Result as prose and tables; empty parts are not printed."""
        return ()


@dataclass(frozen=True, eq=False, kw_only=True)
class ControlResult(TestResult):
    """Result of tests of one model against all others.

    Attributes
    ----------
    control : str or None
        The model that the others are compared with; None if no model has values.
    table : DataFrame
        One row per other model.
    """

    control: str | None
    table: pd.DataFrame

    @property
    def compared(self) -> str:
        """Control, number of other models, and number of data sets or domains, as text."""
        others, units = counted(len(self.table), "model"), counted(self.n_datasets, self.unit)
        return f"{self.control} against {others} over {units}"


def format_table(table: pd.DataFrame) -> str:
    """Format a table as text; empty if it has no row."""
    return table.to_string(index=False, float_format="{:.4f}".format) if len(table) else ""


def too_few_remark(n: int, noun: str, test: str, needed: int) -> str:
    """Remark that a test needs more data sets or repeats."""
    are = f"{counted(n, noun)} {is_or_are(n)} too few" if n else f"there is no {noun}"
    return sentence(f"{are} for {test}; at least {counted(needed, noun)} {is_or_are(needed)} needed.")
