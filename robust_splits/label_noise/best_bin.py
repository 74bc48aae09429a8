"""Best bin estimation of label noise: the labels of the rows with the highest predicted probabilities.

Small bins have few rows, and in large ones classes overlap.  The best size is that with the lowest upper
confidence bound of the noise rate [1]_.  Sizes whose bound is nearly as low may say something else by chance,
so all sizes are averaged, with weights that fall with the bound.

References
----------
.. [1] Garg, Wu, Smola, Balakrishnan & Lipton, "Mixture Proportion Estimation and PU Learning: A Modern
       Approach", NeurIPS 2021.
.. [2] DerSimonian & Laird, "Meta-analysis in clinical trials", Controlled Clinical Trials 7, 1986.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Sizes of bins, in multiples of the weight of the rows with the label of the class.
SIZES = np.geomspace(0.05, 1.0, 20)

CAUTION = 2.0  # standard errors that are added to the share of other labels to compare bins
UNSEEN = 1.0  # added to the variance of the number of other labels, to compare bins
SHARPNESS = 3.0  # of the weights of bins; infinite for the best one alone
OTHER_LABELS = 5.0  # prior weight of equal shares of the other labels in a row of the transition matrix


@dataclass(frozen=True, eq=False)
class BestBins:
    """Labels of the rows that are most certain to be of each class, in bins of several sizes.

    Attributes
    ----------
    counts : float array of shape (B, K, K)
        ``counts[b, i, j]`` is the weight of the rows with label j in bin b of class i.
    weights : float array of shape (B,)
        Weights of the sizes; they sum to 1.
    noise_rate : float
        Share of other labels in the bins, averaged over the classes by the weight of their labels.
    standard_error : float
        Standard error of the noise rate in the bins of the largest weight, as if their labels were as mixed as
        those in the largest bins, since sizes are weighted for their few other labels.
    """

    counts: Floats
    weights: Floats
    noise_rate: float
    standard_error: float

    def transition_matrix(self) -> Floats:
        """Transition matrix of shape (K, K), whose rows shrink to one another.

        For each size of bins, the noise rates of the classes shrink to their mean, by the random-effects model
        of DerSimonian and Laird [2]_: all of the way if they differ by no more than chance.  The shares of the
        other labels in a row shrink to equal shares.
        """
        n_classes = self.counts.shape[1]
        off_diagonal = 1 - np.eye(n_classes)
        T = np.zeros((n_classes, n_classes))
        for weight, counts in zip(self.weights, self.counts, strict=True):
            others = counts * off_diagonal
            rates = _shrink_rates(others.sum(axis=1), counts.sum(axis=1))
            shares = others + OTHER_LABELS / (n_classes - 1) * off_diagonal
            T += (weight * rates / shares.sum(axis=1))[:, np.newaxis] * shares
        np.fill_diagonal(T, 1 - T.sum(axis=1))
        return T


def find_best_bins(codes: NDArray[np.integer], p: Floats, weight: Floats) -> BestBins:
    """Find the rows that are certain to be of a class, and count their labels.

    The bin of class i has the rows with the highest probability of i, whatever their labels.  As the
    probabilities come from other rows, they are independent of the labels, so the share of labels other than
    i in the bin is the noise rate of the class plus the share of rows of other classes.  Rows with the same
    probability enter a bin together, each with the same part.  All classes have bins of the same sizes,
    relative to the weight of their labels.  The weight of a size falls exponentially with the upper confidence
    bound of its noise rate, in standard errors above the lowest bound.

    Parameters
    ----------
    codes : int array of shape (n,)
        Class numbers of the noisy labels; each class must occur.
    p : array of shape (n, K)
        Probabilities of the noisy labels, from models that were fitted to other rows.
    weight : array of shape (n,)
        Positive number of times that each row counts.

    Returns
    -------
    BestBins
    """
    n_classes = p.shape[1]
    total = np.bincount(codes, weights=weight, minlength=n_classes)
    counts = np.empty((SIZES.size, n_classes, n_classes))
    for i in range(n_classes):
        top = _top_rows(p[:, i], weight, SIZES[-1] * total[i])
        _, rank = np.unique(-p[top, i], return_inverse=True)
        tied = np.bincount(rank, weights=weight[top])  # weight of the rows with each probability
        above = np.cumsum(tied) - tied
        for b, size in enumerate(SIZES * total[i]):
            share = (np.clip(size - above, 0.0, tied) / tied)[rank]  # of each row that is in the bin
            counts[b, i] = np.bincount(codes[top], weights=weight[top] * share, minlength=n_classes)
    sizes = counts.sum(axis=2)
    rates = 1 - np.diagonal(counts, axis1=1, axis2=2) / sizes
    shares = total / total.sum()
    noise_rates = rates @ shares
    # A bin of m rows without other labels does not prove that the rate is zero: its bound is 2 / m.
    errors = np.sqrt(((rates * (1 - rates) + UNSEEN / sizes) / sizes) @ shares**2)
    bounds = noise_rates + CAUTION * errors
    weights = np.exp(-SHARPNESS * (bounds - bounds.min()) / errors)
    weights /= weights.sum()
    mixed = noise_rates[-1] * (1 - noise_rates[-1])
    best = sizes[weights.argmax()]
    standard_error = np.sqrt(((mixed + 0.25 / best) / best) @ shares**2)
    return BestBins(counts, weights, float(weights @ noise_rates), float(standard_error))


def _top_rows(p: Floats, weight: Floats, size: float) -> NDArray[np.int64]:
    """Rows with the highest probabilities, of a given weight together, and those tied with the last one."""
    order = np.argsort(-p, kind="stable")
    last = order[min(int(np.searchsorted(np.cumsum(weight[order]), size)), p.size - 1)]
    return np.flatnonzero(p >= p[last])


def _shrink_rates(wrong: Floats, size: Floats) -> Floats:
    """Shares of other labels by class, shrunk to their mean."""
    rates, mean = wrong / size, wrong.sum() / size.sum()
    variance = (mean * (1 - mean) + 0.25 / size) / size
    precision = 1 / variance
    centre = precision @ rates / precision.sum()
    excess = precision @ (rates - centre) ** 2 - (size.size - 1)
    scale = precision.sum() - precision @ precision / precision.sum()
    between = max(0.0, excess / scale) if scale > 0 else 0.0
    shrunk: Floats = (between * rates + variance * centre) / (between + variance)
    return shrunk
