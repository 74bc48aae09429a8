import numpy as np
import pytest

from boostnoise.eval import GivenNoise


def test_labels_of_a_split():
    y, given = np.array(list("aabbc")), list("abbcc")
    noise = GivenNoise(given)
    noisy, y_test = noise.corrupt_split(y, np.array([3, 1]), np.array([4, 0, 2]), noise_on="train+test")
    assert noisy.labels.tolist() == ["c", "b"]
    assert noisy.flipped.tolist() == [True, True]
    assert noisy.noise_rate == noisy.realised_rate == 1
    assert y_test.tolist() == ["c", "a", "b"]
    assert noise.corrupt(y).realised_rate == 0.4


def test_a_label_that_no_row_truly_has():
    assert GivenNoise([0, 2]).corrupt([0, 1]).labels.tolist() == [0, 2]
    with pytest.raises(ValueError, match=r"^y contains the label 2"):
        GivenNoise([0, 2]).corrupt([0, 1], classes=[0, 1])


def test_wrong_number_of_labels():
    with pytest.raises(ValueError, match=r"^labels must .* got 2 for 3 rows"):
        GivenNoise([0, 1]).corrupt([0, 1, 1])
