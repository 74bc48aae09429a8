"""How checked rows were drawn: as given, or as far as it can be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import kstest

from .._wording import is_or_are, numbered
from ..clean_labels.checked_sample import CheckedSample
from ..errors import ConfigError

LABEL, PROBABILITY, ROUND = "label", "probability", "round"
MAX_ROUND = 1000
NOT_RANDOM = 0.01  # p-value of the ranks of rows that were drawn at random


def read_draws(checked: pd.DataFrame) -> pd.DataFrame | None:
    """Probabilities and rounds of checked rows; None without the column of probabilities.

    The probability of rows that were chosen, and not drawn, is NaN.

    Parameters
    ----------
    checked : DataFrame
        Rows as its index, and the columns ``label`` and, if they are known, ``probability`` and ``round``.

    Raises
    ------
    ConfigError
        If there are no labels, or a probability or a round is not valid.
    """
    if LABEL not in checked:
        raise ConfigError(f"checked must have the column {LABEL!r}; its columns are {list(checked.columns)}")
    if PROBABILITY not in checked:
        return None
    draws = pd.DataFrame(index=checked.index)
    draws[PROBABILITY] = _numbers(checked, PROBABILITY, np.nan)
    p = draws[PROBABILITY].dropna()
    outside = p[~p.between(0, 1, inclusive="right")]
    if outside.size:
        raise ConfigError(f"checked: each {PROBABILITY} must be above 0 and at most 1, got {outside.iloc[0]:g}")
    draws[ROUND] = _numbers(checked, ROUND, 1.0).fillna(1.0)
    odd = draws[ROUND][~draws[ROUND].between(1, MAX_ROUND) | (draws[ROUND] % 1 != 0)]
    if odd.size:
        raise ConfigError(
            f"checked: each {ROUND} must be a whole number from 1 to {MAX_ROUND}, got {odd.iloc[0]:g}"
        )
    return draws


def _numbers(checked: pd.DataFrame, column: str, default: float) -> pd.Series[float]:
    if column not in checked:
        return pd.Series(default, index=checked.index)
    try:
        return pd.to_numeric(checked[column]).astype(float)
    except (ValueError, TypeError):
        raise ConfigError(f"checked: column {column!r} must have numbers only") from None


def make_sample(
    codes: Mapping[Any, int], draws: pd.DataFrame | None, ranking: NDArray[np.int64]
) -> tuple[CheckedSample, list[str]]:
    """The checked rows, and a remark on how they were drawn.

    Parameters
    ----------
    codes : mapping of int to int
        Class number of the right label by row.
    draws : DataFrame or None
        From `read_draws`.  None if nothing is known.  Then the first suspects, as far as they were checked
        without a gap, were chosen, and the others were drawn at random, unless their ranks say otherwise.
    ranking : int array of shape (n,)
        Rows from the most to the least suspect.
    """
    rows, right = np.array([*codes], dtype=np.int64), np.array([*codes.values()], dtype=np.int64)
    if draws is not None:
        p = draws[PROBABILITY].reindex(rows).to_numpy()
        rounds = np.where(np.isnan(p), 0, draws[ROUND].reindex(rows).to_numpy()).astype(np.int64)
        n_unknown = int(np.isnan(p).sum())
        remark = (
            f"{numbered(n_unknown, 'checked row')} without a probability {is_or_are(n_unknown)} taken as chosen"
        )
        sample = CheckedSample(rows, right, np.where(np.isnan(p), 1.0, p), rounds)
        return sample, [remark] if n_unknown else []
    place = np.empty(ranking.size, dtype=np.int64)
    place[ranking] = np.arange(ranking.size)
    ranks = np.sort(place[rows])
    n_first = int(np.count_nonzero(ranks == np.arange(ranks.size)))
    others = place[rows] >= n_first
    n_others, n_left = int(others.sum()), ranking.size - n_first
    remarks, rounds = [], others.astype(np.int64)
    if n_others and kstest((place[rows][others] - n_first + 0.5) / n_left, "uniform").pvalue < NOT_RANDOM:
        rounds[:] = 0
        remarks.append(
            f"the checked rows {is_or_are(rows.size)} not drawn at random, so they do not tell how wrong other "
            "labels are on average; draw rows with --next or `rows_to_check`"
        )
    elif n_others:
        remarks.append(
            f"{numbered(n_others, 'checked row')} {is_or_are(n_others)} taken as drawn at random"
            + (f", and the first {numbered(n_first, 'suspect')} as chosen" if n_first else "")
        )
    p = np.where(rounds > 0, n_others / n_left, 1.0)
    return CheckedSample(rows, right, p, rounds), remarks
