"""Read the rows of a node on a column from the list of rows without its lowest value; see `ListedRows`.

A row in the list is the node's if its place among the rows of all nodes lies between the node's begin and end.
"""

from __future__ import annotations

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .coding import read_code
from .compile import inlined_kernel, inner_kernel
from .inputs import LOW_HALF
from .sorting import LAST

LOOKUP_COST = 2  # of a row in a list, relative to reading a code
NOT_DRAWN = -1


@inner_kernel()
def gather_listed(column, listed, rows, places, begin, end, keys):
    """Write a key for each row of the node in `listed`: the code, then the payload, in the order of `rows`.

    Returns the lowest and the highest code of all rows of the node, and the number of keys.
    """
    low, high, n_keys = LAST, np.int64(0), 0
    for i in range(listed.shape[0]):
        row = np.int64(listed[uintp(i)])
        at = np.int64(places[uintp(row)])
        if begin <= at < end:
            code = read_code(column, row)
            low = min(low, code)
            high = max(high, code)
            while at < end and rows[uintp(at)] >> 32 == row:  # each of its labels
                keys[uintp(n_keys)] = (code << 32) | (rows[uintp(at)] & LOW_HALF)
                n_keys += 1
                at += 1
    if n_keys < end - begin:
        low = np.int64(0)
    return low, high, n_keys


@inlined_kernel()
def update_places(rows, begin, end, places):
    """Write the places of the rows in [begin, end), of several labels of a row that of the first."""
    for i in range(end - 1, begin - 1, -1):
        places[uintp(rows[uintp(i)] >> 32)] = i


def init_places(rows: NDArray[np.int64], places: NDArray[np.int32]) -> None:
    """Write the places of the rows of a tree, which are in their order, to `places` (n_samples,)."""
    places.fill(NOT_DRAWN)
    row = rows >> 32
    first = np.flatnonzero(np.diff(row, prepend=-1))  # label of each row
    places[row[first]] = first
