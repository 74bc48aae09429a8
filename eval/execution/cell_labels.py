"""The labels that the models of a cell are trained and tested on."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from .cell import split_and_labels
from .plan import Plan


def cell_labels(
    planned: Plan, dataset: str, noise_kind: str, noise_rate: float, repeat: int = 0
) -> pd.DataFrame:
    """Split and labels of a cell, for fits and checks of your own.

    They are the same for all models.  The noise is drawn with the seed ``random_state + repeat``, the
    fingerprint of the data, the kind and the rate; the split with ``random_state + repeat`` alone.

    Parameters
    ----------
    planned : Plan
        See `plan`.
    dataset, noise_kind, noise_rate, repeat
        As in `Run.scores`.

    Returns
    -------
    DataFrame
        The training rows, then the test rows.  The index ``row`` is their number in
        ``planned.datasets[dataset].X``.  Columns: part ("train" or "test"); label, on which a model is trained
        or tested; true_label, missing where it is unknown; weight.  With soft labels a training row occurs once
        for each label.

    Raises
    ------
    ValueError
        If the run has no such cell.

    Examples
    --------
    >>> from boostnoise.eval import cell_labels, load_config, plan
    >>> planned = plan(load_config("study.json"))  # doctest: +SKIP
    >>> cells = cell_labels(planned, "breast_cancer", "uniform", 0.2, repeat=1)  # doctest: +SKIP
    """
    wanted = (dataset, noise_kind, repeat)
    jobs = [job for job in planned.jobs if (job.dataset, job.noise_kind, job.repeat) == wanted]
    job = next((job for job in jobs if math.isclose(job.noise_rate, noise_rate, abs_tol=1e-9)), None)
    if job is None:
        raise ValueError(
            f"the run has no cell with dataset {dataset!r}, noise_kind {noise_kind!r}, noise_rate "
            f"{noise_rate!r} and repeat {repeat!r}"
        )
    data = planned.datasets[dataset]
    found = split_and_labels(job, data)
    weights = np.ones(found.rows.size) if found.weights is None else found.weights
    of_test = np.ones(found.test.size) if data.weights is None else data.weights[found.test]
    rows = np.concatenate([found.rows, found.test])
    true_labels = pd.Series(data.classes[data.y[rows]])
    if data.is_known is not None:
        true_labels = true_labels.where(data.is_known[rows])
    if data.checked is not None:
        true_labels = pd.Series(data.classes[data.checked[rows]]).where(data.checked[rows] >= 0)
    return pd.DataFrame(
        {
            "part": ["train"] * found.rows.size + ["test"] * found.test.size,
            "label": data.classes[np.concatenate([found.labels, found.y_test])],
            "true_label": true_labels.to_numpy(),
            "weight": np.concatenate([weights, of_test]),
        },
        index=pd.Index(rows, name="row"),
    )
