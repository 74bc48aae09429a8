import numpy as np
import pytest

from boostnoise.eval import GivenNoise


def test_labels_of_a_split():
    y, given = np.array(list("aabbc")), list("abbcc")
    noise = GivenNoise(given)
    noisy, y_test = noise.corrupt_split(y, np.array([3, 1]), np.array([4, 0, 2]), noise_on="train+test")
    assert noisy.labels.tolist() == ["c", "b"]
    assert noisy.flipped.tolist() == [True, True]
    assert noisy.asked_rate == noisy.realised_rate == 1
    assert y_test.tolist() == ["c", "a", "b"]
    assert noise.corrupt(y).realised_rate == 0.4


def test_a_label_that_is_nowhere_right():
    assert GivenNoise([0, 2]).corrupt([0, 1]).labels.tolist() == [0, 2]
    with pytest.raises(ValueError, match="y holds a label that is not in classes"):
        GivenNoise([0, 2]).corrupt([0, 1], classes=[0, 1])


def test_every_row_has_its_label():
    with pytest.raises(ValueError, match="there are 2 noisy labels for 3 rows"):
        GivenNoise([0, 1]).corrupt([0, 1, 1])
