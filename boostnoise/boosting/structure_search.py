"""Choose the structure of a booster's trees and its total learning rate by cross-validation on noisy labels.

The total learning rate of a booster is the sum of the learning rates of all its rounds.  For each fold,
boosters are trained on the other rows, with learning rates that grow in proportion to the total so far, so that
small and large totals cost about the same number of rounds.  Their loss on the rows of the fold is recorded
after each round.

Under uniform noise, the probabilities with the smallest expected loss on noisy labels rank the classes as the
clean ones do.  But the noise brings all probabilities together, and in small samples the loss then often
prefers a booster that knows no more than the shares of the classes.  So the chosen total is at least
``MIN_TOTAL``.

Structures are compared at their best totals, from the smoothest to the most flexible one.  A more flexible
structure is chosen only if its mean loss is lower by more than one standard error of the difference over the
folds: under noise, the differences between structures are mostly chance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from robust_splits.label_noise.folds import Folds, Rows, integer_seed, make_weighted_folds

from ..losses.softmax import Floats
from .learning_curve import (
    MIN_TOTAL,
    LearningCurve,
    Schedule,
    alternating,
    first_values,
    growing_rates,
    pool_curves,
)

SEARCH_BLOCK = 2  # rounds between changes of parameters
FIRST_FOLDS = 2  # on which all structures are tried
STANDARD_ERRORS = 1.0  # by which a more flexible structure must be better
HOLD_OUT_ROWS = 100_000  # above, only the first fold is held out
MANY_VALUES = 1_000_000  # above, the threads share each fit; below, each has fits of its own


@dataclass(frozen=True)
class TrainingRows:
    """Rows to train on.

    Attributes
    ----------
    X : array-like of n rows
    labels, codes : ndarray of shape (n,)
        Labels and class numbers.
    weight : ndarray of shape (n,) or None
        Product of all weights of rows and classes.
    groups : array-like of shape (n,) or None
        Groups of rows that folds keep together.
    arguments : dict
        Arguments of `fit` that describe the columns.
    """

    X: Any
    labels: NDArray[Any]
    codes: NDArray[np.int64]
    weight: Floats | None
    groups: Any
    arguments: dict[str, Any]

    def part(self, rows: Rows) -> tuple[tuple[Any, NDArray[Any]], Floats | None]:
        """Features and labels of some rows, and their weights."""
        weight = None if self.weight is None else self.weight[rows]
        return (_safe_indexing(self.X, rows), self.labels[rows]), weight


@dataclass(frozen=True)
class SearchResult:
    """Choice of `search`.

    Attributes
    ----------
    structure : int
        Index of the chosen structure.
    total : float
        The chosen total learning rate.
    results : dict of str to ndarray
        The attribute ``cv_results_``, with one entry for each structure and total learning rate.
    """

    structure: int
    total: float
    results: dict[str, NDArray[Any]]


def search(
    estimator: Any,
    structures: list[dict[str, Any]],
    params: dict[str, Any],
    steps: float,
    rows: TrainingRows,
    fixed_total: float | None = None,
) -> SearchResult:
    """Choose a structure of trees and a total learning rate.

    Parameters
    ----------
    estimator : RobustXGBClassifier or RobustLGBMClassifier
    structures : list of dict
        Parameters of trees, from the smoothest structure to the most flexible one; values of a tuple alternate.
    params : dict
        The other parameters of the boosters of the folds, without number of rounds and learning rate.
    steps : float
        See `growing_rates`.
    rows : TrainingRows
    fixed_total : float or None, default=None
        Total learning rate at which structures are compared; None chooses it too.

    Raises
    ------
    ValueError
        If the rows cannot be divided into folds.
    """
    seed = integer_seed(estimator.random_state)
    folds = _folds_of(estimator, rows, seed)
    workers, threads = _share_threads(estimator, rows)
    params = {**params, "n_jobs": threads}
    if estimator.random_state is not None:
        params["random_state"] = seed
    candidates = [_Candidate.of(structure, steps, folds, rows.weight, fixed_total) for structure in structures]
    # A structure that is not better on the first folds is not tried on the others.
    for stage in (slice(0, FIRST_FOLDS), slice(FIRST_FOLDS, None)):
        tried = [
            c for c in candidates if c is candidates[0] or stage.start == 0 or c.is_better_than(candidates[0])
        ]
        tasks = [(candidate, fold) for fold in range(len(folds))[stage] for candidate in tried]
        models = [clone(estimator).set_params(**{**params, **candidate.start_params}) for candidate, _ in tasks]
        fits = (
            delayed(candidate.fit)(model, rows, *folds[fold])
            for model, (candidate, fold) in zip(models, tasks, strict=True)
        )
        curves = Parallel(workers, prefer="threads", return_as="generator")(fits)
        for (candidate, fold), losses in zip(tasks, curves, strict=True):
            candidate.curves.append(losses)
            _report(estimator, f"fold {fold + 1} of {len(folds)}: {candidate}")
    chosen = candidates[0]
    for candidate in candidates[1:]:
        if len(candidate.curves) == len(folds) and candidate.is_better_than(chosen, STANDARD_ERRORS):
            chosen = candidate
    _report(estimator, f"chosen: {chosen}")
    return SearchResult(candidates.index(chosen), chosen.total, _results(candidates, len(folds)))


@dataclass
class _Candidate:
    """Structure of trees, with the learning curves of its boosters.

    Attributes
    ----------
    structure : dict
    schedule : Schedule
    totals : ndarray of shape (rounds,)
    weights : list of float
        Sum of the weights of the unseen rows of each fold.
    fixed_total : float or None
    curves : list of list of float
        Losses after each round, by fold.
    """

    structure: dict[str, Any]
    schedule: Schedule
    totals: Floats
    weights: list[float]
    fixed_total: float | None
    curves: list[list[float]] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        structure: dict[str, Any],
        steps: float,
        folds: Folds,
        weight: Floats | None,
        fixed_total: float | None,
    ) -> Self:
        """Candidate without curves."""
        rates, totals = growing_rates(steps, SEARCH_BLOCK)
        weights = [float(unseen.size if weight is None else weight[unseen].sum()) for _, unseen in folds]
        schedule = Schedule(alternating(structure), SEARCH_BLOCK, rates)
        return cls(structure, schedule, totals, weights, fixed_total)

    @property
    def start_params(self) -> dict[str, Any]:
        """Parameters of the boosters at the start of training."""
        params = first_values(self.structure)
        return params | {"n_estimators": self.totals.size, "learning_rate": self.schedule.rates[0]}

    def fit(self, model: Any, rows: TrainingRows, seen: Rows, unseen: Rows) -> list[float]:
        """Losses of a booster on unseen rows after each round."""
        curve = LearningCurve(self.totals, self.fixed_total or MIN_TOTAL)
        model._fit_fold(rows, seen, unseen, self.schedule, curve)
        return curve.losses

    @property
    def table(self) -> Floats:
        """Losses of shape (folds, rounds)."""
        return pool_curves(self.curves)

    @property
    def mean(self) -> Floats:
        """Mean loss over the folds after each round."""
        return np.average(self.table, axis=0, weights=self.weights[: len(self.curves)])

    @property
    def best(self) -> int:
        """Index of the best number of rounds."""
        mean = self.mean
        if self.fixed_total is None:
            return int(mean.argmin())
        return min(int(np.searchsorted(self.totals, self.fixed_total)), mean.size - 1)

    @property
    def total(self) -> float:
        """Best total learning rate."""
        return max(float(self.totals[self.best]), MIN_TOTAL)

    def is_better_than(self, other: _Candidate, standard_errors: float = 0.0) -> bool:
        """Whether the loss is lower by more than so many standard errors of the difference, on common folds."""
        n_folds = min(len(self.curves), len(other.curves))
        weights = self.weights[:n_folds]
        gains = other.table[:n_folds, other.best] - self.table[:n_folds, self.best]
        error = float(np.std(gains, ddof=1) / np.sqrt(n_folds)) if n_folds > 1 else 0.0
        return float(np.average(gains, weights=weights)) > standard_errors * error

    def __str__(self) -> str:
        structure = ", ".join(f"{name}={value}" for name, value in self.structure.items())
        total = f"total learning rate {self.totals[self.best]:.2f}"
        return f"loss {self.mean[self.best]:.4f} at {', '.join(filter(None, (total, structure)))}"


def _results(candidates: list[_Candidate], n_folds: int) -> dict[str, NDArray[Any]]:
    """Table of scores with the keys of scikit-learn; folds on which a structure was not tried are NaN."""
    parts: dict[str, list[NDArray[Any]]] = {}
    for candidate in candidates:
        table = -candidate.table
        rounds = table.shape[1]
        columns: dict[str, Any] = {"total_learning_rate": candidate.totals[:rounds]}
        for name, value in candidate.structure.items():
            columns[f"param_{name}"] = np.empty(rounds, dtype=object)
            columns[f"param_{name}"][:] = [value] * rounds
        for fold in range(n_folds):
            columns[f"split{fold}_test_score"] = table[fold] if fold < len(table) else np.full(rounds, np.nan)
        columns["mean_test_score"] = -candidate.mean if len(table) == n_folds else np.full(rounds, np.nan)
        columns["std_test_score"] = table.std(axis=0) if len(table) == n_folds else np.full(rounds, np.nan)
        for name, column in columns.items():
            parts.setdefault(name, []).append(column)
    results = {name: np.concatenate(columns) for name, columns in parts.items()}
    losses = np.nan_to_num(-results["mean_test_score"], nan=np.inf)
    results["rank_test_score"] = rankdata(losses, method="min").astype(np.int32)
    return results


def _report(estimator: Any, message: str) -> None:
    if estimator.verbose is not None and estimator.verbose > 0:
        print(f"[{type(estimator).__name__}] {message}", flush=True)  # noqa: T201


def _folds_of(estimator: Any, rows: TrainingRows, seed: int) -> Folds:
    """Folds of the rows whose weight is not zero; the first alone if there are many rows."""
    folds = make_weighted_folds(rows.codes, rows.weight, estimator.cv, rows.groups, seed)
    n_used = rows.codes.size if rows.weight is None else np.count_nonzero(rows.weight)
    return folds[:1] if n_used > HOLD_OUT_ROWS and isinstance(estimator.cv, Integral) else folds


def _share_threads(estimator: Any, rows: TrainingRows) -> tuple[int, int]:
    """Number of fits at a time, and of threads in each: on small data, several threads mostly wait."""
    n_jobs = effective_n_jobs(estimator.n_jobs or -1)
    values = np.prod([float(n) for n in np.shape(rows.X)]) * (rows.codes.max() + 1)
    return (1, n_jobs) if values > MANY_VALUES else (n_jobs, 1)
