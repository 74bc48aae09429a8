"""Wilcoxon signed-rank tests of one model against all others, Holm-corrected.

Each data set counts once, with the mean over its repeats, so its splits need not be independent.

References
----------
.. [1] Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 2006.
.. [2] Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945.
.. [3] Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6,
       1979.
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
from .result import NO_DATASET, TestResult, format_table, too_few_remark
from .score_tables import complete, rank_table, rounded

MAX_EXACT = 50  # data sets


@dataclass(frozen=True, eq=False, kw_only=True)
class WilcoxonHolm(TestResult):
    """Result of `wilcoxon_holm`.

    Attributes
    ----------
    control : str or None
        The model that the others are compared with; None if no model has values.
    table : DataFrame
        One row per other model: model; wins, ties and losses of the control, in data sets; rank_sum_won and
        rank_sum_lost, the rank sums of the differences in favour of the control and against it, of which the
        larger shows the better model; p_value, p_holm, significant.
    """

    control: str | None
    table: pd.DataFrame

    def _parts(self) -> tuple[str, ...]:
        test = (
            f"Wilcoxon's signed-rank test of {self.control} against {counted(len(self.table), 'model')} over "
            f"{counted(self.n_datasets, 'data set')}, with Holm's correction; wins, ties and losses are those "
            f"of {self.control}."
        )
        without = [] if self.has_power else ["p_value", "p_holm", "significant"]
        return (test if len(self.table) else "", format_table(self.table.drop(columns=without)))


def wilcoxon_holm(
    table: pd.DataFrame, control: str | None = None, *, higher_is_better: bool, alpha: float = 0.05
) -> WilcoxonHolm:
    """Wilcoxon signed-rank tests of one model against all others over data sets, two-sided [1]_ [2]_ [3]_.

    The differences are ranked by absolute value; ranks of zero differences are split between both sides, as in
    [1]_.  The p-values are exact given the ties for up to 50 data sets, and from the normal distribution for
    more.  Holm's correction for m models multiplies the i-th smallest p-value by ``m - i + 1`` and keeps the
    p-values in order.

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
    if control is not None and control not in table.columns:
        raise ValueError(f"control must be one of {', '.join(map(str, table.columns))}, got {control!r}")
    table, dropped, left_out = complete(table)
    if control in left_out:
        raise ValueError(f"control {control!r} cannot be compared: {left_out[str(control)]}")
    n = len(table)
    chosen = control is None and table.size > 0
    if chosen:
        control = str(rank_table(table, higher_is_better=higher_is_better).mean().idxmin())
    others = [name for name in table.columns if name != control] if control is not None else []
    ahead = table[others].rsub(table[control], axis=0) if others else table[[]]
    differences = rounded(ahead.to_numpy(), like=table.to_numpy()).T * (1 if higher_is_better else -1)
    ranks = rankdata(np.abs(differences), axis=1) if differences.size else differences
    m = len(others)
    has_power = m > 0 and n > 0 and m * 2.0 ** (1 - n) <= alpha
    p_values = p_holm = np.full(m, math.nan)
    significant = np.zeros(m, dtype=bool)
    if has_power:
        # Imported here because it is slow.
        from statsmodels.stats.multitest import multipletests

        p_values = np.array([_p_value(d) for d in differences])
        significant, p_holm, *_ = multipletests(p_values, alpha, method="holm")
    result = pd.DataFrame(
        {
            "model": others,
            "wins": (differences > 0).sum(axis=1),
            "ties": (differences == 0).sum(axis=1),
            "losses": (differences < 0).sum(axis=1),
            "rank_sum_won": (ranks * (np.sign(differences) + 1) / 2).sum(axis=1),
            "rank_sum_lost": (ranks * (1 - np.sign(differences)) / 2).sum(axis=1),
            "p_value": p_values,
            "p_holm": p_holm,
            "significant": significant,
        }
    )
    remark = _power_remark(n, m, alpha)
    if has_power and chosen and m > 1:
        remark = f"{control} was chosen as the best model on the same data sets, which slightly favours it."
    return WilcoxonHolm(
        control=control,
        table=result,
        n_datasets=n,
        alpha=alpha,
        has_power=has_power,
        remark=remark,
        dropped=dropped,
        left_out=left_out,
    )


def _p_value(differences: NDArray[np.float64]) -> float:
    """P-value of the two-sided test that the differences are symmetric around 0.

    With ties, SciPy enumerates all signs, which takes a second for 13 data sets, and is not exact for more.
    """
    from scipy.stats import rankdata, wilcoxon

    sizes = np.abs(differences)
    if sizes.size > MAX_EXACT or (sizes.all() and np.unique(sizes).size == sizes.size):
        return float(wilcoxon(differences, zero_method="zsplit").pvalue)
    # Null distribution of the rank sum of one sign.  Ranks are doubled to be integers.  A zero difference has
    # no sign to flip.
    doubled = np.rint(2 * rankdata(sizes)).astype(int)
    null = np.ones(1)
    for rank in doubled[sizes > 0]:
        null = (np.pad(null, (0, rank)) + np.pad(null, (rank, 0))) / 2
    won = doubled[differences > 0].sum()
    return min(1.0, 2 * float(min(null[: won + 1].sum(), null[won:].sum())))


def _power_remark(n: int, m: int, alpha: float) -> str:
    if n == 0:
        return NO_DATASET
    if m == 0:
        return "There is no other model to compare with."
    if m * 2.0 ** (1 - n) <= alpha:
        return ""
    needed = next(i for i in itertools.count(n + 1) if m * 2.0 ** (1 - i) <= alpha)
    return too_few_remark(n, "data set", f"Wilcoxon's signed-rank test against {counted(m, 'model')}", needed)
