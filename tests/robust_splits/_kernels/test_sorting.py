import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from robust_splits._kernels.sorting import INDEX_BITS, N_COUNTERS, sort_keys
from robust_splits._kernels.waiting import pop, push

# Inner kernels cannot be called from Python.
sort = njit(
    lambda keys, scratch, short_keys, counters, low, high: sort_keys(
        keys, scratch, short_keys, counters, low, high
    )
)
add = njit(lambda heap, size, priority, node: push(heap, size, priority, node))
take = njit(lambda heap, size, priority: pop(heap, size, priority))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 8, 9, 18, 31, 40, 41, 300, 5_000])
@pytest.mark.parametrize("n_codes", [1, 2, 200, 300, 70_000, 2**24, 2**31 - 1])
def test_keys_are_sorted_by_code(n, n_codes):
    rng = np.random.default_rng(n + n_codes)
    codes = rng.integers(0, n_codes, n)
    keys = codes << 32 | rng.integers(0, 2**32, n)
    scratch = np.full(n, -7)
    expected = np.sort(keys)
    short_keys, counters = np.empty(1 << INDEX_BITS, dtype=np.int32), np.empty(N_COUNTERS, dtype=np.int64)
    moved = sort(keys, scratch, short_keys, counters, codes.min(), codes.max())
    result = scratch if moved else keys
    np.testing.assert_array_equal(result >> 32, expected >> 32)
    np.testing.assert_array_equal(np.sort(result), expected)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=60))
def test_the_heap_gives_the_highest_priority_first(values):
    priority = np.array(values)
    heap = np.empty(len(values), dtype=np.int64)
    size = 0
    for node in range(len(values)):
        size = add(heap, size, priority, node)
    taken = [take(heap, n, priority) for n in range(size, 0, -1)]
    assert sorted(taken) == list(range(len(values)))
    assert priority[taken].tolist() == sorted(values, reverse=True)
