"""A data set."""

import numpy as np


def rings():
    """Two noisy rings around each other: 600 rows, two features."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    radius = 1 + y + rng.normal(0, 0.3, y.size)
    angle = rng.uniform(0, 2 * np.pi, y.size)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y
