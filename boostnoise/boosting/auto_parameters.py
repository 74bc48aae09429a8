"""Choose on noisy labels how a booster is trained: its trees, their number and the learning rate.

What fits label noise is less the loss of a booster than the booster itself: trees too deep, too many of them,
too little averaging.  Parameters of the estimators with the value ``"auto"``, the default, are chosen by `fit`;
all others are used as given.

**Trees.**  In the smoothest structure, three sizes of trees alternate: shallow trees with small leaves, deep
trees with large leaves, and one size in between.  Each tree is grown on a random half of the rows, and each
split considers three tenths of the features.  With a small learning rate the booster averages over many such
trees, as a random forest does.  More flexible structures have smaller leaves, larger samples and more features.
`boostnoise.boosting.structure_search` chooses one of them, with boosters whose learning rate is the total so
far, divided by the budget (by 10 if that is larger), and at most 0.3.  Small sample weights are scaled up to
sum to Kish's effective sample size, ``(sum w)^2 / sum w^2``, because leaves are chosen by their weight.

**Total learning rate.**  The sum of the learning rates of all rounds, ``learning_rate * n_estimators``, is
chosen too.  The booster reaches it in 50 rounds for each unit of the budget, or in more if the learning rate
would exceed 0.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import indexable

from robust_splits.label_noise.folds import check_folds
from robust_splits.label_noise.weights import read_weights

from ..losses.checks import check_number
from ..objectives.hooks import Objective
from .learning_curve import MAX_TOTAL, Schedule, alternating, first_values
from .structure_search import TrainingRows, search
from .target import Target
from .weights import combine_all_weights, combine_weights

AUTO = "auto"  # value of a parameter that is chosen on the data
ROUND_PARAMETERS = ("n_estimators", "learning_rate")
COLUMN_ARGUMENTS = ("feature_name", "categorical_feature", "feature_weights")  # of `fit`, in either library

ROUNDS_PER_FIT = 50  # rounds of the final booster for each unit of the budget
FEWEST_STEPS = 10  # smallest divisor of the total so far, which gives the learning rate in a fold
FINAL_BLOCK = 5  # rounds of the final booster between changes of parameters
MAX_RATE = 0.1  # of the final booster
MAX_RATE_OF_FIXED_ROUNDS = 0.3  # the same if the number of rounds is fixed; XGBoost's default
EARLY_STOPPING_RATE = 0.02  # where an evaluation set chooses the number of rounds
# Arguments of `fit` that start training from margins or a model, in either library.
START_ARGUMENTS = ("base_margin", "xgb_model", "init_score", "init_model")


@dataclass(frozen=True)
class AutoParameters:
    """Parameters of a library that may be "auto".

    Attributes
    ----------
    structures : tuple of dict
        Parameters of trees, from the smoothest structure to the most flexible one; values of a tuple alternate.
    defaults : dict
        The library's defaults of these parameters and of `ROUND_PARAMETERS`.
    aliases : dict of str to tuple of str
        Other names of these parameters.
    linked : tuple of sets of str
        If one parameter of a set is given, the others have their defaults.
    default_rounds, default_rate : int, float
        The library's defaults where a user sets `ROUND_PARAMETERS` to None.
    """

    structures: tuple[dict[str, Any], ...]
    defaults: dict[str, Any]
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    linked: tuple[frozenset[str], ...] = ()
    default_rounds: int = 100
    default_rate: float = 0.1


@dataclass(frozen=True)
class Choice:
    """Values of the parameters that were "auto".

    Attributes
    ----------
    params : dict
        Value of each of them; a tuple if values alternate.
    steps : int or None
        Rounds in which additional fits on folds reach the same total; None if the rounds are not chosen.
    results : dict of str to ndarray
        The attribute ``cv_results_``; empty if no total learning rate was chosen.
    """

    params: dict[str, Any] = field(default_factory=dict)
    steps: int | None = None
    results: dict[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def schedule(self) -> Schedule | None:
        """Schedule of the final booster, or None if no parameter changes."""
        rotation = alternating(self.params)
        # All values must have their turn in a booster of a few given rounds.
        return Schedule(rotation, FINAL_BLOCK if self.steps else 1) if rotation else None

    @property
    def constants(self) -> dict[str, Any]:
        """Parameters at the start of training."""
        return first_values(self.params)

    @property
    def fewer_rounds(self) -> dict[str, Any]:
        """Parameters at the start of a fit on a fold, which reaches the same total in fewer rounds."""
        if self.steps is None:
            return self.constants
        total = self.params["n_estimators"] * self.params["learning_rate"]
        return {**self.constants, "n_estimators": self.steps, "learning_rate": total / self.steps}


def resolve_auto(estimator: Any, auto: AutoParameters) -> tuple[list[str], dict[str, Any]]:
    """Divide the parameters with the value "auto" into those to choose and those whose value is known.

    Returns
    -------
    to_choose : list of str
    known : dict
        Values that follow from other parameters: from another name of the same parameter, from a linked
        parameter, from a budget of 0, or from a booster other than gradient boosted trees.
    """
    params = estimator.get_params(deep=False)
    chooses = estimator.budget > 0 and estimator._boosts_trees()
    known: dict[str, Any] = {}
    to_choose: list[str] = []
    for name, default in auto.defaults.items():
        if not is_auto(params[name]):
            continue
        values = [params[alias] for alias in auto.aliases.get(name, ()) if params.get(alias) is not None]
        linked = {other for group in auto.linked if name in group for other in group}
        if values:
            known[name] = values[0]
        elif not chooses or any(not _is_open(params, other, auto) for other in linked):
            known[name] = default
        else:
            to_choose.append(name)
    return to_choose, known


def is_auto(value: Any) -> bool:
    """Whether a parameter is chosen on the data."""
    return isinstance(value, str) and value == AUTO


def _is_open(params: dict[str, Any], name: str, auto: AutoParameters) -> bool:
    aliases = auto.aliases.get(name, ())
    return is_auto(params[name]) and all(params.get(alias) is None for alias in aliases)


def check_search(estimator: Any) -> None:
    """Check `budget` and `cv`.

    Raises
    ------
    TypeError, ValueError
        If `budget` is not a finite number of at least 0, or if `check_folds` rejects `cv`.
    """
    check_number("budget", estimator.budget, 0, np.inf, "[)")
    check_folds(estimator.cv)


def reject_start(arguments: dict[str, Any], choice: str, remedy: str) -> None:
    """Raise a ValueError if training starts from margins or a model, which may depend on labels of any fold."""
    for start in START_ARGUMENTS:
        if arguments.get(start) is not None:
            raise ValueError(
                f"{start} cannot be combined with {choice}: it may depend on the labels used for the choice; "
                f"{remedy}"
            )


def choose_parameters(
    estimator: Any,
    auto: AutoParameters,
    objective: Objective,
    X: Any,
    target: Target,
    arguments: dict[str, Any],
    *,
    stops_early: bool,
) -> Choice:
    """Choose the parameters of an estimator that are "auto" on noisy labels.

    Parameters
    ----------
    estimator : RobustXGBClassifier or RobustLGBMClassifier
    auto : AutoParameters
    objective : XGBoostObjective or LightGBMObjective
        Its loss is what structures and totals are compared by.
    X : array-like of n rows
    target : Target
        Labels of the rows.
    arguments : dict
        The other arguments of `fit`, always including `sample_weight` and `groups`.
    stops_early : bool
        Whether an evaluation set chooses the number of rounds.

    Raises
    ------
    ValueError
        If the rows cannot be divided into folds, if training starts from margins or from a model, or if the
        number of rounds or the learning rate is given and not a positive number.
    """
    to_choose, known = resolve_auto(estimator, auto)
    if not to_choose:
        return Choice(known)
    open_rounds = [name for name in ROUND_PARAMETERS if name in to_choose]
    structures = _distinct([{name: s[name] for name in to_choose if name in s} for s in auto.structures])
    params = {**estimator.get_params(deep=False), **known}
    rounds = _positive(params, "n_estimators", auto.default_rounds)
    rate = _positive(params, "learning_rate", auto.default_rate)
    if stops_early:
        return Choice(known | structures[0] | _until_stopped(open_rounds, rounds, rate))
    if not open_rounds and len(structures) == 1:
        return Choice(known | structures[0])
    reject_start(
        arguments,
        f"the choice of {', '.join(to_choose)}",
        "set these parameters, or budget=0",
    )
    weight = combine_all_weights(
        target, arguments["sample_weight"], estimator.class_weight, objective.scale_pos_weight
    )
    columns = {name: arguments[name] for name in COLUMN_ARGUMENTS if name in arguments}
    X = np.asarray(X) if isinstance(X, list | tuple) else indexable(X)[0]
    rows = TrainingRows(X, target.labels, target.codes, weight, arguments["groups"], columns)
    # Weights of classes are part of the weights of rows.
    params = {**known, "loss": objective.loss, "loss_params": None, "class_weight": None}
    steps = max(float(estimator.budget), FEWEST_STEPS)
    found = search(estimator, structures, params, steps, rows, None if open_rounds else rounds * rate)
    params = known | structures[found.structure]
    if not open_rounds:
        return Choice(params, None, found.results)
    if open_rounds == ["n_estimators"]:
        return Choice(params | {"n_estimators": max(1, round(found.total / rate))}, None, found.results)
    if open_rounds == ["learning_rate"]:
        rate = min(found.total / rounds, MAX_RATE_OF_FIXED_ROUNDS)
        return Choice(params | {"learning_rate": rate}, None, found.results)
    fewest = max(ceil(steps), ceil(found.total / MAX_RATE))
    rounds = max(round(ROUNDS_PER_FIT * estimator.budget), fewest)
    params |= {"n_estimators": rounds, "learning_rate": found.total / rounds}
    return Choice(params, fewest, found.results)


def enlarge_weights(estimator: Any, auto: AutoParameters, labels: NDArray[Any], sample_weight: Any) -> Any:
    """Sample weights that are large enough for the chosen trees.

    The chosen ``min_child_weight`` and the default ``reg_lambda`` of XGBoost are meant for rows of about unit
    weight: with weights that sum to one, no tree would have a split.  If ``min_child_weight`` is chosen and the
    products w of sample weights and class weights sum to less than Kish's effective sample size,
    ``(sum w)^2 / sum w^2``, they are scaled to sum to it.
    """
    if "min_child_weight" not in resolve_auto(estimator, auto)[0]:
        return sample_weight
    weight = combine_weights(labels, sample_weight, estimator.class_weight)
    if weight is None or (size := float(weight @ weight / weight.sum())) >= 1:
        return sample_weight
    unscaled = np.ones(labels.size) if sample_weight is None else read_weights(sample_weight, labels.size)
    return unscaled / size


def _positive(params: dict[str, Any], name: str, default: float) -> float:
    """Value of one of `ROUND_PARAMETERS`, or the library's default if it is None or chosen later."""
    value = params[name]
    if value is None or is_auto(value):
        return default
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not value > 0:
        raise ValueError(f"{name} must be a positive number or 'auto', got {value!r}")
    return float(value)


def _distinct(structures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Structures that differ in a parameter to choose, in the same order."""
    return [s for i, s in enumerate(structures) if s not in structures[:i]]


def set_fitted_attributes(estimator: Any, choice: Choice) -> None:
    """Set the attributes ``chosen_params_`` and, if a total learning rate was chosen, ``cv_results_``."""
    estimator.chosen_params_ = choice.params
    vars(estimator).pop("cv_results_", None)  # of an earlier fit
    if choice.results:
        estimator.cv_results_ = choice.results


def _until_stopped(open_rounds: list[str], rounds: float, rate: float) -> dict[str, Any]:
    """Number of rounds and learning rate of a booster that an evaluation set stops."""
    if "learning_rate" in open_rounds:
        rate = EARLY_STOPPING_RATE
        if "n_estimators" not in open_rounds:
            rate = float(np.clip(MAX_TOTAL / rounds, rate, MAX_RATE_OF_FIXED_ROUNDS))
    return {name: {"n_estimators": ceil(MAX_TOTAL / rate), "learning_rate": rate}[name] for name in open_rounds}
