import numpy as np
import pytest
from numba import njit

from robust_splits._kernels.inputs import Samples
from robust_splits._kernels.search import count_classes


@njit
def count(keys, begin, end, samples, weight, low, high, out):
    return count_classes(keys, begin, end, samples, weight, low, high, out)


# Two classes have 32 bits each of the register that counts all, seven have nine, 65 have none.
@pytest.mark.parametrize(
    ("n_classes", "heaviest"), [(1, 9), (2, 9), (2, 2**28), (7, 9), (7, 90), (26, 1), (26, 9), (65, 9)]
)
@pytest.mark.parametrize("integers", [True, False])
def test_classes_are_counted_in_a_register_or_in_memory(n_classes, heaviest, integers):
    rng = np.random.default_rng(0)
    bits = max(1, (n_classes - 1).bit_length())
    for n in (0, 1, 2, 3, 40):
        codes, classes = rng.integers(5, size=n), rng.integers(n_classes, size=n)
        weights = rng.integers(1, heaviest + 1, size=n)
        payload = weights << bits | classes if integers else np.arange(n)
        samples = Samples(
            bits if integers else 0, min(32, 64 // n_classes), classes.astype(np.int32), weights.astype(float)
        )
        begin, end, low, high = n // 4, n, 1, 3
        counted = np.full(n_classes, np.nan)
        inside = np.arange(n) >= begin
        bound = float(weights[inside].sum())
        rows = count(codes << 32 | payload, begin, end, samples, bound, low, high, counted)
        inside &= (codes >= low) & (codes <= high)
        assert rows == inside.sum()
        np.testing.assert_array_equal(
            counted, np.bincount(classes[inside], weights=weights[inside], minlength=n_classes)
        )


@pytest.mark.parametrize("weight", [2**9 - 1, 2**9])
def test_a_count_that_fills_its_bits_does_not_spill_into_the_next(weight):
    keys = np.array([1 << 32 | weight << 3 | 0, 2 << 32 | 1 << 3 | 1])
    samples = Samples(3, 9, np.zeros(1, dtype=np.int32), np.zeros(1))
    counted = np.empty(7)
    assert count(keys[:1], 0, 1, samples, float(weight), 0, 5, counted) == 1
    assert counted.tolist() == [weight, 0, 0, 0, 0, 0, 0]
