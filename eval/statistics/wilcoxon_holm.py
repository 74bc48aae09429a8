"""Wilcoxon signed-rank tests of one model against all others, Holm-corrected.

The best model of a study wins against equal ones by its choice alone.  Where the data choose the model, the
correction is therefore over the pairs of all models.

Each data set, or domain of data sets, counts once, with the mean over its repeats, so its splits need not be
independent.

References
----------
.. [1] Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 2006.
.. [2] Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945.
.. [3] Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6,
       1979.
.. [4] Kerby, "The Simple Difference Formula: An Approach to Teaching Nonparametric Correlation", Comprehensive
       Psychology 3, 2014.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._numbers import check_fraction
from .._wording import counted
from ..metrics.domains import unit_of
from .result import NO_DATASET, ControlResult, format_table, too_few_remark
from .score_tables import best_of, compared, differences_of
from .shared_test_rows import sign_flip_p_value

MAX_EXACT = 50  # data sets
HOLM = "Holm's correction"
HOLM_OVER_PAIRS = f"{HOLM} over all pairs of models"


@dataclass(frozen=True, eq=False, kw_only=True)
class WilcoxonHolm(ControlResult):
    """Result of `wilcoxon_holm`.

    Attributes
    ----------
    control : str or None
        The model that the others are compared with; None if no model has values.
    n_tests : int
        Number of tests that Holm's correction is over: one per other model, or one per pair of models if the
        control was chosen as the best one.
    table : DataFrame
        One row per other model: model; wins, ties and losses of the control, in data sets or domains;
        difference, the mean difference in favour of the control; rank_sum_won and rank_sum_lost, the sums of
        the ranks of differences in favour of the control and against it (the better model has the larger sum);
        effect_size, the rank-biserial correlation of matched pairs [4]_: the difference of the rank sums
        divided by the sum of all ranks, from -1 to 1; p_value, p_holm, significant.
    """

    n_tests: int

    @property
    def correction(self) -> str:
        """Holm's correction, and what it is over if that is more than the tests of the table."""
        n = len(self.table)
        return HOLM_OVER_PAIRS if self.n_tests > n else HOLM

    def _parts(self) -> tuple[str, ...]:
        test = (
            f"Wilcoxon's signed-rank test of {self.compared}, with {self.correction}; wins, ties and losses "
            f"are those of {self.control}, and differences are in its favour."
        )
        without = [] if self.has_power else ["p_value", "p_holm", "significant"]
        return (test if len(self.table) else "", format_table(self.table.drop(columns=without)))


