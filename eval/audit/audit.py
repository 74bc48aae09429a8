"""`audit`: how many labels are wrong, and which ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse

from boostnoise.label_noise.checked_labels import use_checked_labels
from boostnoise.label_noise.dask_rows import DaskRows, is_dask_collection
from robust_splits.label_noise.clean_posterior import IndistinctClassesError
from robust_splits.label_noise.label_errors import find_label_errors
from robust_splits.label_noise.labels import encode_labels

from .._frames import as_pandas
from .._memory import check_forests
from .._wording import percent
from ..errors import ConfigError, one_line
from ..models.held_out import held_out_probabilities
from .checked import LABEL, make_sample, read_draws
from .inputs import check_lengths, converted, judge_rows, read_checked, read_groups, read_rows
from .label_audit import LabelAudit
from .spelling import most_frequent_spellings, remark_on_spellings

Floats = NDArray[np.float64]

AUDITED = "the label of the audit"  # a column in addition to those of the data
MANY_COPIES = 0.05  # share of the rows
FEW_VALUES = 20
NEAR_CHANCE = 0.85  # of the share of labels that are not the most probable ones, if all were random


def audit(
    X: Any,
    y: Any,
    *,
    model: Any = None,
    groups: Any = None,
    ids: Any = None,
    checked: Any = None,
    merge_spellings: bool = True,
    keep_label_columns: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    name: str = "data",
) -> LabelAudit:
    """Estimate how many labels are wrong, which ones, and how sure that is.

    The probabilities of the labels are predicted by models that were fitted to other rows, and passed to
    `find_label_errors`.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, n_features), or Dask array or DataFrame
        Features; frames are those of pandas, polars or Arrow.  Text, categories and dates of a frame become
        numbers or native categories, as `model` takes them.  Missing values are kept, for models that accept
        them.  Dask collections, such as Parquet files that are too large for one machine, are judged part by
        part on the workers of the current client, by the default models, which are fitted to a sample of
        100,000 rows.
    y : array-like of shape (n,)
        Labels, at least two rows of each class; a Dask collection if `X` is one.
    model : classifier or None, default=None
        A classifier of scikit-learn's interface with `predict_proba`.  Random forests predict out of bag, other
        models are fitted five times, for cross-validation.  None for the mean of `RobustForestClassifier` and
        `RobustExtraTreesClassifier`, out of bag.
    groups : array-like of shape (n,) or None, default=None
        Groups of rows, such as the rows of one patient.  No row is judged by a model that saw its group.
    ids : array-like of shape (n,) or None, default=None
        Names of the rows, for lists.
    checked : dict, Series, DataFrame or None, default=None
        Right labels of the rows that somebody has checked, by their numbers from 0.  They correct all
        estimates; see `use_checked_labels`.  A frame has the rows as its index, the right labels in the column
        ``label``, and may have the probability with which each row was drawn in ``probability`` and the
        ``round`` in which it was, as from `LabelAudit.rows_to_check`.  Rows without a probability were chosen.
        If no probabilities are given, rows that look as if they were drawn at random are taken so.
    merge_spellings : bool, default=True
        Whether labels that differ in case and blanks only, such as ``"Yes "`` and ``"yes"``, are one class,
        with the most frequent spelling.
    keep_label_columns : bool, default=False
        Whether columns that were probably made from the label are features all the same; see
        `find_label_columns`.  Wrong labels cannot be found with them.
    random_state : int, default=0
        Seed of the default models and of folds.
    n_jobs : int or None, default=None
        Threads of the default models; -1 for all cores.
    name : str, default="data"
        Name of the data set, for reports.

    Returns
    -------
    LabelAudit

    Raises
    ------
    ConfigError
        A ValueError that names the argument, if rows, labels, groups or ids do not match, labels are missing or
        continuous, there are too few of a class, checked rows or labels do not exist, or the features do not
        predict the labels.  With Dask collections also if there is no client, or a model or groups are given.
    TypeError
        If `model` is no classifier with `predict_proba`, or `checked` is no dict, Series or DataFrame.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostnoise import audit
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> wrong = np.random.default_rng(0).random(y.size) < 0.1
    >>> found = audit(X, np.where(wrong, 1 - y, y))
    >>> wrong[found.suspects["row"][:20]].mean() > 0.9
    np.True_
    """
    is_model = hasattr(model, "fit") and hasattr(model, "predict_proba") and not isinstance(model, type)
    if model is not None and not is_model:
        raise TypeError(f"model must be a classifier with predict_proba, got {model!r:.60}")
    parts = None
    if is_dask_collection(X):
        parts, y = _read_dask_rows(X, y, model=model, groups=groups)
        ids = ids.compute() if is_dask_collection(ids) else ids
    X, y, groups, ids, checked = map(as_pandas, (X, y, groups, ids, checked))
    classes, codes, spellings = _read_labels(y, merge_spellings)
    if parts is not None:
        check_lengths(codes.size, "y", ids=ids)
    else:
        if model is None:
            check_forests(codes.size, classes.size, "y")
        X = read_rows(X, codes.size, "y", groups=groups, ids=ids)
    groups = None if groups is None else read_groups(groups)
    draws = None
    if isinstance(checked, pd.DataFrame):
        draws, checked = read_draws(checked), checked[LABEL]
    if checked is not None:
        checked = read_checked(checked, classes, codes.size, spellings, merge_spellings)

    def judge(features: Any) -> Floats:
        known, own_model = converted(features, model)
        return held_out_probabilities(
            known, codes, own_model, groups=groups, random_state=random_state, n_jobs=n_jobs
        )

    labels = classes[codes]
    if parts is None:
        judged = judge_rows(X, codes, classes, judge, keep=keep_label_columns)
        p, sampled = judged.p, np.arange(codes.size)
    else:
        from .dask_judging import judge_dask_rows

        p, judged, sampled, X = judge_dask_rows(
            parts, codes, classes, keep=keep_label_columns, random_state=random_state, n_jobs=n_jobs
        )
    try:
        errors = find_label_errors(labels, p)
        of_all = find_label_errors(labels[sampled], judged.p_of_all).noise_rate if judged.left_out else 0.0
    except IndistinctClassesError:
        raise ConfigError("the features do not predict the labels, so no label can be judged") from None
    remarks = [remark_on_spellings(spellings)] if spellings else []
    remarks += judged.remarks
    if judged.left_out:
        remarks.append(f"with all columns, about {percent(round(of_all, 3))} of the labels would be wrong")
    is_whole = sampled.size == codes.size
    remarks += _remarks(X if is_whole else None, codes, p, has_groups=groups is not None)
    sample = None
    if checked is not None:
        right = dict(zip(checked, np.searchsorted(classes, [*checked.values()]).tolist(), strict=True))
        sample, how_drawn = make_sample(right, draws, errors.ranking)
        remarks += how_drawn
        errors = use_checked_labels(errors, labels, [*checked], [*checked.values()])
    return LabelAudit(
        errors=errors,
        labels=labels,
        rows=np.arange(codes.size),
        features=X.reset_index(drop=True) if is_whole and isinstance(X, pd.DataFrame) else None,
        ids=None if ids is None else np.asarray(ids),
        name=name,
        checked=sample,
        remarks=tuple(remarks),
        left_out=tuple(judged.left_out),
    )


def _read_dask_rows(X: Any, y: Any, **refused: Any) -> tuple[DaskRows, NDArray[Any]]:
    """Rows of Dask collections, and their labels; arguments that are not for these are refused."""
    from .dask_judging import read_dask_rows  # needs the extra "dask"

    for argument, value in refused.items():
        if value is not None:
            raise ConfigError(f"{argument}: must be None with Dask collections, which the default models judge")
    return read_dask_rows(X, y)


def _read_labels(y: Any, merge_spellings: bool) -> tuple[NDArray[Any], NDArray[np.int64], dict[Any, Any]]:
    """Classes, the class number of each row, and the kept spelling of others."""
    try:
        encoder, codes = encode_labels(y)
    except (ValueError, TypeError) as error:
        message = one_line(error)
        raise ConfigError(message if message.startswith("y ") else f"y: {message}") from None
    given = encoder.classes_[codes]
    spellings = most_frequent_spellings(given) if merge_spellings else {}
    if spellings:
        encoder, codes = encode_labels([spellings.get(label, label) for label in given.tolist()])
    classes, counts = encoder.classes_, np.bincount(codes)
    if counts.min() < 2:
        rare = classes.tolist()[counts.argmin()]
        raise ConfigError(f"y: class {rare!r} has a single row; an audit needs two or more of each class")
    if classes.size > codes.size / 2:
        raise ConfigError(f"y has {classes.size} different labels in {codes.size} rows; are they classes?")
    return classes, codes, spellings


def _remarks(X: Any, codes: NDArray[np.int64], p: Floats, *, has_groups: bool) -> list[str]:
    """Reasons to doubt the estimates."""
    remarks = []
    table = X
    if X is not None and not isinstance(X, pd.DataFrame):
        table = None if issparse(X) else pd.DataFrame(np.asarray(X))
    n_copies = 0 if table is None or has_groups else int(table.assign(**{AUDITED: codes}).duplicated().sum())
    if n_copies > MANY_COPIES * codes.size:
        remarks.append(
            f"{n_copies} of {codes.size} rows are copies of others with the same label; if they were copied "
            "after they were labelled, their wrong labels confirm one another and are not found: leave out the "
            "copies, or make each row and its copies a group"
        )
    n_values = np.unique(p.max(axis=1).round(6)).size
    if n_values < min(FEW_VALUES, codes.size / 10):
        remarks.append(
            f"the model's probabilities have only {n_values} different values, with which suspects can hardly "
            "be ranked; use a forest or another model with graded probabilities"
        )
    shares = np.bincount(codes) / codes.size
    if (p.argmax(axis=1) != codes).mean() > NEAR_CHANCE * (1 - shares @ shares):
        remarks.append("the features hardly predict the labels, so these estimates are unreliable")
    return remarks
