"""How much of the estimated noise is proven: what overlapping classes cannot explain.

A label may differ from the most probable one because it is wrong, or because the classes overlap there.  If no
rows are certain to be of a class, exact probabilities of the labels would tell nothing about which it is [1]_.
Those of a model do.  They vary from row to row by chance too, and if noise is the reason, the share of other
labels does not vary with them among the rows that are far from the boundary of the classes; where classes
overlap, it does.

So the labels are explained with less and less noise, ``T_s = I + s (T - I)`` with s from 1 to 0, and each time
the probabilities of the clean classes are calibrated as well as they can be.  Their powers are fitted anew, so
that probabilities that are too close together or too far apart prove nothing.  The smallest s that explains the
labels nearly as well as the best one is what is proven.

References
----------
.. [1] Scott, Blanchard & Handy, "Classification with Asymmetric Label Noise: Consistency and Maximal
       Denoising", COLT 2013 (mutual irreducibility).
"""

from __future__ import annotations

import numpy as np

from .clean_posterior import Codes, Floats, fit_calibration
from .weights import spaced_rows

SCALES = np.linspace(0.0, 1.0, 11)  # of the noise
FREE = 1.0  # standard deviation of the changes of the powers, so that calibration may differ with the noise
MAX_FITTED_ROWS = 1 << 13


def scale_noise(T: Floats, scale: float) -> Floats:
    """Transition matrix of a part of the noise: I + scale (T - I)."""
    identity = np.eye(len(T))
    scaled: Floats = identity + scale * (T - identity)
    return scaled


def profile_likelihood(codes: Codes, q: Floats, T: Floats, weight: Floats) -> Floats:
    """Log likelihood of the noisy labels with each of `SCALES` of the noise; see `fit_calibration`."""
    rows = spaced_rows(codes.size, MAX_FITTED_ROWS)
    return np.array(
        [fit_calibration(codes[rows], q[rows], scale_noise(T, s), weight[rows], FREE)[1] for s in SCALES]
    )


def smallest_scale(log_likelihoods: Floats, drop: float) -> float:
    """Smallest scale whose log likelihood is at most drop / 2 below the highest, by linear interpolation.

    Parameters
    ----------
    log_likelihoods : float array
        Of `SCALES`.
    drop : float
        Twice the difference of the log likelihoods.
    """
    excess = 2 * (log_likelihoods.max() - log_likelihoods) - drop
    first = int(np.flatnonzero(excess <= 0)[0])
    if first == 0:
        return 0.0
    step = excess[first - 1] / (excess[first - 1] - excess[first])
    return float(SCALES[first - 1] + step * (SCALES[first] - SCALES[first - 1]))
