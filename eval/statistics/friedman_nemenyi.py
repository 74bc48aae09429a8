"""Friedman's and Nemenyi's tests: whether three or more models differ over data sets, and which pairs.

Each data set, or domain of data sets, counts once, with the mean over its repeats, so its splits need not be
independent.

References
----------
.. [1] Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 2006.
.. [2] Friedman, "The use of ranks to avoid the assumption of normality implicit in the analysis of variance",
       Journal of the American Statistical Association 32, 1937.
.. [3] Nemenyi, "Distribution-free multiple comparisons", PhD thesis, Princeton University, 1963.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from .._numbers import check_fraction
from .._wording import counted, p_text, there_are
from ..metrics.domains import unit_of
from .result import NO_DATASET, TestResult, too_few_remark
from .score_tables import compared, rank_table

MANY_DATASETS = 10  # with fewer, the asymptotic distributions are rough [1]


@dataclass(frozen=True, eq=False, kw_only=True)
class FriedmanNemenyi(TestResult):
    """Result of `friedman_nemenyi`.

    Attributes
    ----------
    statistic : float
        Friedman's chi-squared; NaN without power.
    p_value : float
    mean_ranks : Series
        Mean rank of each model, the best first; 1 is the best possible.
    critical_difference : float
        Nemenyi's critical difference: smaller differences of mean ranks are not significant.
    ranks : DataFrame
        One row per data set, one column per model, the best first.
    groups : list of lists of str
        Maximal groups of models that do not differ significantly from one another, the best first.  All models
        form one group if Friedman's test finds no difference.
    """

    statistic: float
    p_value: float
    mean_ranks: pd.Series[float]
    critical_difference: float
    ranks: pd.DataFrame
    groups: list[list[str]]

    @cached_property
    def p_values(self) -> pd.DataFrame:
        """Nemenyi's p-value of each pair of models; NaN without power."""
        models = list(self.ranks)
        if not self.has_power:
            return pd.DataFrame(math.nan, models, models)
        # Imported here because it is slow.
        from scikit_posthocs import posthoc_nemenyi_friedman

        p_values: pd.DataFrame = posthoc_nemenyi_friedman(self.ranks.to_numpy())
        return p_values.set_axis(models).set_axis(models, axis=1)

    def _parts(self) -> tuple[str, ...]:
        test = (
            f"Friedman's test of {counted(len(self.mean_ranks), 'model')} over "
            f"{counted(self.n_datasets, self.unit)}: chi-squared {self.statistic:.2f}, "
            f"{p_text(self.p_value)}; Nemenyi's critical difference {self.critical_difference:.2f}."
        )
        ranks = self.mean_ranks.to_frame().round(2).to_string() if len(self.mean_ranks) else ""
        return (test if self.has_power else "", ranks)


