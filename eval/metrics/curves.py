"""Metrics against the noise rate, from a frame of scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .domains import DOMAIN, domains_of, weigh_domains
from .registry import MEASURES, PAIRED, check_metric
from .robustness import area_under_ela

CELL = ["dataset", "noise_kind", "model", "repeat"]


def has_baseline(scores: pd.DataFrame) -> pd.Series[bool]:
    """Whether each row has cells without noise to compare with: they exist for its data set and kind of noise.

    They do not if the true labels of the training rows are unknown.
    """
    result: pd.Series[bool] = (
        scores["noise_rate"].eq(0).groupby([scores["dataset"], scores["noise_kind"]]).transform("any")
    )
    return result


def labels_by_rate(scores: pd.DataFrame) -> dict[float, str]:
    """Names of noisy labels by their noise rate, under one kind of noise; empty if they are not one curve."""
    if "noisy_labels" not in scores:
        return {}
    named = scores.dropna(subset="noisy_labels")
    return dict(zip(named["noise_rate"], named["noisy_labels"], strict=True))


def are_estimated(scores: pd.DataFrame) -> bool:
    """Whether all scores are estimates of those on right labels, because the test labels are noisy."""
    return "test_labels" in scores and bool(scores["test_labels"].notna().all())


def main_curves(scores: pd.DataFrame, measure: str) -> tuple[str, ...]:
    """Metrics to show first: ELA and RLA, or only the measure if nothing was scored without noise."""
    return ("ela", "rla") if has_baseline(scores).any() else (measure,)


def per_repeat(scores: pd.DataFrame, metric: str, measure: str = "accuracy") -> pd.DataFrame:
    """Values of a metric per cell.  A_0 and A_v are paired within a repeat.

    Parameters
    ----------
    scores : DataFrame
        `Run.scores`.
    metric : str
        A measure, which is a column of the scores, or one of the robustness metrics ``"ela"``, ``"rla"``,
        ``"retention"`` and ``"area_under_ela"``.  Data sets without cells at the noise rate 0 do not have them:
        they are left out, or their values are NaN if there are no others.
    measure : str, default="accuracy"
        The measure that replaces the accuracy in the robustness metrics.

    Returns
    -------
    DataFrame
        The scores with a column named after the metric.  For ``"area_under_ela"``, one row per data set, kind
        of noise, model and repeat.

    Raises
    ------
    ValueError
        If the metric is unknown, or the measure is not in the scores.
    """
    check_metric(metric)
    column = metric if metric in MEASURES else measure
    if column not in MEASURES or column not in scores:
        available = ", ".join(name for name in MEASURES if name in scores)
        raise ValueError(f"measure {column!r} is not in the scores; available measures: {available}")
    if metric in MEASURES:
        return scores.copy()
    if metric == "area_under_ela":
        groups = per_repeat(scores, "ela", measure).groupby(CELL, sort=False)
        areas = [(*key, area_under_ela(group["ela"], group["noise_rate"])) for key, group in groups]
        table, domains = pd.DataFrame(areas, columns=[*CELL, metric]), domains_of(scores)
        return table.assign(**{DOMAIN: table["dataset"].map(domains)}) if domains else table
    paired_sets = has_baseline(scores)
    if paired_sets.any():
        scores = scores[paired_sets]
    clean = scores.loc[scores["noise_rate"] == 0, [*CELL, measure]].rename(columns={measure: "baseline"})
    paired = scores.merge(clean, on=CELL, how="left")
    paired[metric] = PAIRED[metric](paired[measure].to_numpy(), paired["baseline"].to_numpy())
    return paired.drop(columns="baseline")


def curve(scores: pd.DataFrame, metric: str, measure: str = "accuracy") -> pd.DataFrame:
    """Mean of a metric over the repeats, per noise rate, data set and model.

    A model that lacks a repeat has no mean, because a mean over other splits is not comparable.

    Parameters
    ----------
    scores, metric, of
        See `per_repeat`.

    Returns
    -------
    DataFrame
        One row per data set, kind of noise, rate and model: the mean over the repeats under the metric's name,
        their sample standard deviation ``std``, and ``repeats``, the number of repeats with a value.  The area
        under ELA has no rate.
    """
    values = per_repeat(scores, metric, measure)
    by = [name for name in ("dataset", "noise_kind", "noise_rate", "model") if name in values]
    return _over_repeats(values.groupby(by, sort=False)[metric], metric)


def mean_curve(scores: pd.DataFrame, metric: str, measure: str = "accuracy") -> pd.DataFrame:
    """Mean of a metric over the data sets, per noise rate and model.

    The data sets are averaged within each repeat, then the repeats; the spread is over the repeats.  If they
    have domains, these count alike, and so do the data sets of a domain, see `domains`.  A model
    that lacks a data set or a repeat has no mean, because a mean over other data sets or splits is not
    comparable.

    Parameters
    ----------
    scores, metric, of
        See `per_repeat`.

    Returns
    -------
    DataFrame
        One row per kind of noise, rate and model: the mean under the metric's name, the sample standard
        deviation ``std`` over the repeats, and ``repeats``, the number of repeats with a value.  The area under
        ELA has no rate.
    """
    values = weigh_domains(per_repeat(scores, metric, measure), metric)
    by = [name for name in ("noise_kind", "noise_rate", "model") if name in values]
    repeats = values.groupby([*by, "repeat"], sort=False)[metric]
    n_datasets = values.groupby("noise_kind")["dataset"].nunique().to_dict()
    expected = repeats.count().index.get_level_values("noise_kind").map(n_datasets)
    averaged = repeats.mean().where(repeats.count() == expected)
    groups = averaged.groupby(by, sort=False)
    return _over_repeats(groups, metric)


def by_noise_rate(table: pd.DataFrame, metric: str, rows: list[str]) -> pd.DataFrame:
    """Pivot a `curve` or `mean_curve` to one column per noise rate.

    Parameters
    ----------
    table : DataFrame
    metric : str
    rows : list of str
        Columns of the table that become the index.

    Returns
    -------
    DataFrame
        One column per noise rate; for the area under ELA, a single column ``"area"``.
    """
    if "noise_rate" not in table:
        return table.set_index(rows)[[metric]].rename(columns={metric: "area"})
    wide = table.pivot(index=rows, columns="noise_rate", values=metric)
    return wide.reindex(pd.unique(table.set_index(rows).index))


def _over_repeats(groups: Any, metric: str) -> pd.DataFrame:
    table: pd.DataFrame = groups.agg(["mean", "std", "count"])
    table.loc[table["count"] < groups.size(), ["mean", "std"]] = np.nan
    return table.rename(columns={"mean": metric, "count": "repeats"}).reset_index()
