"""The scan by gini against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from numba import njit

from robust_splits._kernels.criterion_codes import GINI
from robust_splits._kernels.gini_scan import scan_gini
from robust_splits._kernels.inputs import BLOCK, Measure, Samples, Search, new_scratch
from robust_splits._kernels.nodes import GrowthSettings
from robust_splits._kernels.scan import SortedColumn, describe

SMALLEST = np.finfo(float).tiny
NO_SPLIT = (-1, -1)


# Inner kernels cannot be called from Python.
@njit(error_model="numpy", _nrt=False)
def scan(search, counts, n_rows, column, best):
    return scan_gini(search, describe(GINI, 0.0, counts, n_rows, None), column, best)


def new_search(samples, scratch, min_rows, min_weight):
    """Inputs of a scan, with limits on the children."""
    growth = GrowthSettings(1, 0, 2, min_rows, min_weight, 0.0, 1, False)
    measure = Measure(GINI, 0.0, np.empty(0), 0)
    rows = features = np.zeros(1, dtype=np.int64)
    places, state = np.empty(0, dtype=np.int32), np.ones(1, dtype=np.uint64)
    scratch = scratch.for_search(gini=True, categories=False)
    return Search(
        samples, measure, growth, scratch, rows, features, places, state, rounding=0.0, phi_table=None, gini=True,
        exhaustive=True, random=None, categories=None, monotonic=None,
    )  # fmt: skip


class Column:
    """Sorted rows of a node: codes, classes and integer weights; some rows may already be on the left."""

    def __init__(self, seed, n_classes, n_rows, n_codes, n_left=0):
        rng = np.random.default_rng(seed)
        self.codes = np.sort(rng.integers(1, n_codes + 1, n_rows))
        self.classes = rng.integers(0, n_classes, n_rows)
        self.weights = rng.integers(1, 4, n_rows)
        self.left = np.bincount(rng.integers(0, n_classes, n_left), minlength=n_classes).astype(float)
        self.n_left, self.n_rows, self.n_classes = n_left, n_rows + n_left, n_classes
        self.counts = self.left + np.bincount(self.classes, self.weights, n_classes)

    def best_split(self, lowest, min_rows, min_weight, best):
        """The first of the best splits with a reduction above `best`: reduction, and the codes on both sides."""
        found = (Fraction(best), NO_SPLIT)
        left, rows, previous = [Fraction(x) for x in self.left], self.n_left, lowest
        for code, k, weight in zip(self.codes.tolist(), self.classes, self.weights.tolist(), strict=True):
            right = [n - a for n, a in zip(map(Fraction, self.counts), left, strict=True)]
            enough = min(rows, self.n_rows - rows) >= min_rows and min(sum(left), sum(right)) >= min_weight
            if previous >= 0 and code != previous and enough:
                reduction = squares(left) + squares(right) - squares(list(map(Fraction, self.counts)))
                if reduction > found[0]:
                    found = reduction, (previous, code)
            left[k] += weight
            rows += 1
            previous = code
        return found

    def sorted_keys(self):
        """Keys with weight and class in the low bits, and the `Samples` that say so."""
        bits = max(1, (self.n_classes - 1).bit_length())
        samples = Samples(bits, 0, np.zeros(1, dtype=np.int32), np.zeros(1))
        return self.codes << 32 | self.weights << bits | self.classes, samples

    def sorted_rows(self):
        """Keys with the row in the low bits, and the `Samples` with classes and weights."""
        rows = np.arange(self.codes.size)
        return self.codes << 32 | rows, Samples(0, 0, self.classes.astype(np.int32), self.weights.astype(float))

    def fill(self, scratch, low):
        """Write the histogram to `scratch`, starting with code `low`; return the number of bins."""
        n_bins = int(self.codes.max()) - low + 1
        weights, n_rows = scratch.histogram
        weights[:n_bins] = 0.0
        n_rows[:n_bins] = np.bincount(self.codes - low, minlength=n_bins)
        np.add.at(weights, (self.codes - low, self.classes), self.weights)
        return n_bins


def squares(counts):
    return sum(n * n for n in counts) / sum(counts)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_left", [0, 5])
@pytest.mark.parametrize("limits", [(1, SMALLEST), (4, 11.0), (1, 2.0)])
@pytest.mark.parametrize("best", [1e-9, 0.8])
def test_it_finds_the_first_of_the_best_splits(n_classes, n_left, limits, best):
    scratch = new_scratch(1000, n_classes)
    n_found = 0
    for seed, n_rows in enumerate((1, 2, 3, 5, 9, 20, 40, BLOCK, BLOCK + 1, 3 * BLOCK)):
        for n_codes in (2, 12, 100):
            column = Column(seed, n_classes, n_rows, n_codes, n_left)
            # Rows on the left have code 0, or missing values, which are not separated from the others.
            for lowest in (-1, 0) if n_left else (-1,):
                reduction, codes = column.best_split(lowest, *limits, best)
                n_found += codes != NO_SPLIT
                for keys, samples in column.sorted_keys(), column.sorted_rows():
                    for low in (None, 0, 1):  # the keys themselves, or bins that start with this code
                        bins = (0, 0) if low is None else (low, column.fill(scratch, low))
                        scratch.counts.left[:] = column.left
                        search = new_search(samples, scratch, *limits)
                        rows = SortedColumn(keys, low is not None, *bins, lowest, n_left)
                        result = scan(search, column.counts, column.n_rows, rows, best)
                        assert result[1:] == codes
                        assert result[0] == pytest.approx(float(reduction), rel=1e-9)
    assert n_found > 10
