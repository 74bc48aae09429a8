"""Threads of this process; functions that release the GIL run in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_threads(function: Callable[[Item], Result], items: Iterable[Item], n_threads: int) -> list[Result]:
    """Apply `function` to all items; return the results in order."""
    # Not joblib, which polls for results every 10 ms: longer than many predictions take.
    if n_threads == 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))


def split_range(n: int, n_parts: int) -> list[slice]:
    """Split range(n) into at most `n_parts` non-empty slices of nearly equal length."""
    if n_parts == 1 and n > 0:
        return [slice(0, n)]
    edges = np.linspace(0, n, min(n, n_parts) + 1).astype(int)
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]
