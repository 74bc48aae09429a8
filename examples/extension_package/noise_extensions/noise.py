"""A kind of label noise."""

import numpy as np


def beyond_threshold(y, X, noise_rate, n_classes, rng, column=0):
    """Labels of the rows with the larger values in one column change twice as often as `noise_rate`.

    All other rows keep their labels, so the mean noise rate is `noise_rate`, which must be at most 1/2.
    """
    if noise_rate > 0.5:
        raise ValueError(f"noise_rate of beyond_threshold must be at most 0.5, got {noise_rate}")
    is_beyond = X[:, column].argsort().argsort() >= y.size // 2
    changes = is_beyond & (rng.random(y.size) < 2 * noise_rate)
    return np.where(changes, (y + rng.integers(1, n_classes, y.size)) % n_classes, y)
