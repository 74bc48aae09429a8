"""The share of wrong labels after each round of checked rows, and what more checked rows would tell."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._wording import numbered, short_percent
from ..clean_labels.checked_sample import CheckedSample
from ..clean_labels.measures import Predicted, accuracy
from ..clean_labels.prediction_powered import MIN_DRAWN, MORE_ROWS, PredictionPowered

Floats = NDArray[np.float64]

CONFIDENCE = 0.9


def noise_by_round(
    probabilities: Floats, codes: NDArray[np.int64], sample: CheckedSample | None
) -> pd.DataFrame:
    """Share of wrong labels as the drawn rows say, by prediction-powered inference.

    Parameters
    ----------
    probabilities : float array of shape (n, K)
        Probabilities of the clean classes, without checked labels.
    codes : int array of shape (n,)
        Class numbers of the given labels.
    sample : CheckedSample or None

    Returns
    -------
    DataFrame
        One row per round that had 20 drawn rows or more by then: ``round``; ``checked``, the number of checked
        rows up to it; ``noise_rate``, and its 90 % interval from ``low`` to ``high``; and ``half_width``, half
        the width that is expected with 100 more rows.
    """
    records = []
    if sample is not None and int(sample.is_random.sum()) >= MIN_DRAWN:
        # Labels are right as often as predictions that equal them.
        score = functools.partial(accuracy, Predicted(codes, None, probabilities.shape[1]))
        for number in np.unique(sample.rounds[sample.is_random]).tolist():
            kept = sample.rounds <= number
            until = CheckedSample(
                sample.rows[kept], sample.codes[kept], sample.probabilities[kept], sample.rounds[kept]
            )
            if int(until.is_random.sum()) < MIN_DRAWN:
                continue
            inference = PredictionPowered(probabilities, until, CONFIDENCE)
            right = inference.estimate(score, is_share=True)
            half_width = inference.half_width(right, MORE_ROWS)
            records.append(
                (number, int(kept.sum()), 1 - right.value, 1 - right.high, 1 - right.low, half_width)
            )
    columns = ["round", "checked", "noise_rate", "low", "high", "half_width"]
    return pd.DataFrame(records, columns=columns)


def rounds_table(rounds: pd.DataFrame) -> pd.DataFrame:
    """The rounds as text."""
    interval = [
        f"{short_percent(low)} to {short_percent(high)}"
        for low, high in zip(rounds["low"], rounds["high"], strict=True)
    ]
    return pd.DataFrame(
        {
            "round": rounds["round"].astype(str),
            "checked": rounds["checked"].astype(str),
            "wrong labels": rounds["noise_rate"].map(short_percent),
            "90 % interval": interval,
        }
    )


def outlook(rounds: pd.DataFrame) -> str:
    """Sentence about what more checked rows would tell."""
    half = 100 * float(rounds["half_width"].iloc[-1])
    rows = numbered(MORE_ROWS, "more checked row")
    return (
        f"With {rows}, the share of wrong labels would be known to ± {half:.1f} points. The share in the first "
        "line is estimated in another way, by the ranks of the checked rows, and differs by chance."
    )
