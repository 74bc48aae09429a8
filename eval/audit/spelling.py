"""Labels that differ in case and blanks only, which are one class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from .._wording import joined
from ..datasets.inspection import find_label_variants, without_case_and_blanks


def most_frequent_spellings(labels: NDArray[Any]) -> dict[Any, Any]:
    """The most frequent spelling of each label that has a more frequent one."""
    column = pd.Series(labels, dtype=object)
    counts = column.value_counts(sort=False)
    found: dict[Any, Any] = {}
    for variants in find_label_variants(column):
        kept = max(variants, key=lambda label: int(counts[label]))
        found |= {label: kept for label in variants if label != kept}
    return found


def spelled_as(classes: NDArray[Any], labels: Iterable[Any]) -> list[Any]:
    """Labels in the spelling of the classes, where they differ in case and blanks only."""
    known = {without_case_and_blanks(name): name for name in classes.tolist() if isinstance(name, str)}
    return [
        known.get(without_case_and_blanks(label), label) if isinstance(label, str) else label
        for label in labels
    ]


def remark_on_spellings(spellings: dict[Any, Any]) -> str:
    """Remark that names the merged spellings."""
    pairs = joined([f"{label!r} as {kept!r}" for label, kept in spellings.items()], limit=5)
    return f"labels that differ in case or blanks only are one class: {pairs}"