def friedman_nemenyi(table: pd.DataFrame, *, higher_is_better: bool, alpha: float = 0.05) -> FriedmanNemenyi:
    r"""Friedman's test of three or more models over data sets, and Nemenyi's test of each pair [1]_ [2]_ [3]_.

    The k models are ranked on each of the N data sets.  With mean ranks R_j, the statistic

    .. math:: \chi^2_F = \frac{12 N}{k (k + 1)} \Bigl(\sum_j R_j^2 - \frac{k (k + 1)^2}{4}\Bigr),

    divided by ``1 - sum(t^3 - t) / (N (k^3 - k))`` where t models tie, is approximately chi-squared with k - 1
    degrees of freedom if the models do not differ.  Two models differ if their mean ranks differ by the
    critical difference

    .. math:: CD = q_\alpha \sqrt{k (k + 1) / (6 N)},

    where q is the quantile of the studentised range for k groups, divided by the square root of 2.

    There is no power if even the same ranking of the models on all data sets would not be significant by the
    chi-squared distribution, by counting (its probability by chance is ``(k!)^(1-N)``), or by the critical
    difference (the best and the worst mean rank would differ by ``k - 1``).

    Parameters
    ----------
    table : DataFrame
        As `score_table` returns it.
    higher_is_better : bool
    alpha : float, default=0.05

    Returns
    -------
    FriedmanNemenyi
    """
    from scipy.stats import friedmanchisquare

    check_fraction("alpha", alpha)
    table, dropped, left_out = compared(table)
    n, k = table.shape
    ranks = rank_table(table, higher_is_better=higher_is_better)
    mean_ranks = ranks.mean().rename("mean rank").sort_values(kind="stable")
    models = list(mean_ranks.index)
    critical = critical_difference(n, k, alpha)
    statistic = p_value = math.nan
    groups = [models] if k > 1 else []
    has_power = _ranks_have_power(n, k, alpha)
    if has_power:
        ordered = ranks[models].to_numpy()
        same = bool((ordered == ordered[:, :1]).all())
        statistic, p_value = (0.0, 1.0) if same else map(float, friedmanchisquare(*ordered.T))
        if p_value <= alpha:
            groups = _groups(mean_ranks, critical)
    return FriedmanNemenyi(
        statistic=statistic,
        p_value=p_value,
        mean_ranks=mean_ranks,
        critical_difference=critical,
        ranks=ranks[models],
        groups=groups,
        n_datasets=n,
        unit=unit_of(table),
        alpha=alpha,
        has_power=has_power,
        remark=_remark(n, unit_of(table), k, alpha, p_value, all_alike=groups == [models]),
        dropped=dropped,
        left_out=left_out,
    )


def critical_difference(n_datasets: int, n_models: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks; NaN with fewer than two models or without data sets.

    See `friedman_nemenyi` for the formula.

    Examples
    --------
    >>> from boostnoise.eval.statistics.friedman_nemenyi import critical_difference
    >>> round(critical_difference(14, 4), 2)
    1.25
    """
    from scipy.stats import studentized_range

    if n_datasets < 1 or n_models < 2:
        return math.nan
    q = float(studentized_range.ppf(1 - alpha, n_models, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_models * (n_models + 1) / (6 * n_datasets))


def _ranks_have_power(n: int, k: int, alpha: float) -> bool:
    from scipy.stats import chi2

    return (
        k >= 3
        and n >= 2
        and float(chi2.sf(n * (k - 1), k - 1)) <= alpha
        and (1 - n) * math.lgamma(k + 1) <= math.log(alpha)
        and critical_difference(n, k, alpha) <= k - 1
    )


def _remark(n: int, unit: str, k: int, alpha: float, p_value: float, *, all_alike: bool) -> str:
    if k < 3:
        return f"Friedman's test compares three or more models; {there_are(k, 'model')}."
    if n == 0:
        return NO_DATASET
    if math.isnan(p_value):
        needed = next(m for m in itertools.count(n + 1) if _ranks_have_power(m, k, alpha))
        return too_few_remark(n, unit, f"Friedman's and Nemenyi's tests of {counted(k, 'model')}", needed)
    remarks = []
    if n < MANY_DATASETS:
        remarks.append(f"With fewer than ten {unit}s the p-values are rough.")
    if p_value > alpha:
        remarks.append("Friedman's test finds no difference, so pairs of models are not compared.")
    elif all_alike:
        remarks.append("The models differ, but no two mean ranks differ by the critical difference.")
    return " ".join(remarks)


def _groups(mean_ranks: pd.Series[float], critical: float) -> list[list[str]]:
    """Maximal groups of two or more models whose mean ranks lie within the critical difference."""
    models, ranks = list(mean_ranks.index), mean_ranks.to_numpy()
    groups: list[list[str]] = []
    reached = 0
    for i in range(len(models)):
        end = int(np.searchsorted(ranks, ranks[i] + critical, side="right"))
        if end > reached and end - i > 1:
            groups.append(models[i:end])
        reached = max(reached, end)
    return groups
