"""`clean_scores`: how well models predict the clean labels of noisy data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boostnoise.label_noise.cross_fitting import predict_out_of_fold, predicted_rows
from robust_splits.label_noise.folds import make_folds

from .._frames import as_pandas
from ..errors import ConfigError
from .audit import audit
from .clean_scores import CleanScores
from .inputs import converted, read_groups

FOLDS = 5


def clean_scores(
    models: Any,
    X: Any,
    y: Any,
    *,
    checked: Any = None,
    groups: Any = None,
    confidence: float = 0.95,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> CleanScores:
    """Estimate how well models predict the clean labels, from noisy ones.

    The labels are audited; see `audit`.  Classifiers are fitted to the noisy labels five times, to predict rows
    that they have not seen.

    Parameters
    ----------
    models : classifier or array-like, or dict of str to these
        Classifiers with `predict_proba`, which are cloned, or predictions of models that have not seen the
        labels of these rows: labels of shape (n,), or probabilities of shape (n, K) in sorted order of the
        labels.
    X : array, sparse matrix or DataFrame of shape (n, n_features)
        Features.
    y : array-like of shape (n,)
        Noisy labels.
    checked : dict, Series, DataFrame or None, default=None
        Right labels of rows that somebody has checked; see `audit`.
    groups : array-like of shape (n,) or None, default=None
        Groups of rows, such as the rows of one patient, which no model sees in part.
    confidence : float, default=0.95
        Of the intervals.
    random_state : int, default=0
        Seed of the audit and of folds.
    n_jobs : int or None, default=None
        Threads of the audit; -1 for all cores.

    Returns
    -------
    CleanScores
        See `LabelAudit.clean_scores` for the intervals.

    Raises
    ------
    ConfigError
        A ValueError that names the argument; see `audit` and `LabelAudit.clean_scores`.
    TypeError
        If a classifier has no `predict_proba`.

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise import clean_scores
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rng = np.random.default_rng(0)
    >>> noisy = np.where(rng.random(y.size) < np.where(y == 1, 0.3, 0.1), 1 - y, y)
    >>> checked = rng.choice(y.size, 60, replace=False)
    >>> found = clean_scores(
    ...     {"forest": RandomForestClassifier(random_state=0)},
    ...     X,
    ...     noisy,
    ...     checked=dict(zip(checked.tolist(), y[checked].tolist())),
    ... )
    >>> accuracy = found.scores.set_index("measure").loc["accuracy"]
    >>> bool(accuracy["on_given_labels"] < 0.8 < 0.85 < accuracy["estimate"])
    True
    """
    X, y, checked, groups = map(as_pandas, (X, y, checked, groups))
    named = dict(models) if isinstance(models, Mapping) else {"model": models}
    for name, model in named.items():
        if hasattr(model, "fit") and (not hasattr(model, "predict_proba") or isinstance(model, type)):
            raise TypeError(f"models: {name} must be a classifier with predict_proba, got {model!r:.60}")
    found = audit(X, y, groups=groups, checked=checked, random_state=random_state, n_jobs=n_jobs)
    codes = np.searchsorted(found.classes, found.labels)
    folds = make_folds(codes, FOLDS, None if groups is None else read_groups(groups), random_state)
    predicted = predicted_rows(folds)
    predictions: dict[str, Any] = {}
    for name, model in named.items():
        if not hasattr(model, "fit"):
            values = np.asarray(model)
            if len(values) != codes.size:
                raise ConfigError(f"models: {name} has {len(values)} rows, but y has {codes.size}")
            predictions[name] = values[predicted]
            continue
        features, estimator = converted(X if hasattr(X, "shape") else np.asarray(X), model)
        predictions[name] = predict_out_of_fold(estimator, folds, features, codes, {})
    return found.clean_scores(predictions, rows=predicted, confidence=confidence)
