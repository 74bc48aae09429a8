import numpy as np
import pytest

from robust_splits import Gini
from robust_splits._kernels.gain import call_reduction
from robust_splits._kernels.gini_reduction import gini_reduction
from robust_splits._kernels.reduction import reduction


@pytest.mark.parametrize("integers", [False, True])
def test_it_is_the_reduction_of_all_criteria_to_the_last_bit(integers):
    rng = np.random.default_rng(0)
    for n_classes in rng.integers(1, 9, size=300):
        left, right = rng.gamma(0.5, size=(2, n_classes)) * 10.0 ** rng.integers(-3, 6)
        if integers:
            left, right = np.ceil(left), np.ceil(right)
        arguments = (Gini.code, 0.0, np.empty(0), left, right)
        assert call_reduction(gini_reduction, *arguments) == call_reduction(reduction, *arguments)
