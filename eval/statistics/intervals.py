"""The best model of each data set and those statistically tied with it, marked as in Wilton & Ye's tables.

References
----------
.. [1] Wilton & Ye, "Robust Loss Functions for Training Decision Trees with Noisy Labels", AAAI 2024.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from .._numbers import check_fraction
from .._wording import percent
from ..metrics.registry import higher_is_better
from .result import TestResult, too_few_remark
from .score_tables import by_dataset, complete, repeat_table, rounded
from .shared_test_rows import row_values_at, sum_of_variances, variance_of_rows

MIN_REPEATS = 2  # for a standard deviation


@dataclass(frozen=True, eq=False, kw_only=True)
class BestAndOverlapping(TestResult):
    """Result of `best_and_overlapping`.

    Attributes
    ----------
    metric : str
    table : DataFrame
        One row per data set and model: dataset, model, the mean under the metric's name, low and high of its
        interval, best, overlaps.  Without power, low and high are NaN and only the best are marked.
    missing : dict of str to str
        Data sets on which models lack a repeat, and why.  These models have no mean and no mark there.
    """

    metric: str
    table: pd.DataFrame
    missing: Mapping[str, str] = field(default_factory=dict)

    def _parts(self) -> tuple[str, ...]:
        marks = np.select([self.table["best"], self.table["overlaps"]], ["**", "*"], "")
        cells = [
            "–" if math.isnan(mean) else f"{mean:.3f}{mark}"
            for mean, mark in zip(self.table[self.metric], marks, strict=True)
        ]
        table = self.table.assign(cell=cells).pivot(index="dataset", columns="model", values="cell")
        order = {name: self.table[name].unique() for name in ("dataset", "model")}
        table = table.loc[order["dataset"], order["model"]]
        legend = f"Mean {self.metric.replace('_', ' ')}; ** marks the best of a data set"
        interval = f"{percent(1 - self.alpha)} t interval of the mean over the repeats"
        legend += f", * models whose {interval} overlaps that of the best." if self.has_power else "."
        missing = [f"On data set {name} there is no mean: {why}." for name, why in self.missing.items()]
        return (legend, table.to_string(), *missing)


def best_and_overlapping(
    scores: pd.DataFrame,
    metric: str = "accuracy",
    *,
    noise_rate: float | None = None,
    noise_kind: str | None = None,
    measure: str = "accuracy",
    confidence: float = 0.975,
) -> BestAndOverlapping:
    r"""Mark the best model of each data set, and models whose interval over the repeats overlaps its own [1]_.

    With mean m and sample standard deviation s of J repeats, the interval is :math:`m \pm t s / \sqrt{J}`,
    where t is the :math:`(1 + c) / 2` quantile of Student's distribution with J - 1 degrees of freedom and c
    the confidence, 97.5 % in [1]_ (whose tables show two standard deviations).  Repeats on random splits of the
    same rows are not independent, so the intervals are somewhat too short.  Models whose intervals overlap
    slightly may still differ.  Where the repeats of a data set share their test rows, the variance over the
    rows is added, for metrics computed from the accuracy.

    Parameters
    ----------
    scores, metric, noise_rate, noise_kind, of
        See `score_table`.
    confidence : float, default=0.975

    Returns
    -------
    BestAndOverlapping
        Without power if there are fewer than two repeats.

    Raises
    ------
    ValueError
        As `score_table`, or if `confidence` does not lie between 0 and 1.
    """
    from scipy.stats import t

    check_fraction("confidence", confidence)
    wide = repeat_table(scores, metric, noise_rate=noise_rate, noise_kind=noise_kind, measure=measure)
    datasets, models = wide.index.get_level_values("dataset").unique(), wide.columns
    values = by_dataset(wide)
    n = values.shape[1]
    means = rounded(values.mean(axis=1), like=np.nan_to_num(values))
    half = np.full(means.shape, math.nan)
    has_power = n >= MIN_REPEATS
    if has_power:
        of_rows = row_values_at(scores, metric, noise_rate, noise_kind, measure)
        shares = metric == "accuracy"
        variances = np.zeros((*means.shape, 2))
        variances[..., 0] = values.var(axis=1, ddof=1) / n
        freedom = np.full_like(variances, n - 1)
        for (dataset, model), x in of_rows.items():
            place = datasets.get_loc(dataset), models.get_loc(model)
            variances[*place, 1], freedom[*place, 1] = variance_of_rows(x, are_shares=shares), x.size - 1
        variance, freedom = sum_of_variances(variances, freedom)
        half = t.ppf((1 + confidence) / 2, freedom) * np.sqrt(variance)
    sign = 1 if higher_is_better(metric) else -1
    top = np.max(sign * means, axis=1, keepdims=True, initial=-np.inf, where=~np.isnan(means))
    best = sign * means == top
    # If several models are best, the widest of their intervals decides.
    reach = np.max(half, axis=1, keepdims=True, initial=0.0, where=best & ~np.isnan(half))
    overlaps = ~best & (sign * means + half >= top - reach)
    rows = pd.MultiIndex.from_product([datasets, models], names=["dataset", "model"]).to_frame(index=False)
    table = rows.assign(
        **{metric: means.ravel(), "low": (means - half).ravel(), "high": (means + half).ravel()},
        best=best.ravel(),
        overlaps=overlaps.ravel(),
    )
    remark = "" if has_power else too_few_remark(n, "repeat", "an interval", MIN_REPEATS)
    _, _, left_out = complete(wide)
    missing = {
        name: "; ".join(f"{model} {reason}" for model, reason in reasons.items() if model not in left_out)
        for name, reasons in wide.attrs["missing"].items()
    }
    return BestAndOverlapping(
        metric=metric,
        table=table,
        missing={name: why for name, why in missing.items() if why},
        left_out=left_out,
        n_datasets=len(datasets),
        alpha=1 - confidence,
        has_power=has_power,
        remark=remark,
    )
