"""`compare_annotators`: how often each annotator is wrong, and which one is worse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from boostnoise.label_noise.annotators import estimate_annotator_errors, resample_rates
from boostnoise.label_noise.checked_labels import check_labels
from boostnoise.label_noise.judges import predict_out_of_bag
from robust_splits.label_noise.labels import encode_labels

from ..errors import ConfigError, one_line
from .annotator_comparison import AnnotatorComparison
from .annotator_tables import count_labels, differences, error_rates
from .inputs import converted, is_informative, judge_rows, read_groups, read_rows
from .spelling import most_frequent_spellings, remark_on_spellings

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

IDENTIFIED = 3  # annotators; two are told apart by the features only


def compare_annotators(
    X: Any,
    labels: Any,
    *,
    checked: Any = None,
    groups: Any = None,
    merge_spellings: bool = True,
    keep_label_columns: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> AnnotatorComparison:
    """Estimate how often each annotator is wrong, in which classes, and which one is worse.

    The labels of all annotators and the features are explained by one true class of each row.  In it, each
    annotator gives each label with a probability of their own, and the features have the probabilities that
    forests predict out of bag; see [1]_ and [2]_.  This takes annotators to err independently of one another
    and of the features, given the class.  Rows that an expert has checked are known, so they also tell whom to
    believe elsewhere.  Beside this estimate stand the wrong labels of the checked rows alone, which need no
    such assumption if these rows were drawn at random.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, n_features)
        Features, as in `audit`.
    labels : DataFrame or array-like of shape (n, A)
        A column for each of two or more annotators; missing where an annotator gave no label.  Rows without any
        label are not used.
    checked : dict or Series or None, default=None
        Right labels of the rows that an expert has checked, by their numbers from 0.  They should be drawn at
        random, not for being disputed.
    groups : array-like of shape (n,) or None, default=None
        Groups of rows, such as the rows of one patient, which forests and intervals keep together.
    merge_spellings : bool, default=True
        Whether labels that differ in case and blanks only are one class.
    keep_label_columns : bool, default=False
        Whether columns that were probably made from the labels are features all the same; see `audit`.
    random_state : int, default=0
        Seed of the forests and of the bootstrap.
    n_jobs : int or None, default=None
        Threads of the forests; -1 for all cores.

    Returns
    -------
    AnnotatorComparison

    Raises
    ------
    ConfigError
        A ValueError that names the argument, if there are fewer than two annotators or classes, rows do not
        match, checked rows or labels do not exist, or neither features nor checked rows tell two annotators
        apart.
    TypeError
        If `checked` is no dict or Series.

    References
    ----------
    .. [1] Dawid & Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
           Journal of the Royal Statistical Society C 28(1), 1979.
    .. [2] Raykar, Yu, Zhao, Valadez, Florin, Bogoni & Moy, "Learning from crowds", JMLR 11, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.datasets import load_breast_cancer
    >>> from boostnoise import compare_annotators
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rng = np.random.default_rng(0)
    >>> ann = np.where(rng.random(y.size) < 0.05, 1 - y, y)
    >>> bob = np.where(rng.random(y.size) < 0.2, 1 - y, y)
    >>> found = compare_annotators(X, pd.DataFrame({"ann": ann, "bob": bob}))
    >>> found.error_rates.query("`class`.isna()").set_index("annotator")["wrong"].round(2)
    annotator
    ann    0.1
    bob    0.2
    Name: wrong, dtype: float64
    """
    table = pd.DataFrame(labels).reset_index(drop=True).convert_dtypes()
    if table.shape[1] < 2:
        raise ConfigError(f"labels: two or more annotators are needed, got {table.shape[1]}")
    if not table.columns.is_unique:
        raise ConfigError(f"labels: two annotators are called {table.columns[table.columns.duplicated()][0]!r}")
    X = read_rows(X, len(table), groups=groups)
    classes, codes, spellings = _read_labels(table, merge_spellings)
    right = np.full(len(table), -1)
    for row, label in _read_checked(checked, classes, len(table), spellings).items():
        right[row] = np.flatnonzero(classes == label)[0]
    units = None if groups is None else read_groups(groups)

    used = np.flatnonzero((codes >= 0).any(axis=1) | (right >= 0))
    codes, right = codes[used], right[used]
    units = None if units is None else units[used]
    features = X.iloc[used] if isinstance(X, pd.DataFrame) else _safe_indexing(X, used)
    shares = _shares(codes, right, classes.size)

    def judge(columns: Any) -> Floats:
        known, _ = converted(columns, None)
        return predict_out_of_bag(known, shares, groups=units, random_state=random_state, n_jobs=n_jobs)

    judged = judge_rows(features, shares.argmax(axis=1), classes, judge, keep_label_columns=keep_label_columns)
    q = judged.p
    is_told_apart = codes.shape[1] >= IDENTIFIED or bool((right >= 0).any())
    if not is_told_apart and not is_informative(q, shares.argmax(axis=1)):
        raise ConfigError(
            "the features do not predict the labels, so nothing tells which of two annotators is right; "
            "give some checked rows"
        )
    errors = estimate_annotator_errors(codes, q, right)
    sample = resample_rates(errors, codes, q, right, units, random_state)
    names = table.columns.tolist()
    n_labels = count_labels(codes, errors.posterior)
    probabilities = np.full((len(table), classes.size), np.nan)
    probabilities[used] = errors.posterior
    return AnnotatorComparison(
        annotators=tuple(names),
        classes=classes,
        error_rates=error_rates(names, classes, errors.rates, sample, n_labels, codes, right),
        differences=differences(names, classes, errors.rates, sample, n_labels, codes, right),
        transition_matrices=errors.matrices,
        probabilities=pd.DataFrame(probabilities, columns=classes),
        n_checked=int((right >= 0).sum()),
        remarks=(*([remark_on_spellings(spellings)] if spellings else []), *judged.remarks),
    )


def _read_labels(
    table: pd.DataFrame, merge_spellings: bool
) -> tuple[NDArray[Any], NDArray[np.int64], dict[Any, Any]]:
    """Classes, class numbers of shape (n, A) with -1 for missing labels, and the kept spelling of others."""
    flat = table.to_numpy(dtype=object).ravel()
    known = np.flatnonzero(pd.notna(flat))
    given = flat[known]
    spellings = most_frequent_spellings(given) if merge_spellings else {}
    n_different = len(set(given.tolist()) - set(spellings))
    if n_different > len(table) / 2:
        raise ConfigError(f"labels has {n_different} different labels in {len(table)} rows; are they classes?")
    try:
        encoder, found = encode_labels([spellings.get(label, label) for label in given.tolist()])
    except (ValueError, TypeError) as error:
        raise ConfigError(f"labels: {one_line(error)}") from None
    codes = np.full(flat.size, -1)
    codes[known] = found
    by_annotator = codes.reshape(table.shape)
    silent = np.flatnonzero((by_annotator < 0).all(axis=0))
    if silent.size:
        raise ConfigError(f"labels: annotator {table.columns[silent[0]]!r} gave no label")
    return encoder.classes_, by_annotator, spellings


def _read_checked(
    checked: Any, classes: NDArray[Any], n_rows: int, spellings: dict[Any, Any]
) -> dict[Any, Any]:
    if checked is None:
        return {}
    if not isinstance(checked, dict | pd.Series):
        raise TypeError(f"checked must be a dict or a Series of labels by row, got {checked!r:.60}")
    right = {row: spellings.get(label, label) for row, label in dict(checked).items()}
    try:
        check_labels(classes, n_rows, [*right], [*right.values()])
    except ValueError as error:
        raise ConfigError(one_line(error)) from None
    return right


def _shares(codes: Codes, right: Codes, n_classes: int) -> Floats:
    """Shares of the labels of each row; a checked row has the right one."""
    votes = np.stack([(codes == k).sum(axis=1) for k in range(n_classes)], axis=1).astype(np.float64)
    known = right >= 0
    votes[known] = np.eye(n_classes)[right[known]]
    votes /= votes.sum(axis=1, keepdims=True)
    return votes
