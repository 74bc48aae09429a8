"""Prepare the training of a booster on noisy labels, in one pass or two.

In two passes, forests judge the labels first: `judge_labels` gives the probability of each class, given the
features and the label of a row.  These are the soft labels that the booster is trained on, so that its
probabilities are those of the clean labels.  Its structure is that of `choose_structure`.  In one pass the
booster is trained on the given labels, with the library's own parameters, and its probabilities are those of
the given labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import indexable

from robust_splits.label_noise.clean_posterior import CleanPosterior, IndistinctClassesError
from robust_splits.label_noise.folds import integer_seed
from robust_splits.label_noise.weights import effective_weights

from ..label_noise.judges import judge_labels
from ..losses.softmax import Floats
from ..objectives.hooks import Objective
from .auto_parameters import AUTO, AutoParameters
from .loss_parameters import auto_loss_parameter, find_start
from .structures import TrainingRows, choose_structure, size_class
from .target import Target
from .weights import combine_weights, weigh_soft_labels

COLUMN_ARGUMENTS = ("feature_name", "categorical_feature", "feature_weights")  # of `fit`, in either library
# Trees of each of the two judges, by the least number of rows, and the share of the rows that a tree draws, or
# the number if it is larger.  More trees and rows improve the soft labels little for what they cost.
JUDGING_TREES = {0: 100, 2_000: 50, 10_000: 25}
DRAWN_SHARE, DRAWN_ROWS = 0.2, 5_000
ROUNDS_UNTIL_STOPPED = 2_000  # where an evaluation set chooses the number of rounds


@dataclass(frozen=True)
class Training:
    """Labels, weights and parameters of the final booster.

    Attributes
    ----------
    target : Target
        Labels to train on: soft ones after two passes.
    weight : float array of shape (n,) or None
        Product of the weights of rows and classes.  If the labels are soft, that of class 1 is included, which
        the objective would apply.
    params : dict
        Values of the parameters that were "auto".
    results : dict of str to ndarray
        The attribute ``cv_results_``; empty if no structures were compared.
    transition_matrix : array of shape (K, K) or None
        Noise that the first of two passes has found.
    """

    target: Target
    weight: Floats | None
    params: dict[str, Any]
    results: dict[str, NDArray[Any]] = field(default_factory=dict)
    transition_matrix: Floats | None = None

    def uses_built_in(self, objective: Objective) -> bool:
        """Whether both libraries have an objective for this loss and these labels."""
        return objective.is_built_in and (self.target.probabilities is None or self.target.n_classes == 2)

    def set_attributes(self, estimator: Any) -> None:
        """Set the attributes of a fitted estimator."""
        for name in ("cv_results_", "transition_matrix_"):  # of an earlier fit
            vars(estimator).pop(name, None)
        estimator.chosen_params_ = self.params
        estimator.passes_ = 1 if self.transition_matrix is None else 2
        if self.results:
            estimator.cv_results_ = self.results
        if self.transition_matrix is not None:
            estimator.transition_matrix_ = self.transition_matrix


def check_passes(passes: Any) -> None:
    """Raise a ValueError if `passes` is neither 1, 2 nor "auto"."""
    if isinstance(passes, bool) or passes not in (1, 2, AUTO):
        raise ValueError(f"passes must be 1, 2 or {AUTO!r}, got {passes!r}")


def count_passes(
    estimator: Any, objective: Objective, target: Target, arguments: dict[str, Any], weight: Floats | None
) -> int:
    """Number of passes of a fit.

    "auto" means two for cross entropy, and one for other losses, which are robust themselves.

    Raises
    ------
    ValueError
        If two passes were requested, and an argument forbids a first one.
    """
    if estimator.passes == 1:
        return 1
    totals = np.bincount(target.codes, weights=weight, minlength=target.n_classes)
    obstacles = {
        "soft labels, which are not judged": target.probabilities is not None,
        f"{find_start(arguments)}, which may depend on the given labels": find_start(arguments) is not None,
        "a loss parameter that is 'auto', which is chosen for the given labels": auto_loss_parameter(estimator),
        "weights that are zero for all rows of a class": not totals.all(),
    }
    found = [obstacle for obstacle, is_found in obstacles.items() if is_found]
    if found and estimator.passes == 2:
        raise ValueError(f"passes=2 cannot be combined with {found[0]}; use passes=1")
    return 1 if found or not (estimator.passes == 2 or objective.is_built_in) else 2


def prepare_training(
    estimator: Any,
    auto: AutoParameters,
    objective: Objective,
    X: Any,
    target: Target,
    arguments: dict[str, Any],
    *,
    stops_early: bool,
    judge: Callable[..., CleanPosterior] | None = None,
) -> Training:
    """Judge the labels and choose the structure, if there are two passes.

    Parameters
    ----------
    estimator : RobustXGBClassifier or RobustLGBMClassifier
    auto : AutoParameters
    objective : XGBoostObjective or LightGBMObjective
    X : array-like of n rows
    target : Target
        Labels of the rows.
    arguments : dict
        The other arguments of `fit`, always including `sample_weight` and `groups`.
    stops_early : bool
        Whether an evaluation set chooses the number of rounds.
    judge : callable or None, default=None
        Called instead of `judge_labels`, with the same arguments.

    Raises
    ------
    ValueError
        If the rows cannot be divided into the folds of ``cv``, if the number of rounds or the learning rate is
        given and not a positive number, and as in `count_passes`.
    """
    weight = combine_weights(target.codes, arguments["sample_weight"], None)
    n_passes = count_passes(estimator, objective, target, arguments, weight)
    given = estimator.get_params(deep=False)
    to_choose, params = auto.divide(given, chooses=n_passes == 2 and estimator._boosts_trees())
    weights = arguments["sample_weight"], estimator.class_weight
    if n_passes == 1:
        if target.probabilities is None:
            return Training(target, combine_weights(target.labels, *weights), params)
        return Training(*weigh_soft_labels(target, *weights, objective.scale_pos_weight), params)
    n_used = target.codes.size if weight is None else int(np.count_nonzero(weight))
    pair = auto.structures[size_class(n_used)]
    # Raises errors before the forests are grown.
    small, large = (auto.adapt(structure, to_choose, given | params) for structure in pair)
    X = np.asarray(X) if isinstance(X, list | tuple) else indexable(X)[0]
    judged = run_judge(judge or judge_labels, estimator, X, target.codes, weight, arguments["groups"])
    p = np.eye(target.n_classes)[target.codes] if judged is None else judged.soft_labels()
    T = None if judged is None else judged.transition_matrix
    soft = replace(target, probabilities=p.astype(np.float32))
    del judged, p  # large arrays
    soft, weight = weigh_soft_labels(soft, *weights, objective.scale_pos_weight)
    if not to_choose:
        return Training(soft, weight, params, transition_matrix=T)
    if weight is not None:
        weight = _enlarge(weight)
    columns = {name: arguments[name] for name in COLUMN_ARGUMENTS if name in arguments}
    rows = TrainingRows(X, soft, target.codes, weight, arguments["groups"], columns)
    if stops_early:
        rounds = {"n_estimators": ROUNDS_UNTIL_STOPPED} if "n_estimators" in to_choose else {}
        return Training(soft, weight, params | small | rounds, transition_matrix=T)
    seed = integer_seed(estimator.random_state)
    folds = rows.folds(estimator.cv, seed) if small != large else []
    if not folds:
        return Training(soft, weight, params | small, transition_matrix=T)
    fixed = {**params, **estimator._fold_parameters(), "loss": objective.loss, "loss_params": None, "passes": 1}
    noise = np.eye(target.n_classes) if T is None else T
    choice = choose_structure(estimator, [small, large], fixed, noise, rows, folds, seed)
    return Training(soft, weight, params | choice.params, choice.results, T)


def run_judge(
    judge: Callable[..., CleanPosterior],
    estimator: Any,
    X: Any,
    codes: NDArray[np.int64],
    weight: Floats | None,
    groups: Any,
) -> CleanPosterior | None:
    """Posterior of the clean labels, or None if the features do not distinguish the classes."""
    options = {
        "n_estimators": [trees for rows, trees in JUDGING_TREES.items() if codes.size >= rows][-1],
        "max_samples": max(DRAWN_ROWS, round(DRAWN_SHARE * codes.size)),
        "random_state": integer_seed(estimator.random_state),
        "n_jobs": effective_n_jobs(estimator.n_jobs or -1),
    }
    weight = None if weight is None else _enlarge(weight)
    try:
        return judge(X, codes, weight, groups, **options)
    except IndistinctClassesError:
        return None


def _enlarge(weight: Floats) -> Floats:
    """Weights that sum to at least the effective sample size.

    The judges' shrinkage, and XGBoost's `min_child_weight` and `reg_lambda`, are meant for rows of about unit
    weight: with weights that sum to one, no tree of XGBoost would have a split.
    """
    scaled = effective_weights(weight)
    return scaled if scaled.sum() > weight.sum() else weight