def wilcoxon_holm(
    table: pd.DataFrame, control: str | None = None, *, higher_is_better: bool, alpha: float = 0.05
) -> WilcoxonHolm:
    """Wilcoxon signed-rank tests of one model against all others over data sets, two-sided [1]_ [2]_ [3]_.

    The differences are ranked by absolute value; ranks of zero differences are split between both sides, as in
    [1]_.  The p-values are exact given the ties for up to 50 data sets, and from the normal distribution for
    more.  Holm's correction for m tests multiplies the i-th smallest p-value by ``m - i + 1`` and keeps the
    p-values in order.

    With a given control, m is the number of other models.  Without one, the model with the best mean rank is
    the control, all pairs of models are tested, and m is their number; otherwise one of 20 equal models would
    be significantly ahead of another in a fifth of all studies.

    There is no power if N data sets that all favour the same model, which has the p-value ``2^(1-N)``, would
    not be significant after the correction: ``m 2^(1-N) > alpha``.

    Parameters
    ----------
    table : DataFrame
        As `score_table` returns it.
    control : str or None, default=None
        A model; None for the model with the best mean rank.
    higher_is_better : bool
    alpha : float, default=0.05

    Returns
    -------
    WilcoxonHolm

    Raises
    ------
    ValueError
        If there is no such control, or it has no values.
    """
    from scipy.stats import rankdata

    check_fraction("alpha", alpha)
    table, dropped, left_out = compared(table, control)
    n = len(table)
    chosen = control is None and table.size > 0
    if chosen:
        control = best_of(table, higher_is_better=higher_is_better)
    others = [name for name in table.columns if name != control] if control is not None else []
    differences = differences_of(table, [(control, name) for name in others], higher_is_better)
    ranks = rankdata(np.abs(differences), axis=1) if differences.size else differences
    m = len(others)
    n_tests = m * (m + 1) // 2 if chosen else m
    has_power = m > 0 and n > 0 and n_tests * 2.0 ** (1 - n) <= alpha
    p_values = p_holm = np.full(m, math.nan)
    significant = np.zeros(m, dtype=bool)
    if has_power:
        # Imported here because it is slow.
        from statsmodels.stats.multitest import multipletests

        pairs = list(itertools.combinations(others, 2)) if chosen else []
        tested = np.concatenate([differences, differences_of(table, pairs, higher_is_better)])
        p_values = _p_values(tested)
        significant, p_holm, *_ = multipletests(p_values, alpha, method="holm")
        p_values, p_holm, significant = p_values[:m], p_holm[:m], significant[:m]
    result = pd.DataFrame(
        {
            "model": others,
            "wins": (differences > 0).sum(axis=1),
            "ties": (differences == 0).sum(axis=1),
            "losses": (differences < 0).sum(axis=1),
            "difference": differences.mean(axis=1) if n else math.nan,
            "rank_sum_won": (ranks * (np.sign(differences) + 1) / 2).sum(axis=1),
            "rank_sum_lost": (ranks * (1 - np.sign(differences)) / 2).sum(axis=1),
            "effect_size": (ranks * np.sign(differences)).sum(axis=1) / max(1, n * (n + 1) / 2),
            "p_value": p_values,
            "p_holm": p_holm,
            "significant": significant,
        }
    )
    return WilcoxonHolm(
        control=control,
        n_tests=n_tests,
        table=result,
        n_datasets=n,
        unit=unit_of(table),
        alpha=alpha,
        has_power=has_power,
        remark=_power_remark(n, unit_of(table), m, n_tests, alpha),
        dropped=dropped,
        left_out=left_out,
    )


def _p_values(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """P-values of two-sided tests that the differences of each row are symmetric around 0.

    With ties, SciPy enumerates all signs, which takes a second for 13 data sets, and is not exact for more.
    """
    from scipy.stats import wilcoxon

    sizes = np.sort(np.abs(differences), axis=1)
    tied = (sizes[:, 0] == 0) | (np.diff(sizes, axis=1) == 0).any(axis=1)
    enumerated = tied & (sizes.shape[1] <= MAX_EXACT)
    p_values = np.empty(len(differences))
    p_values[enumerated] = [_p_value(row) for row in differences[enumerated]]
    if not enumerated.all():
        p_values[~enumerated] = wilcoxon(differences[~enumerated], zero_method="zsplit", axis=1).pvalue
    return p_values


def _p_value(differences: NDArray[np.float64]) -> float:
    """Exact p-value given the ties, from the null distribution of the rank sum of one sign."""
    from scipy.stats import rankdata

    # Ranks are doubled to be integers.  A zero difference has no sign to flip.
    doubled = np.rint(2 * rankdata(np.abs(differences))).astype(int)
    return sign_flip_p_value(np.where(differences == 0, 0, doubled), differences > 0)


def _power_remark(n: int, unit: str, m: int, n_tests: int, alpha: float) -> str:
    if n == 0:
        return NO_DATASET
    if m == 0:
        return "There is no other model to compare with."
    if n_tests * 2.0 ** (1 - n) <= alpha:
        return ""
    needed = next(i for i in itertools.count(n + 1) if n_tests * 2.0 ** (1 - i) <= alpha)
    what = f"against {counted(m, 'model')}" if n_tests == m else f"of all pairs of {counted(m + 1, 'model')}"
    return too_few_remark(n, unit, f"Wilcoxon's signed-rank test {what}", needed)
