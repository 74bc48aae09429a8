"""Bayesian signed-rank test: how probable it is that a model is better, practically equal, or worse.

A p-value does not say how probable a difference is, and on many data sets the smallest one is significant.
This test asks for differences that matter.

References
----------
.. [1] Benavoli, Mangili, Corani, Zaffalon & Ruggeri, "A Bayesian Wilcoxon signed-rank test based on the
       Dirichlet process", ICML 2014.
.. [2] Benavoli, Corani, Demsar & Zaffalon, "Time for a Change: a Tutorial for Comparing Multiple Classifiers
       Through Bayesian Analysis", JMLR 18, 2017.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..metrics.domains import unit_of
from .result import NO_DATASET, ControlResult, format_table, too_few_remark
from .score_tables import best_of, compared, differences_of, rounded

ROPE = 0.01  # differences of measures that are practically none, as in [2]
PRIOR_STRENGTH = 0.5  # of the prior, which is one more difference of zero, as in [2]
N_SAMPLES = 20_000  # the standard error of a probability is below .004
PER_BLOCK = 2_000  # samples at a time
SEED = 0
ROUNDING = 1e-12  # sums of differences that differ by less are equal
FEWEST = 5  # data sets; of fewer, the draws vary less than other data sets would


@dataclass(frozen=True, eq=False, kw_only=True)
class BayesianSignedRank(ControlResult):
    """Result of `bayesian_signed_rank`.

    Attributes
    ----------
    control : str or None
        The model that the others are compared with; None if no model has values.
    rope : float
        Half the width of the region of practical equivalence: differences within it do not matter.
    table : DataFrame
        One row per other model: ``model``, and the probabilities that on most data sets the control is
        ``better`` by more than `rope`, practically ``equal``, or ``worse``.  They sum to 1.
    """

    rope: float

    def _parts(self) -> tuple[str, ...]:
        if not self.has_power:
            return ()
        test = (
            f"Bayesian signed-rank test of {self.compared}: probability that {self.control} is better by more "
            f"than {self.rope:g}, equal within {self.rope:g}, or worse."
        )
        return test, format_table(self.table)


def bayesian_signed_rank(
    table: pd.DataFrame, control: str | None = None, *, higher_is_better: bool, rope: float = ROPE
) -> BayesianSignedRank:
    r"""Bayesian signed-rank test of one model against all others over data sets [1]_ [2]_.

    Let z_1, ..., z_N be the differences on N data sets, in favour of the control, and z_0 = 0 the prior.  Their
    distribution has weights w from a Dirichlet distribution with the parameters 1/2, 1, ..., 1.  Each draw of w
    has shares of pairs of differences whose mean lies above, within and below the region of practical
    equivalence,

    .. math:: \theta_{better} = \sum_{i, j = 0}^N w_i w_j [z_i + z_j > 2 r], \quad
        \theta_{worse} = \sum_{i, j = 0}^N w_i w_j [z_i + z_j < -2 r],

    and the rest is theta_equal.  The probability of an outcome is the share of 20,000 draws in which its theta
    is the largest.  It is not corrected for the number of models.  With fewer than five data sets there is no
    result.

    Parameters
    ----------
    table : DataFrame
        As `score_table` returns it.
    control : str or None, default=None
        A model; None for the model with the best mean rank.
    higher_is_better : bool
    rope : float, default=0.01
        r, from 0.

    Returns
    -------
    BayesianSignedRank

    Raises
    ------
    ValueError
        If there is no such control, it has no values, or `rope` is negative.
    """
    if not rope >= 0:
        raise ValueError(f"rope must be a number from 0, got {rope!r}")
    table, dropped, left_out = compared(table, control)
    control = best_of(table, higher_is_better=higher_is_better) if control is None else control
    others = [str(name) for name in table.columns if name != control]
    n, unit = len(table), unit_of(table)
    has_power = n >= FEWEST and bool(others)
    shares = np.full((len(others), 3), np.nan)
    if has_power:
        differences = differences_of(table, [(control, name) for name in others], higher_is_better)
        shares = outcome_probabilities(differences, rope)
    remark = ""
    if not has_power and others:
        remark = too_few_remark(n, unit, "the Bayesian signed-rank test", FEWEST) if n else NO_DATASET
    return BayesianSignedRank(
        control=control,
        rope=rope,
        table=pd.DataFrame({"model": others}).assign(
            **dict(zip(("better", "equal", "worse"), shares.T, strict=True))
        ),
        n_datasets=n,
        unit=unit,
        has_power=has_power,
        remark=remark,
        dropped=dropped,
        left_out=left_out,
    )


def outcome_probabilities(differences: NDArray[np.float64], rope: float) -> NDArray[np.float64]:
    """Probabilities that most differences are above, within and below the region of practical equivalence.

    Parameters
    ----------
    differences : array of shape (n_models, n)
    rope : float

    Returns
    -------
    array of shape (n_models, 3)
        A draw in which several outcomes have the largest share counts in parts for each.
    """
    n_models, n = differences.shape
    z = np.concatenate([np.zeros((n_models, 1)), differences], axis=1)
    sums = z[:, :, np.newaxis] + z[:, np.newaxis]
    edge = 2 * rope + ROUNDING
    above, below = (sums > edge).astype(float), (sums < -edge).astype(float)
    parameters = np.concatenate([[PRIOR_STRENGTH], np.ones(n)])
    rng = np.random.default_rng(SEED)
    counts = np.zeros((n_models, 3))
    for _ in range(0, N_SAMPLES, PER_BLOCK):
        w = rng.dirichlet(parameters, PER_BLOCK)
        for i in range(n_models):
            better, worse = (((w @ side[i]) * w).sum(axis=1) for side in (above, below))
            thetas = rounded(np.stack([better, 1 - better - worse, worse], axis=1))
            largest = thetas == thetas.max(axis=1, keepdims=True)
            counts[i] += (largest / largest.sum(axis=1, keepdims=True)).sum(axis=0)
    return counts / N_SAMPLES
