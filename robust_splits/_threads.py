"""Compiled work in threads of this process; what releases the interpreter's lock runs side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], n_threads: int) -> list[Result]:
    """Results of `function` for all items, in their order."""
    # Not joblib, which looks for results every 10 ms only: more than many a prediction takes.
    if n_threads == 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))


def shares(n: int, n_parts: int) -> list[slice]:
    """Cut range(n) into `n_parts` slices, as equal as can be, none empty."""
    edges = np.linspace(0, n, min(n, n_parts) + 1).astype(int)
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]
