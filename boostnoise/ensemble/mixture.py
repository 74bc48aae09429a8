"""Weights of a mixture of models that make the given labels most likely.

References
----------
Dempster, Laird & Rubin, "Maximum likelihood from incomplete data via the EM algorithm", Journal of the Royal
Statistical Society B 39, 1977.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..losses.softmax import Floats

PRIOR_ROWS = 5.0  # weight of equal shares, in rows for each model
STEPS = 200
SMALLEST_WEIGHT = 0.05  # smaller ones are not worth a fit


def label_likelihoods(predicted: Sequence[Floats], T: Floats, given: Floats) -> Floats:
    """Likelihood of the label of each row under each model, shape (n, n_models); NaN where a model has none.

    Parameters
    ----------
    predicted : sequence of arrays of shape (n, K)
        Probabilities of the clean classes by each model.
    T : array of shape (K, K)
        Transition matrix.
    given : array of shape (n, K)
        Given labels, one-hot, or their probabilities: then the geometric mean of the likelihoods.
    """
    smallest = 1e-3 / len(T)
    return np.column_stack(
        [np.exp((given * np.log(np.maximum(p @ T, smallest))).sum(axis=1)) for p in predicted]
    )


def mixture_weights(likelihoods: Floats, weight: Floats) -> Floats:
    """Weights of the models with the highest likelihood of their mixture, by the EM algorithm.

    Parameters
    ----------
    likelihoods : array of shape (n, n_models)
    weight : array of shape (n,)
        Number of times that each row counts.

    Returns
    -------
    array of shape (n_models,)
        They sum to 1; those below 0.05 are 0.
    """
    n_models = likelihoods.shape[1]
    shares = np.full(n_models, 1 / n_models)
    for _ in range(STEPS):
        joint = likelihoods * shares
        counts = weight @ (joint / joint.sum(axis=1, keepdims=True)) + PRIOR_ROWS
        shares = counts / counts.sum()
    shares[shares < SMALLEST_WEIGHT] = 0.0
    normalised: Floats = shares / shares.sum()
    return normalised
