"""Forests on Dask collections: each tree is grown where a part of the rows is, so that no machine holds all.

Labels are judged and parameters chosen on a sample, as robust boosters do.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from robust_splits import RobustExtraTreesClassifier, RobustForestClassifier
from robust_splits.label_noise.folds import integer_seed

from ..boosting.dask_passes import SAMPLED_ROWS, Judge, judge_parts, weights_of_classes
from ..boosting.passes import run_judge
from ..label_noise.dask_rows import DaskRows, find_client, is_dask_collection

Forest = TypeVar("Forest", RobustForestClassifier, RobustExtraTreesClassifier)
UNLIKE = 0.1  # difference of the share of a class in a part from that in all rows
OF_ALL_ROWS = (  # attributes of a fitted forest that are those of rows in one array
    "oob_score_",
    "oob_decision_function_",
    "_seeds",
    "_row_draws",
    "_judged",
)


def fit_forest_by_parts(forest: Forest, X: Any, y: Any, sample_weight: Any = None) -> Forest:
    """Fit a forest whose rows are in parts on the workers of a Dask cluster, such as a large Parquet data set.

    Each tree draws its rows from one part, and each part has trees in proportion to its rows.  So the rows must
    be in random order; if they are sorted by time or label, shuffle them first.  Parts should be as large as
    the workers can hold, as a tree of more rows is better.  Node size, shrinkage and the noise of the labels
    are chosen on a sample of 100,000 rows, which the client holds, as it does the trees.

    To use several machines for rows that fit each of them, call `fit` under joblib's Dask backend.

    Parameters
    ----------
    forest : RobustForestClassifier or RobustExtraTreesClassifier
        It is not changed.
    X : dask Array or DataFrame of shape (n, n_features)
    y : dask Array or Series of shape (n,)
        Labels, in the parts of X.
    sample_weight : dask Array, Series or None, default=None

    Returns
    -------
    RobustForestClassifier or RobustExtraTreesClassifier
        Fitted, for data in memory.  It has no out-of-bag scores, and no `estimators_samples_`.

    Raises
    ------
    ValueError
        If there is no client, X, y and weights do not have the same rows in each part, there are more parts
        than trees, or a parameter needs all rows at once: ``oob_score``, ``warm_start``, and weights of classes
        that are "balanced_subsample".
    TypeError
        If `forest` is no forest of this project, or the rows are no Dask collections.

    Warns
    -----
    UserWarning
        If parts differ in their classes by more than ten points, as those of sorted rows do.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from distributed import Client
    >>> from boostnoise import fit_forest_by_parts
    >>> from robust_splits import RobustForestClassifier
    >>> client = Client()  # doctest: +SKIP
    >>> rows = dd.read_parquet("rows/*.parquet")  # doctest: +SKIP
    >>> forest = RobustForestClassifier(200)
    >>> forest = fit_forest_by_parts(forest, rows.drop(columns="label"), rows["label"])  # doctest: +SKIP
    """
    _check(forest, X)
    rows = DaskRows.read(find_client(), X, y, sample_weight)
    seed = integer_seed(forest.random_state)
    n_trees = _divide(forest.n_estimators, rows.lengths)
    drawn = rows.sample(SAMPLED_ROWS, seed)
    _warn_of_sorted_rows(rows)
    fitted: Forest = clone(forest).fit(drawn.X, rows.encoder.classes_[drawn.codes], drawn.counted_weight)
    judge = Judge()
    if fitted.passes_ == 2:
        run_judge(judge, forest, drawn.X, drawn.codes, drawn.counted_weight, None)
    own = {
        "passes": 1,
        "n_jobs": 1,
        "verbose": 0,
        "criterion": fitted.criterion_,
        "class_weight": weights_of_classes(forest.class_weight, rows.encoder, drawn, judge),
        **fitted.chosen_params_,
    }
    _, shared, soft = judge_parts(judge, rows, drawn)
    seeds = [[seed, part] for part in range(len(n_trees))]
    template = rows.share(clone(forest).set_params(**own))
    classes = rows.encoder.classes_.tolist()
    grown = rows.map(_grow, soft, n_trees, seeds, template=template, classes=classes)
    fitted.estimators_ = [tree for trees in rows.client.gather(grown) for tree in trees]
    del shared  # kept until now, since a part is judged again if its worker is lost
    for name in OF_ALL_ROWS:
        fitted.__dict__.pop(name, None)
    return fitted


def _check(forest: Any, X: Any) -> None:
    """Raise errors of the forest and the rows before anything is computed."""
    if not isinstance(forest, RobustForestClassifier | RobustExtraTreesClassifier):
        raise TypeError(
            "forest must be a RobustForestClassifier or RobustExtraTreesClassifier, got "
            f"{type(forest).__name__}"
        )
    if not is_dask_collection(X):
        raise TypeError(f"X must be a Dask collection, got {type(X).__name__}; call fit for rows in memory")
    needs_all = {
        "oob_score": forest.oob_score is not False,
        "warm_start": bool(forest.warm_start),
        "class_weight='balanced_subsample'": forest.class_weight == "balanced_subsample",
    }
    for name, is_set in needs_all.items():
        if is_set:
            raise ValueError(f"{name} needs all rows at once, which forests by parts do not have")


def _divide(n_trees: int, lengths: list[int]) -> list[int]:
    """Number of trees of each part, in proportion to its rows and at least one."""
    if n_trees < len(lengths):
        raise ValueError(
            f"n_estimators must be at least the number of parts, {len(lengths)}, got {n_trees}; join parts, "
            "with X.repartition or X.rechunk"
        )
    exact = 1 + (n_trees - len(lengths)) * np.array(lengths) / sum(lengths)
    counts = exact.astype(int)
    largest = np.argsort(counts - exact, kind="stable")[: n_trees - counts.sum()]
    counts[largest] += 1
    return [int(count) for count in counts]


def _warn_of_sorted_rows(rows: DaskRows) -> None:
    n_classes = len(rows.encoder.classes_)
    counts = np.array(rows.client.gather(rows.client.map(np.bincount, rows.codes, minlength=n_classes)))
    differences = np.abs(counts / counts.sum(axis=1, keepdims=True) - counts.sum(axis=0) / counts.sum())
    part, label = np.unravel_index(differences.argmax(), differences.shape)
    # A part of few rows differs by chance.
    chance = 3 * 0.5 / np.sqrt(counts[part].sum())
    if differences[part, label] > UNLIKE + chance:
        name = rows.encoder.classes_.tolist()[label]
        warnings.warn(
            f"the share of the label {name!r} in part {part} differs by {differences[part, label]:.2f} from "
            "that in all rows: trees learn from one part each, so shuffle the rows first",
            UserWarning,
            stacklevel=3,
        )


def _grow(
    X: Any,
    codes: NDArray[np.int64],
    weight: Any,
    soft: NDArray[np.float32],
    n_trees: int,
    seed: list[int],
    *,
    template: Any,
    classes: list[Any],
) -> list[Any]:
    """The trees of a part."""
    random_state = int(np.random.default_rng(seed).integers(2**31 - 1))
    forest = clone(template).set_params(n_estimators=n_trees, random_state=random_state)
    trees: list[Any] = forest.fit(X, pd.DataFrame(soft, columns=classes), weight).estimators_
    return trees
