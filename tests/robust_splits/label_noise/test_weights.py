import numpy as np
import pytest

from robust_splits.label_noise.weights import check_any_weight, check_weight_sum, read_weights, total_weights


@pytest.mark.parametrize("weight", [[0, 0, 0], [1, 2, 3], ["0.5", 1, 2], np.full(3, 60_000, dtype=np.float16)])
def test_numbers_are_read(weight):
    np.testing.assert_array_equal(read_weights(weight, 3), np.asarray(weight).astype(float))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (["a", "b", "c"], "sample_weight must contain numbers, got dtype <U1"),
        ([1, 2, 1j], "sample_weight must contain numbers, got dtype complex128"),
        ([1, 2], r"sample_weight must have shape \(3,\), got \(2,\)"),
        ([[1], [1], [1]], r"sample_weight must have shape \(3,\), got \(3, 1\)"),
        ([1, np.nan, np.nan], r"sample_weight must be finite and not negative, got \[nan, nan\]"),
        ([1, np.inf, 1], r"sample_weight must be finite and not negative, got \[inf\]"),
        ([1, -1, 1], r"sample_weight must be finite and not negative, got \[-1\]"),
        ([1, 1, 1e300], r"sample_weight must sum to at least 1e-06 and at most 1e\+18 over the rows, got 1e\+300"),
        ([1e308, 1e308, 1e308], "sample_weight must sum to .*, got inf"),
        (np.full(3, 2e38, dtype=np.float32), "sample_weight must sum to .*, got inf"),
    ],
)  # fmt: skip
def test_bad_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        read_weights(weight, 3)


def test_zero_and_negligible_weights_are_rejected():
    with pytest.raises(ValueError, match="sample_weight is zero for all rows"):
        check_any_weight(np.zeros(3))
    with pytest.raises(ValueError, match=r"sample_weight must sum to at least 1e-06 and .*, got 3e-46"):
        check_weight_sum(np.full(3, 1e-46))
    with pytest.raises(ValueError, match=r"sample_weight is zero for all rows of classes \['b'\]"):
        total_weights(np.array([0, 1, 0]), np.array([1.0, 0, 1]), np.array(["a", "b"]))
