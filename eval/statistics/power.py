"""How many repeats a test over the repeats of a data set needs to show a difference.

References
----------
.. [1] Nadeau & Bengio, "Inference for the Generalization Error", Machine Learning 52, 2003.
"""

from __future__ import annotations

import math
from bisect import bisect_left

from .._numbers import check_fraction

POWER = 0.8
MIN_REPEATS, MAX_REPEATS = 3, 1000
MANY_ERRORS = 20.0  # times the critical value, beyond all differences in standard errors


def smallest_difference(
    sd: float, n_repeats: int, test_fraction: float | None = None, *, alpha: float = 0.05, power: float = POWER
) -> float:
    r"""The smallest difference of two models that a paired t-test over repeats shows with this probability.

    A t-test of J repeats shows a difference of delta standard errors with probability `power`.  The standard
    error is :math:`s \sqrt{1 / J + f / (1 - f)}`, since repeats on random splits of the same rows are not
    independent [1]_: more repeats do not make it smaller than :math:`s \sqrt{f / (1 - f)}`.

    Parameters
    ----------
    sd : float
        s, standard deviation of the difference of the two models over repeats.
    n_repeats : int
        J, from 2.
    test_fraction : float or None, default=None
        Share f of the rows in the test set; None for independent repeats.
    alpha, power : float

    Raises
    ------
    ValueError
        If a share does not lie between 0 and 1, or there are fewer than two repeats.

    Examples
    --------
    >>> from boostnoise.eval.statistics.power import smallest_difference
    >>> round(smallest_difference(0.02, 10, 0.2), 3)
    0.037
    """
    from scipy.optimize import brentq
    from scipy.stats import nct
    from scipy.stats import t as student

    for name, share in (("alpha", alpha), ("power", power)):
        check_fraction(name, share)
    if n_repeats < 2:
        raise ValueError(f"n_repeats must be at least 2, got {n_repeats!r}")
    shared = 0.0
    if test_fraction is not None:
        check_fraction("test_fraction", test_fraction)
        shared = test_fraction / (1 - test_fraction)
    freedom = n_repeats - 1
    critical = student.ppf(1 - alpha / 2, freedom)
    # In the wrong direction, it hardly ever shows a difference of this size.
    errors = brentq(lambda delta: nct.sf(critical, freedom, delta) - power, 0, MANY_ERRORS * critical)
    return float(errors) * sd * math.sqrt(1 / n_repeats + shared)


def repeats_needed(
    sd: float,
    difference: float,
    test_fraction: float | None = None,
    *,
    alpha: float = 0.05,
    power: float = POWER,
) -> int | None:
    """The smallest number of repeats that show a difference; None if 1,000 are too few.

    Parameters
    ----------
    sd, test_fraction, alpha, power
        See `smallest_difference`.
    difference : float
        Of two models, above 0.

    Examples
    --------
    >>> from boostnoise.eval.statistics.power import repeats_needed
    >>> repeats_needed(0.01, 0.02, 0.2), repeats_needed(0.01, 0.01, 0.2)
    (9, None)
    """
    if not difference > 0:
        raise ValueError(f"difference must be above 0, got {difference!r}")
    counts = range(MIN_REPEATS, MAX_REPEATS + 1)
    options = {"alpha": alpha, "power": power}
    place = bisect_left(
        counts, True, key=lambda n: smallest_difference(sd, n, test_fraction, **options) <= difference
    )
    return counts[place] if place < len(counts) else None
