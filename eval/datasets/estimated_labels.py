"""Estimate the right labels of a data set whose labels are noisy."""

from __future__ import annotations

import dataclasses

import numpy as np
from threadpoolctl import threadpool_limits

from .._memory import check_forests
from ..errors import ConfigError
from .dataset import SEED, Dataset


def estimate_clean_labels(dataset: Dataset) -> Dataset:
    """Add the probabilities of the right labels, given the features and the noisy label of each row.

    The rows are judged as by `boostnoise.audit`: by the out-of-bag predictions of two forests, or with groups
    by cross-validation.  The estimate is the one without overlap: noise and overlapping classes cannot be told
    apart without checked labels.  The right label of a checked row is certain.

    Parameters
    ----------
    dataset : Dataset
        Its `checked` is not None.

    Returns
    -------
    Dataset

    Raises
    ------
    ConfigError
        If the features do not predict the labels.
    """
    # Slow to import.
    from robust_splits.label_noise.clean_posterior import IndistinctClassesError, estimate_clean_posterior

    from ..models.held_out import held_out_probabilities

    assert dataset.checked is not None  # noqa: S101 - for the type checker
    check_forests(dataset.y.size, dataset.classes.size, f"data set {dataset.name!r}")
    rows = np.arange(dataset.y.size)
    X = dataset.encode("numbers", rows)
    # The forests are the same for any number of threads; sums of other libraries need not be.
    with threadpool_limits(1):
        q = held_out_probabilities(X, dataset.y, groups=dataset.groups, random_state=SEED, n_jobs=-1)
        try:
            p = estimate_clean_posterior(dataset.y, q).probabilities
        except IndistinctClassesError:
            raise ConfigError(
                f"data set {dataset.name!r}: the features do not predict the labels, so the right ones cannot "
                "be estimated; leave out 'labels'"
            ) from None
    is_checked = dataset.checked >= 0
    p[is_checked] = np.eye(dataset.classes.size)[dataset.checked[is_checked]]
    return dataclasses.replace(dataset, clean_probabilities=p)
