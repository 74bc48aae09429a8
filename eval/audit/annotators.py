"""`compare_annotators`: how often each annotator is wrong, and which one is worse."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from boostnoise.label_noise.annotators import apply_errors, estimate_annotator_errors, resample_rates
from boostnoise.label_noise.judges import predict_out_of_bag
from robust_splits.label_noise.labels import encode_labels

from .._frames import as_pandas
from .._memory import check_forests
from .._wording import joined
from ..errors import ConfigError, one_line
from ..noise.annotators import majority
from .annotator_comparison import AnnotatorComparison
from .annotator_tables import differences, error_rates
from .inputs import converted, is_informative, judge_rows, read_checked, read_groups, read_rows
from .spelling import most_frequent_spellings, remark_on_spellings

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

IDENTIFIED = 3  # labels of a row; two annotators are told apart by the features only
MANY_ROWS = 50


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
    and of the features, given the class.

    Rows that an expert has checked are known, and so improve all estimates.  The result also has the shares of
    wrong labels among the checked rows alone.  They need no such assumption if these rows were drawn at random.
    If the features do not predict the labels, and too few rows have three labels, only the checked rows are
    used.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, n_features)
        Features, as in `audit`.
    labels : DataFrame or array-like of shape (n, A)
        A column for each of two or more annotators; missing where an annotator gave no label.
    checked : dict or Series or None, default=None
        Right labels of the rows that an expert has checked, by their numbers from 0.  They should be drawn at
        random, not for being disputed.
    groups : array-like of shape (n,) or None, default=None
        Groups of rows, such as the rows of one patient, which forests and intervals keep together.
    merge_spellings : bool, default=True
        Whether labels that differ in case and blanks only are one class.
    keep_label_columns : bool, default=False
        Whether columns that have the values of the labels, mostly in the same rows, are features all the same.
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
        A ValueError that names the argument, if there are fewer than two annotators or classes, two annotators
        label the same rows without a common label, rows do not match, checked rows or labels do not exist, or
        nothing tells who is right.
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
    >>> of_all = found.error_rates[found.error_rates["class"].isna()].set_index("annotator")
    >>> bool(of_all.loc["ann", "wrong"] < 0.1 < of_all.loc["bob", "wrong"])
    True
    """
    X, labels, checked, groups = map(as_pandas, (X, labels, checked, groups))
    table = pd.DataFrame(labels).reset_index(drop=True).convert_dtypes()
    if table.shape[1] < 2:
        raise ConfigError(f"labels: two or more annotators are needed, got {table.shape[1]}")
    if not table.columns.is_unique:
        raise ConfigError(f"labels: two annotators are called {table.columns[table.columns.duplicated()][0]!r}")
    names = table.columns.tolist()
    X = read_rows(X, len(table), "labels", groups=groups)
    classes, codes, spellings = _read_labels(table, merge_spellings)
    check_forests(len(table), classes.size, "labels")
    remarks = [remark_on_spellings(spellings)] if spellings else []
    remarks += _compare_labels(names, classes, codes)
    right = np.full(len(table), -1)
    if checked is not None:
        for row, label in read_checked(checked, classes, len(table), spellings, merge_spellings).items():
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

    most = np.where(right >= 0, right, majority(codes, classes.size))
    judged = judge_rows(features, most, classes, judge, keep=keep_label_columns, same_values_only=True)
    remarks += judged.remarks
    fitted, q = _choose_rows(codes, right, judged.p)
    if fitted.size < used.size:
        remarks.append("the features do not predict the labels, so only the checked rows are used")
    rows = codes[fitted], q[fitted], right[fitted]
    errors = estimate_annotator_errors(*rows)
    sample = resample_rates(errors, *rows, None if units is None else units[fitted], random_state)
    probabilities = np.full((len(table), classes.size), np.nan)
    probabilities[used] = apply_errors(errors, codes, q, right)
    return AnnotatorComparison(
        annotators=tuple(names),
        classes=classes,
        error_rates=error_rates(names, classes, errors, sample, codes, right),
        differences=differences(names, classes, errors, sample, codes, right),
        transition_matrices=errors.matrices,
        probabilities=pd.DataFrame(probabilities, columns=classes),
        n_checked=int((right >= 0).sum()),
        remarks=tuple(remarks),
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
        raise ConfigError(f"labels: {one_line(error).removeprefix('y ')}") from None
    codes = np.full(flat.size, -1)
    codes[known] = found
    by_annotator = codes.reshape(table.shape)
    silent = np.flatnonzero((by_annotator < 0).all(axis=0))
    if silent.size:
        raise ConfigError(f"labels: annotator {table.columns[silent[0]]!r} gave no label")
    return encoder.classes_, by_annotator, spellings


def _compare_labels(names: list[Any], classes: NDArray[Any], codes: Codes) -> list[str]:
    """Remarks on annotators whose labels are too much alike, and on labels that only one of them uses.

    Raises
    ------
    ConfigError
        If two annotators label the same rows without a common label, as with different codes.
    """
    remarks = []
    for i, j in combinations(range(len(names)), 2):
        both = (codes[:, [i, j]] >= 0).all(axis=1)
        used = [set(codes[codes[:, a] >= 0, a].tolist()) for a in (i, j)]
        pair = f"{names[i]!r} and {names[j]!r}"
        if both.any() and not used[0] & used[1]:
            labels = classes.tolist()
            given = " / ".join(joined([repr(labels[k]) for k in sorted(one)], limit=5) for one in used)
            raise ConfigError(f"labels: {pair} have no label in common ({given})")
        if both.sum() >= MANY_ROWS and (codes[both, i] == codes[both, j]).all():
            remarks.append(
                f"{pair} agree in all {both.sum()} rows that both labelled; if one copied the other, "
                "they count as one annotator, and errors that they share are not found"
            )
    for k, label in enumerate(classes.tolist()):
        users = np.flatnonzero((codes == k).any(axis=0))
        if users.size == 1:
            remarks.append(f"the label {label!r} is used by {names[users[0]]!r} only")
    return remarks


def _choose_rows(codes: Codes, right: Codes, p: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Rows to estimate from, and the probabilities that their features have.

    All rows, if the features tell who is right, or several annotators tell of one another.  If not, the checked
    rows, whose features say nothing.

    Raises
    ------
    ConfigError
        If there are no checked rows then.
    """
    if _are_identified(codes, p):
        return np.arange(len(p)), p
    checked = np.flatnonzero(right >= 0)
    if checked.size == 0:
        raise ConfigError(
            "the features do not predict the labels, so nothing tells which annotator is right; give some "
            "checked rows"
        )
    return checked, np.full_like(p, 1 / p.shape[1])


def _are_identified(codes: Codes, p: Floats) -> bool:
    """Whether the features predict somebody's labels, or enough rows have three labels."""
    has_label = codes >= 0
    if (has_label.sum(axis=1) >= IDENTIFIED).sum() >= MANY_ROWS:
        return True
    return any(
        is_informative(p[given], labels[given]) for labels, given in zip(codes.T, has_label.T, strict=True)
    )


def _shares(codes: Codes, right: Codes, n_classes: int) -> Floats:
    """Shares of the labels of each row; a checked row has the right one."""
    votes = np.stack([(codes == k).sum(axis=1) for k in range(n_classes)], axis=1).astype(np.float64)
    known = right >= 0
    votes[known] = np.eye(n_classes)[right[known]]
    votes /= votes.sum(axis=1, keepdims=True)
    return votes
