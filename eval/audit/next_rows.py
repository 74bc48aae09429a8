"""Draw rows to check next from an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._numbers import is_integer
from ..clean_labels.rows_to_check import doubt, draw_rows
from ..errors import ConfigError
from .checked import PROBABILITY, ROUND
from .predictions import read_places, read_predictions

if TYPE_CHECKING:
    from .estimates import AuditEstimates


def draw_next(
    audit: AuditEstimates, n: int, predictions: Any = None, rows: Any = None, random_state: int = 0
) -> pd.DataFrame:
    """Draw rows to check next; see `LabelAudit.rows_to_check`."""
    if not is_integer(random_state) or random_state < 0:
        raise ConfigError(f"random_state must be a whole number from 0, got {random_state!r}")
    places = read_places(audit, rows)
    if predictions is None:
        # How often the given labels are right is the accuracy of the given labels.
        predictions = {"given": audit.labels[places]}
    models = read_predictions(audit, predictions, places)
    unchecked = np.ones(audit.labels.size, dtype=np.bool_)
    n_round = 1
    if audit.checked is not None:
        unchecked[audit.checked.rows] = False
        n_round += int(audit.checked.rounds.max())
    left = unchecked[places]
    if not is_integer(n) or not 0 < n <= left.sum():
        raise ConfigError(
            f"n must be a whole number from 1 to {left.sum()}, the number of unchecked rows, got {n!r}"
        )
    p = audit.scenarios.without_overlap[places]
    doubts = doubt(models.values(), p)[left]
    rng = np.random.default_rng([random_state, n_round])
    drawn, probabilities = draw_rows(doubts / doubts.mean(), audit.codes[places[left]], int(n), rng)
    chosen = places[left][drawn]
    return pd.DataFrame(
        {
            "given": audit.labels[chosen],
            "suggested": audit.errors.suggested[chosen],
            "p_wrong": audit.errors.p_wrong[chosen],
            PROBABILITY: probabilities,
            ROUND: n_round,
        },
        index=pd.Index(chosen, name="row"),
    )
