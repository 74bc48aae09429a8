"""Judge noisy labels by forests, whose trees predict the rows that they have not seen."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robust_splits import RobustExtraTreesClassifier, RobustForestClassifier
from robust_splits.label_noise.clean_posterior import CleanPosterior, estimate_clean_posterior

from ..losses.softmax import Floats

JUDGES = (RobustForestClassifier, RobustExtraTreesClassifier)


def judge_labels(
    X: Any,
    codes: NDArray[np.int64],
    weight: Floats | None = None,
    groups: Any = None,
    *,
    T: Floats | None = None,
    n_estimators: int = 100,
    max_samples: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> CleanPosterior:
    """Posterior of the clean labels, from the out-of-bag predictions of a forest and of extra-trees.

    Parameters
    ----------
    X : array-like or DataFrame of n rows
    codes : int array of shape (n,)
        Class numbers of the given labels; each class must occur.
    weight : array of shape (n,) or None, default=None
        Weights of the rows.
    groups : array-like of shape (n,) or None, default=None
        Groups of rows, which trees draw as a whole.
    T : array of shape (K, K) or None, default=None
        Transition matrix, if it is known.
    n_estimators : int, default=100
        Trees of each forest.
    max_samples : int or None, default=None
        Rows that each tree draws at most.
    random_state : int, default=0
        Seed of the forests.
    n_jobs : int or None, default=None
        Threads of the forests.

    Raises
    ------
    IndistinctClassesError
        If the predictions do not distinguish the classes.
    """
    options: dict[str, Any] = {"n_estimators": n_estimators, "max_samples": max_samples}
    q = predict_out_of_bag(X, codes, weight, groups, **options, random_state=random_state, n_jobs=n_jobs)
    return estimate_clean_posterior(codes, q, weight, T)


def predict_out_of_bag(
    X: Any,
    labels: NDArray[Any],
    weight: Floats | None = None,
    groups: Any = None,
    *,
    n_estimators: int = 100,
    max_samples: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Floats:
    """Probabilities of the labels of each row, from the trees of both forests that have not drawn it.

    Parameters
    ----------
    X, weight, groups, n_estimators, max_samples, random_state, n_jobs
        As in `judge_labels`.
    labels : int array of shape (n,) or float array of shape (n, K)
        Class numbers, or soft labels.

    Returns
    -------
    float array of shape (n, K)
        The shares of the labels for rows that every tree has drawn.
    """
    options: dict[str, Any] = {"n_estimators": n_estimators, "max_samples": max_samples}
    judges = fit_judges(X, labels, weight, groups, **options, random_state=random_state, n_jobs=n_jobs)
    return combine_out_of_bag(judges, labels, weight)


def fit_judges(
    X: Any,
    labels: NDArray[Any],
    weight: Floats | None = None,
    groups: Any = None,
    *,
    n_estimators: int,
    max_samples: int | None,
    **options: Any,
) -> Iterator[Any]:
    """The fitted forests of `predict_out_of_bag`, one after the other; parameters as there."""
    n_used = len(labels) if weight is None else np.count_nonzero(weight)
    if max_samples is not None and max_samples < n_used:
        options["max_samples"] = max_samples

    def fit(judge: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no row is out of bag")
            return judge(n_estimators, passes=1, oob_score=True, **options).fit(X, labels, weight, groups)

    return map(fit, JUDGES)


def predict_unseen(judges: Iterable[Any], X: Any) -> Floats:
    """Probabilities of the labels of rows that no judge was fitted to, shape (n, K)."""
    p: Floats = np.mean([judge.predict_proba(X) for judge in judges], axis=0)
    return p


def _out_of_bag(judge: Any) -> Floats:
    p: Floats = np.nan_to_num(judge.oob_decision_function_)
    return p


def combine_out_of_bag(judges: Iterable[Any], labels: NDArray[Any], weight: Floats | None = None) -> Floats:
    """Out-of-bag probabilities of the labels by all judges, shape (n, K); see `predict_out_of_bag`."""
    # By `map`, which keeps no forest while the next one is grown.
    p: Floats = np.sum(list(map(_out_of_bag, judges)), axis=0)
    drawn_by_all = ~p.any(axis=1)
    if drawn_by_all.any():
        by_class = labels if labels.ndim == 2 else np.eye(p.shape[1])[labels]
        p[drawn_by_all] = np.average(by_class, axis=0, weights=weight)
    p /= p.sum(axis=1, keepdims=True)
    return p
