"""Judge the rows of Dask collections: those of a sample out of bag, and all others part by part.

Forests grow on the sample, on the client.  The workers predict the labels of the other rows, which these
forests have not seen, so no worker needs more than its parts and the forests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boostnoise.label_noise.dask_rows import DaskRows, count, draw, find_client, shares_to_draw
from boostnoise.label_noise.judges import combine_out_of_bag, fit_judges, predict_unseen

from ..errors import ConfigError, one_line
from .inputs import Codes, Floats, JudgedRows, TableEncoder, judge_rows
from .label_columns import without_columns

SAMPLED_ROWS = 100_000
TREES = 100  # of each forest


class JudgedParts(NamedTuple):
    """Probabilities of the labels of all rows, and the sample that they come from.

    Attributes
    ----------
    p : float array of shape (n, K)
        Probabilities of the labels of all rows.
    judged : JudgedRows
        Those of the rows of the sample.
    rows : int array of shape (m,)
        Numbers of these rows.
    X : array or DataFrame of m rows
        Their features.
    """

    p: Floats
    judged: JudgedRows
    rows: Codes
    X: Any


@dataclass(frozen=True, eq=False)
class _Judge:
    """Predicts the labels of a part.

    Attributes
    ----------
    forests : list
    encoder : TableEncoder
    left_out : list
        Columns that the forests do not know.
    """

    forests: list[Any]
    encoder: TableEncoder
    left_out: list[Any]

    def __call__(self, X: Any) -> Floats:
        """Probabilities of the labels of rows that are not in the sample."""
        known = without_columns(X, self.left_out) if self.left_out else X
        return predict_unseen(self.forests, self.encoder.transform(known))


def read_dask_rows(X: Any, y: Any) -> tuple[DaskRows, NDArray[Any]]:
    """Rows of Dask collections on the workers of the current client, and all labels, as a local array.

    Raises
    ------
    ConfigError
        If there is no client, y is no collection or has other rows than X, or labels are missing.
    """
    try:
        client = find_client()
        rows = DaskRows.read(client, X, y)
    except (ValueError, TypeError) as error:
        raise ConfigError(one_line(error)) from None
    return rows, rows.encoder.classes_[np.concatenate(client.gather(rows.codes))]


def judge_dask_rows(
    rows: DaskRows,
    codes: Codes,
    classes: NDArray[Any],
    *,
    keep: bool,
    random_state: int,
    n_jobs: int | None,
) -> JudgedParts:
    """Predict the labels of all rows, each by trees that have not drawn it.

    The sample is all rows if there are no more than `SAMPLED_ROWS`.

    Parameters
    ----------
    rows : DaskRows
    codes : int array of shape (n,)
        Class numbers of the labels, which may be fewer classes than those on the workers.
    classes : ndarray of shape (K,)
    keep : bool
        Whether columns that were made from the label are kept.
    random_state : int
    n_jobs : int or None
        Threads of the forests on the client.
    """
    ends = np.cumsum(rows.lengths)
    by_part = np.split(codes, ends[:-1])
    shares = shares_to_draw(np.bincount(codes), SAMPLED_ROWS)
    positions = [draw(part, [random_state, i], shares) for i, part in enumerate(by_part)]
    X, _, _ = rows.take(positions)
    sampled = np.concatenate([start + part for start, part in zip(ends - rows.lengths, positions, strict=True)])
    known = codes[sampled]
    counts = count(known, shares)
    judges: list[tuple[list[Any], TableEncoder]] = []

    def judge(features: Any) -> Floats:
        encoder = TableEncoder.fit(features)
        options: dict[str, Any] = {"n_estimators": TREES, "max_samples": None}
        options |= {"random_state": random_state, "n_jobs": n_jobs}
        forests = list(fit_judges(encoder.transform(features), known, counts, **options))
        judges.append((forests, encoder))
        return combine_out_of_bag(forests, known, counts)

    judged = judge_rows(X, known, classes, judge, keep=keep)
    p = np.empty((codes.size, classes.size))
    p[sampled] = judged.p
    others = np.ones(codes.size, dtype=np.bool_)
    others[sampled] = False
    if others.any():
        forests, encoder = judges[-1] if judged.left_out else judges[0]
        for forest in forests:
            forest.set_params(n_jobs=1)  # parts are judged side by side
        shared = rows.share(_Judge(forests, encoder, judged.left_out))
        unseen = [np.flatnonzero(part) for part in np.split(others, ends[:-1])]
        found = rows.client.gather(rows.map(_judge_part, unseen, judge=shared))
        p[others] = np.concatenate(found)
    return JudgedParts(p, judged, sampled, X)


def _judge_part(X: Any, codes: Codes, weight: None, unseen: Codes, *, judge: _Judge) -> Floats:
    if not unseen.size:
        return np.empty((0, judge.forests[0].n_classes_))
    return judge(X.iloc[unseen] if isinstance(X, pd.DataFrame) else X[unseen])
