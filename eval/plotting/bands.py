"""Which band a picture shows, and what it says of it.

The band of an averaged curve is over repeats where there are three or more: it tells how far other splits and
other draws of the noise on these data sets would move the average, which is what the differences between its
lines are to be held against.  One over data sets is wide wherever some sets are harder than others, even if the
order of the models is the same on all of them; it is shown where there are too few repeats for the other.
"""

from __future__ import annotations

import pandas as pd

from .._wording import counted, is_or_are
from ..statistics.bootstrap import FEWEST, bootstrap_band

ENOUGH = 5  # repeats of a single data set with which a band holds the mean nearly as often as it should
INTERVAL = "95 % bootstrap interval of the mean"


def averaged(scores: pd.DataFrame, metric: str, of: str = "accuracy") -> tuple[pd.DataFrame, str]:
    """The curve averaged over the data sets, with columns ``low`` and ``high``, and what the band is.

    Parameters
    ----------
    scores, metric, of
        See `per_repeat`.
    """
    n_repeats, n_datasets = scores["repeat"].nunique(), scores["dataset"].nunique()
    if n_repeats >= FEWEST or n_datasets < FEWEST:
        return bootstrap_band(scores, metric, of=of), over_repeats(n_repeats, n_datasets)
    table = bootstrap_band(scores, metric, of=of, over="datasets")
    few = f"{counted(n_repeats, 'repeat')} {is_or_are(n_repeats)} too few for one over repeats"
    return table, f"{over_datasets(n_datasets, n_datasets)}, as {few}"


def by_dataset(scores: pd.DataFrame, metric: str, of: str = "accuracy") -> tuple[pd.DataFrame, str]:
    """The curve of each data set, with columns ``low`` and ``high``, and what the band is.

    Parameters
    ----------
    scores, metric, of
        See `per_repeat`.
    """
    table = bootstrap_band(scores, metric, of=of, by_dataset=True)
    return table, over_repeats(scores["repeat"].nunique(), 1)


def over_repeats(n: int, n_datasets: int) -> str:
    """What a picture says of a band over the repeats of so many data sets."""
    if n < FEWEST:
        return _none(n, "repeat")
    rough = ", rough as they are few" if n < ENOUGH and n_datasets == 1 else ""
    return f"{INTERVAL} over {n} repeats{rough}"


def over_datasets(fewest: int, most: int) -> str:
    """What a picture says of a band over data sets, of which not all points may have as many."""
    return f"{INTERVAL} over {_range(fewest, most)} data sets" if most >= FEWEST else _none(most, "data set")


def _range(fewest: int, most: int) -> str:
    return str(most) if fewest == most else f"{fewest} to {most}"


def _none(n: int, unit: str) -> str:
    return f"none, as {counted(n, unit)} {is_or_are(n)} too few: it takes {counted(FEWEST, unit)}"
