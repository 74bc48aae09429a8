"""Choose the structure of a booster: the size of its trees, their number and the learning rate.

Two structures are compared, a smaller and a larger one; both are the larger the more rows there are.  Each is
fitted to the soft labels of the rows outside of a fold, and its probabilities p of the clean labels are scored
by how likely they make the given labels of the fold, ``sum_i p_i T[i, given]``: a score that prefers better
models without clean labels.  It favours large boosters a little, because the judges of the other rows have seen
these labels, so no more than two are compared.  Unless `cv` says otherwise, one fold of three is held out, and
fewer than 1,000 rows have the smaller structure: with so few, the comparison gains nothing.  From 30,000 rows
on, boosters are compared after half of their rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from robust_splits.label_noise.clean_posterior import mean_log_likelihood
from robust_splits.label_noise.folds import Folds, limit_folds, make_weighted_folds

from ..losses.softmax import Floats
from .auto_parameters import is_auto, resolve_folds
from .target import Target

SIZES = (2_000, 10_000, 30_000)  # numbers of rows from which on the structures are larger
COMPARED_ROWS = 1_000  # with fewer, structures are not compared by default


@dataclass(frozen=True)
class TrainingRows:
    """Rows to train on.

    Attributes
    ----------
    X : array-like of n rows
    target : Target
        Soft labels to train on.
    codes : int array of shape (n,)
        Class numbers of the given labels.
    weight : float array of shape (n,) or None
        Product of all weights of rows and classes.
    groups : array-like of shape (n,) or None
        Groups of rows that folds keep together.
    columns : dict
        Arguments of `fit` that describe the columns.
    """

    X: Any
    target: Target
    codes: NDArray[np.int64]
    weight: Floats | None
    groups: Any
    columns: dict[str, Any]

    @property
    def n_used(self) -> int:
        """Number of rows whose weight is not zero."""
        return self.codes.size if self.weight is None else int(np.count_nonzero(self.weight))

    def folds(self, cv: Any, seed: int) -> Folds:
        """Folds to compare structures in; none if there are too few rows."""
        chooses_folds = is_auto(cv)
        if chooses_folds and self.n_used < COMPARED_ROWS:
            return []
        cv = resolve_folds(cv)
        if isinstance(cv, Integral):
            groups = None if self.groups is None else np.asarray(self.groups)
            if limit_folds(int(cv), self.codes, groups) < 2:
                return []
        folds = make_weighted_folds(self.codes, self.weight, cv, self.groups, seed)
        return folds[:1] if chooses_folds else folds


@dataclass(frozen=True)
class StructureChoice:
    """Chosen structure.

    Attributes
    ----------
    params : dict
    results : dict of str to ndarray
        The attribute ``cv_results_``.
    """

    params: dict[str, Any]
    results: dict[str, NDArray[Any]]


def size_class(n_rows: int) -> int:
    """Number of the pair of structures for a number of rows."""
    return sum(n_rows >= size for size in SIZES)


def choose_structure(
    estimator: Any,
    structures: list[dict[str, Any]],
    params: dict[str, Any],
    T: Floats,
    rows: TrainingRows,
    folds: Folds,
    seed: int,
) -> StructureChoice:
    """Choose the structure that makes the given labels of unseen rows most likely.

    Parameters
    ----------
    estimator : RobustXGBClassifier or RobustLGBMClassifier
    structures : list of dict
        Parameters, from the smallest booster to the largest one.
    params : dict
        Other parameters of the boosters of the folds.
    T : array of shape (K, K)
        Transition matrix of the noise.
    rows : TrainingRows
    folds : list of (rows to fit on, rows to predict)
    seed : int
    """
    params = dict(params)
    if estimator.random_state is not None:
        params["random_state"] = seed
    scores: list[list[float]] = []
    for structure in structures:
        model = clone(estimator).set_params(**{**params, **_compared(structure, rows.n_used)})
        scores.append([_score(model, rows, T, *fold) for fold in folds])
        mean = np.mean(scores[-1])
        if estimator.verbose is not None and estimator.verbose > 0:
            print(f"[{type(estimator).__name__}] log likelihood {mean:.4f}: {structure}", flush=True)  # noqa: T201
    table = np.array(scores)
    return StructureChoice(structures[int(table.mean(axis=1).argmax())], _results(structures, table))


def _compared(structure: dict[str, Any], n_rows: int) -> dict[str, Any]:
    """A structure as it is compared."""
    if n_rows < SIZES[-1] or "n_estimators" not in structure:
        return structure
    return structure | {"n_estimators": -(-structure["n_estimators"] // 2)}


def _score(model: Any, rows: TrainingRows, T: Floats, seen: NDArray[Any], unseen: NDArray[Any]) -> float:
    """Mean log likelihood of the given labels of unseen rows, for a model of the others."""
    weight = rows.weight
    model.fit(
        _safe_indexing(rows.X, seen),
        rows.target.given[seen],
        sample_weight=None if weight is None else weight[seen],
        **rows.columns,
    )
    p = np.asarray(model.predict_proba(_safe_indexing(rows.X, unseen)), dtype=np.float64)
    return mean_log_likelihood(p, T, rows.codes[unseen], None if weight is None else weight[unseen])


def _results(structures: list[dict[str, Any]], scores: Floats) -> dict[str, NDArray[Any]]:
    """Table of scores with the keys of scikit-learn's searches."""
    results: dict[str, NDArray[Any]] = {"params": np.array(structures, dtype=object)}
    for name in structures[0]:
        results[f"param_{name}"] = np.array([structure[name] for structure in structures], dtype=object)
    for fold in range(scores.shape[1]):
        results[f"split{fold}_test_score"] = scores[:, fold]
    results["mean_test_score"], results["std_test_score"] = scores.mean(axis=1), scores.std(axis=1)
    results["rank_test_score"] = rankdata(-scores.mean(axis=1), method="min").astype(np.int32)
    return results
