"""Confidence bands of curves, and their descriptions for captions.

The band of an averaged curve is over repeats where there are three or more: it shows how far other splits and
other noise on the same data sets would move the average, so it is the yardstick for differences between lines.
A band over data sets is wide wherever some sets are harder than others, even if the order of the models is the
same on all of them; it is used where there are too few repeats.
"""

from __future__ import annotations

import pandas as pd

from .._wording import counted, is_or_are
from ..config.figures import Band
from ..metrics.curves import curve, mean_curve
from ..metrics.domains import count_units
from ..metrics.registry import REGISTRY
from ..statistics.confidence_band import FEWEST, confidence_band
from ..statistics.shared_test_rows import has_row_values, shares_test_rows

INTERVAL = "95 % t interval of the mean"


def averaged(
    scores: pd.DataFrame, metric: str, measure: str = "accuracy", band: Band = "interval"
) -> tuple[pd.DataFrame, str]:
    """Curve averaged over the data sets, with columns ``low`` and ``high``, and a description of the band.

    Parameters
    ----------
    scores, metric, measure
        See `per_repeat`.
    band : {"interval", "two_sd"}, default="interval"
        See `FigureOptions`.
    """
    if band == "two_sd":
        return _with_two_sd(mean_curve(scores, metric, measure), metric), over_repeats(
            scores, metric, measure, band
        )
    n_repeats, (n, unit) = scores["repeat"].nunique(), count_units(scores)
    if n_repeats >= FEWEST or n < FEWEST:
        return confidence_band(scores, metric, measure=measure), over_repeats(scores, metric, measure)
    table = confidence_band(scores, metric, measure=measure, over="datasets")
    why = f"{counted(n_repeats, 'repeat')} {is_or_are(n_repeats)} too few for an interval over repeats"
    return table, f"{over_units(n, n, unit)} ({why})"


def by_dataset(
    scores: pd.DataFrame, metric: str, measure: str = "accuracy", band: Band = "interval"
) -> tuple[pd.DataFrame, str]:
    """Curve of each data set, with columns ``low`` and ``high``, and a description of the band.

    Parameters
    ----------
    scores, metric, measure, band
        See `averaged`.
    """
    if band == "two_sd":
        table = _with_two_sd(curve(scores, metric, measure), metric)
    else:
        table = confidence_band(scores, metric, measure=measure, by_dataset=True)
    return table, over_repeats(scores, metric, measure, band)


def _with_two_sd(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Add the edges of a band of two standard deviations, within the range of the metric."""
    of_metric = REGISTRY[metric]
    edges = {"low": table[metric] - 2 * table["std"], "high": table[metric] + 2 * table["std"]}
    return table.assign(
        **{name: edge.clip(of_metric.minimum, of_metric.maximum) for name, edge in edges.items()}
    )


def over_repeats(scores: pd.DataFrame, metric: str, measure: str = "accuracy", band: Band = "interval") -> str:
    """Describe a band of a metric over the repeats of scores."""
    n = scores["repeat"].nunique()
    if band == "two_sd":
        return f"two standard deviations over {n} repeats" if n > 1 else _none(n, "repeat", 2)
    if n < FEWEST:
        return _none(n, "repeat", FEWEST)
    if not shares_test_rows(scores).any():
        return f"{INTERVAL} over {n} repeats"
    joined = " and" if has_row_values(metric, measure) else ", not over"
    return f"{INTERVAL} over {n} repeats{joined} the test rows that they share"


def over_units(fewest: int, most: int, unit: str = "data set") -> str:
    """Describe a band over data sets or domains, whose number may differ between the points of a curve."""
    if most < FEWEST:
        return _none(most, unit, FEWEST)
    return f"{INTERVAL} over {_range(fewest, most)} {unit}s"


def _range(fewest: int, most: int) -> str:
    return str(most) if fewest == most else f"{fewest} to {most}"


def _none(n: int, unit: str, fewest: int) -> str:
    return f"none ({counted(n, unit)} {is_or_are(n)} too few; at least {counted(fewest, unit)} needed)"
