"""The result of `compare_annotators`, with its summaries."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._wording import joined, listed, numbered, p_text, percent, sentence
from ..errors import printable

ALPHA = 0.05
SHOWN_RATES = 24  # rows of the table; of more, only those of all classes
SHOWN_CLASSES = 5  # with a significant difference
ASSUMPTION = (
    "This takes annotators to err independently of one another and of the features, given the class. "
    "Check some random rows to see whether it holds."
)


@dataclass(frozen=True, eq=False, repr=False)
class AnnotatorComparison:
    """How often each annotator is wrong, as `boostnoise.compare_annotators` estimates it.

    Printed, it is a summary.

    Attributes
    ----------
    annotators : tuple
        Their names.
    classes : ndarray of shape (K,)
        Sorted labels.
    error_rates : DataFrame
        A row for each annotator and class, and for all classes together, where ``class`` is None: ``labels``,
        how many the annotator gave to rows of the class, as far as that is known; ``wrong``, the share of them
        that is wrong, with the 95 % interval from ``low`` to ``high``.  With checked rows also ``checked`` and
        ``checked_wrong``, the numbers of checked labels and of wrong ones, and the exact 95 % interval from
        ``checked_low`` to ``checked_high``, which rests on these rows alone.
    differences : DataFrame
        A row for each two annotators and class, and for all classes together: ``difference``, the share of
        wrong labels of ``first`` less that of ``second``, with the 95 % interval from ``low`` to ``high``,
        ``p_value`` of a t test, and ``p_holm``, corrected for the number of pairs, and of classes.  With
        checked rows also ``checked_only_first_wrong`` and ``checked_only_second_wrong``, the numbers of rows in
        which one of the two is right, ``checked_p_value`` of McNemar's exact test, and ``checked_p_holm``.
    transition_matrices : float array of shape (A, K, K)
        Probability that annotator a gives label j in class i.
    probabilities : DataFrame of shape (n, K)
        Probability of each class for each row, given features, labels and checked rows: soft labels to fit
        models to.  Missing for rows that neither an annotator nor the expert labelled.
    n_checked : int
        Number of rows that an expert has checked.
    remarks : tuple of str
        Reasons to doubt the estimates.
    """

    annotators: tuple[Any, ...]
    classes: NDArray[Any]
    error_rates: pd.DataFrame
    differences: pd.DataFrame
    transition_matrices: NDArray[np.float64]
    probabilities: pd.DataFrame
    n_checked: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def labels(self) -> pd.Series[Any]:
        """The most probable class of each row; missing where `probabilities` are."""
        found = pd.Series(pd.NA, self.probabilities.index, dtype=object, name="label")
        known = self.probabilities.notna().all(axis=1)
        found[known] = self.classes[self.probabilities[known].to_numpy().argmax(axis=1)]
        return found

    def __repr__(self) -> str:
        table = _shown_rates(self).to_string(index=False)
        return "\n".join([*sentences(self), "", "Share of wrong labels, with 95 % intervals", table])

    def _repr_html_(self) -> str:
        text = f"<p>{' '.join(escape(one) for one in sentences(self))}</p>"
        return f"<div>{text}{_shown_rates(self).to_html(index=False, border=0)}</div>"


def sentences(found: AnnotatorComparison) -> list[str]:
    """Summarise who is wrong more often, in which classes, and how far this can be trusted."""
    rates = found.error_rates[found.error_rates["class"].isna()].set_index("annotator")
    table = found.differences[found.differences["class"].isna()]
    clearest = table.iloc[int(table["p_holm"].to_numpy().argmin())]
    parts = [_overall(rates, clearest), *_by_class(found)]
    parts += _checked(found, rates, clearest) if found.n_checked else [ASSUMPTION]
    return [*parts, *(sentence(f"{remark}.") for remark in found.remarks)]


def _overall(rates: pd.DataFrame, test: pd.Series[Any]) -> str:
    """The two annotators who differ most clearly."""
    is_first = test["difference"] > 0
    worse, better = (test["first"], test["second"]) if is_first else (test["second"], test["first"])
    low, high = sorted([test["low"], test["high"]] if is_first else [-test["low"], -test["high"]])
    both = (
        f"about {_percent(rates['wrong'][worse])} of the labels of {_name(worse)} are wrong, and "
        f"{_percent(rates['wrong'][better])} of those of {_name(better)}"
    )
    corrected = "" if len(rates) == 2 else ", corrected for the number of pairs"
    interval = (
        f"95 % interval of the difference from {_percent(low)} to {_percent(high)}, "
        f"{p_text(test['p_holm'])}{corrected}"
    )
    if test["p_holm"] < ALPHA:
        return f"{_name(worse)} is wrong more often than {_name(better)}: {both} ({interval})."
    none = "Neither annotator" if len(rates) == 2 else "No annotator"
    return f"{none} is clearly wrong more often: {both} ({interval})."


def _by_class(found: AnnotatorComparison) -> list[str]:
    """Classes in which two annotators differ, the clearest ones first."""
    table = found.differences
    clear = table[table["class"].notna() & (table["p_holm"] < ALPHA)].sort_values("p_holm", kind="stable")
    rates = found.error_rates.set_index(["class", "annotator"])["wrong"]
    parts = []
    for _, row in clear.head(SHOWN_CLASSES).iterrows():
        pair = [row["first"], row["second"]]
        worse, better = pair if row["difference"] > 0 else pair[::-1]
        shares = [_percent(rates[row["class"], annotator]) for annotator in (worse, better)]
        parts.append(
            f"In class {_name(row['class'])}, {_name(worse)} is wrong more often than {_name(better)}: "
            f"{shares[0]} against {shares[1]} ({p_text(row['p_holm'])})."
        )
    return parts


def _checked(found: AnnotatorComparison, rates: pd.DataFrame, test: pd.Series[Any]) -> list[str]:
    """Sentences on the wrong labels among the checked rows, and on estimates that these rows contradict."""
    counts = [
        f"{rates['checked_wrong'][name]} of {rates['checked'][name]} labels of {_name(name)}"
        for name in (test["first"], test["second"])
    ]
    parts = [
        f"On {numbered(found.n_checked, 'checked row')}, {listed(counts)} are wrong "
        f"(McNemar's exact test, {p_text(test['checked_p_holm'])})."
    ]
    far = rates[(rates["checked_low"] > rates["high"]) | (rates["checked_high"] < rates["low"])].index
    if len(far):
        parts.append(
            f"The checked rows contradict the estimate for {joined(map(_name, far), limit=5)}: annotators err "
            "together, or their errors depend on the features. Trust the checked rows."
        )
    return parts


def _shown_rates(found: AnnotatorComparison) -> pd.DataFrame:
    table = found.error_rates
    if len(table) > SHOWN_RATES:
        table = table[table["class"].isna()]
    shown = pd.DataFrame(
        {
            "annotator": [printable(str(name)) for name in table["annotator"]],
            "class": ["all" if name is None else printable(str(name)) for name in table["class"]],
            "wrong": table["wrong"].map(_percent).to_numpy(),
            "interval": _intervals(table["low"], table["high"]),
        }
    )
    if found.n_checked:
        shown["checked: wrong"] = [
            f"{wrong} of {n}" for wrong, n in zip(table["checked_wrong"], table["checked"], strict=True)
        ]
        shown["checked: interval"] = _intervals(table["checked_low"], table["checked_high"])
    return shown


def _intervals(low: pd.Series[float], high: pd.Series[float]) -> list[str]:
    return [
        "" if np.isnan(one) else f"{_percent(one)} to {_percent(other)}"
        for one, other in zip(low, high, strict=True)
    ]


def _percent(share: float) -> str:
    return percent(round(share, 3), 3)


def _name(name: Any) -> str:
    return printable(repr(name))
