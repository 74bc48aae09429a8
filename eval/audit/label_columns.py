"""Columns that were made from the label, such as a copy of it with errors.

Such a column confirms wrong labels, so that none are found.  It is told from a good feature by what explains
it: given the label, the other features say nothing about it, while they do say something about a feature that
belongs to the row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import mutual_info_score

from boostnoise.label_noise.judges import JUDGES
from robust_splits.label_noise.clean_posterior import is_above_chance
from robust_splits.label_noise.weights import spaced_rows

from .._wording import joined

ENOUGH = 0.5  # of the information about the labels that all features give together
# Agreement with the labels of a column that has the same values.  Many good features are 0 or 1, as labels are.
SAME_VALUES, SAME_NUMBERS = 0.7, 0.9
FEW_VALUES, NEARLY_ALL = 20, 0.95
SAME_CODES = 0.99  # agreement of two columns that do not count as different ones
MAX_ROWS, MIN_ROWS, MAX_VALUES = 5_000, 1_000, 500_000  # fewer rows of wide data
TREES = 50

Codes = NDArray[np.int64]


def find_label_columns(
    X: pd.DataFrame,
    encoded: pd.DataFrame,
    codes: Codes,
    classes: NDArray[Any],
    p: NDArray[np.float64],
    *,
    same_values_only: bool = False,
) -> list[Any]:
    """Find the columns that were probably made from the label.

    Such a column gives at least half of the information about the labels that all features give together,
    and either has the same values as the labels, as the labels of another annotator would, or is independent of
    the other features given the label.  A good feature may be independent too, so a column with more than 20
    values is such a column only if it predicts 95 % of the labels.

    Parameters
    ----------
    X : DataFrame of n rows
        Features as they are in the data.
    encoded : DataFrame of n rows
        The same columns as numbers or categories.
    codes : int array of shape (n,)
        Class numbers of the labels.
    classes : ndarray of shape (K,)
        Labels.
    p : array of shape (n, K)
        Probabilities of the labels from models that were fitted to other rows.
    same_values_only : bool, default=False
        Whether columns with other values than the labels are not considered.

    Returns
    -------
    list
        Names of columns.
    """
    n_rows = np.clip(MAX_VALUES // max(X.shape[1], 1), MIN_ROWS, MAX_ROWS)
    rows = spaced_rows(codes.size, int(n_rows))
    y, n_classes = codes[rows], classes.size
    of_label = np.maximum(p[rows, y], 1e-3)
    shares = np.bincount(y, minlength=n_classes) / y.size
    known = float(np.mean(np.log(of_label / shares[y])))
    if known <= 0 or X.shape[1] < 2:
        return []
    alone = {name: _predict_alone(encoded[name].iloc[rows], y, n_classes) for name in encoded}
    suspects = {name: c for name, c in alone.items() if mutual_info_score(y, c) >= ENOUGH * known}
    found = []
    for name, c in suspects.items():
        same = [other for other, d in alone.items() if (c == d).mean() > SAME_CODES]
        others = encoded.iloc[rows].drop(columns=same)
        column = X[name].iloc[rows]
        may_be_made = not same_values_only and (column.nunique() <= FEW_VALUES or (c == y).mean() >= NEARLY_ALL)
        if _has_values_of(column, classes[y]) or (may_be_made and not _is_explained(c, others, y, n_classes)):
            found.append(name)
    return found


def without_columns(X: Any, columns: list[Any]) -> Any:
    """Features without some columns; those of an array are numbers."""
    if isinstance(X, pd.DataFrame):
        return X.drop(columns=columns)
    return np.delete(np.asarray(X), columns, axis=1)


def remark_on_label_columns(columns: list[Any]) -> str:
    """Remark that names the columns left out."""
    was, it_is = ("was", "it is") if len(columns) == 1 else ("were", "they are")
    return (
        f"{_listed(columns)} {was} left out, as {it_is} probably made from the label, or another label of the "
        "same rows; keep_label_columns or --keep-label-columns keeps it"
    )


def remark_on_the_only_columns(columns: list[Any]) -> str:
    """Remark that only these columns predict the labels, so they are kept."""
    verb, it = ("predicts", "it was") if len(columns) == 1 else ("predict", "they were")
    return f"only {_listed(columns)} {verb} the labels; if {it} made from the label, wrong labels are not found"


def _listed(columns: list[Any]) -> str:
    return f"column{'' if len(columns) == 1 else 's'} {joined(map(repr, columns), limit=5)}"


def _predict_alone(column: pd.Series[Any], y: Codes, n_classes: int) -> Codes:
    """Class that a column speaks for in each row, more than in other rows, by a fit to every other row."""
    from sklearn.tree import DecisionTreeClassifier  # slow to import

    found = np.zeros(y.size, dtype=np.int64)
    is_number = pd.api.types.is_numeric_dtype(column)
    values = column.to_numpy(dtype=np.float64, na_value=np.nan) if is_number else pd.factorize(column)[0]
    for part in (0, 1):
        seen = np.arange(y.size) % 2 == part
        if is_number:
            tree = DecisionTreeClassifier(
                max_leaf_nodes=max(2, n_classes), class_weight="balanced", random_state=0
            )
            x = np.where(np.isinf(values), np.nan, values).reshape(-1, 1)
            found[~seen] = tree.fit(x[seen], y[seen]).predict(x[~seen])
        else:
            counts = np.zeros((values.max() + 2, n_classes))  # the last row is that of missing values
            np.add.at(counts, (values[seen], y[seen]), 1.0)
            lift = counts / np.maximum(counts.sum(axis=0), 1.0)
            found[~seen] = lift.argmax(axis=1)[values[~seen]]
    return found


def _has_values_of(column: pd.Series[Any], labels: NDArray[Any]) -> bool:
    """Whether the known values of a column are those of the labels, mostly in the same rows."""
    known = column.notna().to_numpy()
    if not known.any():
        return False
    values, given = column[known].to_numpy(), labels[known]
    if all(array.dtype.kind in "biuf" for array in (values, given)):  # 1 and 1.0 are the same
        values, given = values.astype(np.float64), given.astype(np.float64)
    as_text, given = values.astype(str), given.astype(str)
    are_two_numbers = labels.dtype.kind in "biuf" and np.unique(labels).size == 2
    least = SAME_NUMBERS if are_two_numbers else SAME_VALUES
    return set(as_text) <= set(given) and bool((as_text == given).mean() >= least)


def _is_explained(c: Codes, others: pd.DataFrame, y: Codes, n_classes: int) -> bool:
    """Whether the other features say more about a column than chance would, given the label."""
    if others.shape[1] == 0 or np.unique(c).size < 2:
        return True
    classes, target = np.unique(c, return_inverse=True)
    features = np.column_stack([others.to_numpy(dtype=np.float64, na_value=np.nan), y])
    forest = JUDGES[0](TREES, passes=1, oob_score=True, random_state=0).fit(features, target)
    q = np.nan_to_num(forest.oob_decision_function_)
    given_label = np.zeros((n_classes, classes.size))
    np.add.at(given_label, (y, target), 1.0)
    given_label /= np.maximum(given_label.sum(axis=1, keepdims=True), 1.0)
    return is_above_chance(target, q, given_label[y], np.ones(y.size))
