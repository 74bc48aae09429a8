"""Choose on noisy labels how a booster is trained: its trees, their number and the learning rate.

What fits label noise is less the loss of a booster than the booster itself: trees too deep, too many of them,
too little averaging.  Parameters of the estimators with the value ``"auto"``, the default, are chosen by `fit`;
all others are used as given.

**Trees.**  In the smoothest structure, three sizes of trees alternate: shallow trees with small leaves, deep
trees with large leaves, and one size in between.  Each tree is grown on a random half of the rows, and each
split considers three tenths of the features.  With a small learning rate the booster averages over many such
trees, as a random forest does.  More flexible structures have smaller leaves, larger samples and more features.
`boostnoise.structure_search` chooses one of them, with boosters whose learning rate is the length so far,
divided by the budget (by 10 if that is larger), and at most 0.3.  Small sample weights are scaled up to sum to
Kish's effective sample size, ``(sum w)^2 / sum w^2``, because leaves are chosen by their weight.

**Length.**  The sum of the learning rates of all rounds, ``learning_rate * n_estimators``, is chosen too.  The
booster reaches it in 50 rounds for each unit of the budget, or in more if the learning rate would exceed 0.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import indexable

from ._classifier import combine_all_weights, combine_weights, reject_start
from ._folds import check_folds
from ._library_inputs import read_weights
from .hooks import Objective
from .learning_curve import LONGEST, Schedule, alternating, first_values
from .structure_search import TrainingRows, search

AUTO = "auto"  # value of a parameter that is left open
LENGTH_PARAMETERS = ("n_estimators", "learning_rate")
COLUMN_ARGUMENTS = ("feature_name", "categorical_feature", "feature_weights")  # of `fit`, in either library

ROUNDS_PER_FIT = 50  # rounds of the final booster for each unit of the budget
FEWEST_STEPS = 10  # least number by which the length of a fold's booster is divided to get its learning rate
FINAL_BLOCK = 5  # rounds of the final booster between changes of parameters
MAX_RATE = 0.1  # of the final booster
MAX_RATE_OF_GIVEN_ROUNDS = 0.3  # the same if the number of rounds is given; XGBoost's default
EARLY_STOPPING_RATE = 0.02  # where an evaluation set chooses the number of rounds


@dataclass(frozen=True)
class AutoParameters:
    """Parameters of a library that an estimator may leave open.

    Attributes
    ----------
    structures : tuple of dict
        Parameters of trees, from the smoothest structure to the most flexible one; values of a tuple alternate.
    defaults : dict
        The library's defaults of these parameters and of `LENGTH_PARAMETERS`.
    aliases : dict of str to tuple of str
        Other names of these parameters.
    linked : tuple of sets of str
        If one parameter of a set is given, the others have their defaults.
    default_rounds, default_rate : int, float
        The library's defaults where a user sets `LENGTH_PARAMETERS` to None.
    """

    structures: tuple[dict[str, Any], ...]
    defaults: dict[str, Any]
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    linked: tuple[frozenset[str], ...] = ()
    default_rounds: int = 100
    default_rate: float = 0.1


@dataclass(frozen=True)
class Choice:
    """Values of the open parameters.

    Attributes
    ----------
    params : dict
        Value of each open parameter; a tuple if values alternate.
    steps : int or None
        Rounds in which additional fits on folds reach the same length; None if the rounds are not chosen.
    results : dict of str to ndarray
        The attribute ``cv_results_``; empty if no length was chosen.
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
    def coarse(self) -> dict[str, Any]:
        """Parameters at the start of training that reaches the same length in fewer rounds."""
        if self.steps is None:
            return self.constants
        length = self.params["n_estimators"] * self.params["learning_rate"]
        return {**self.constants, "n_estimators": self.steps, "learning_rate": length / self.steps}


def settle(estimator: Any, auto: AutoParameters) -> tuple[list[str], dict[str, Any]]:
    """Divide the parameters with the value "auto" into those to choose and those that have a value already.

    Returns
    -------
    opened : list of str
        Parameters to choose.
    settled : dict
        Values that follow from other parameters: from another name of the same parameter, from a linked
        parameter, from a budget of 0, or from a booster other than gradient boosted trees.
    """
    given = estimator.get_params(deep=False)
    chooses = estimator.budget > 0 and estimator._boosts_trees()
    settled: dict[str, Any] = {}
    opened: list[str] = []
    for name, default in auto.defaults.items():
        if not is_auto(given[name]):
            continue
        values = [given[alias] for alias in auto.aliases.get(name, ()) if given.get(alias) is not None]
        linked = {other for group in auto.linked if name in group for other in group}
        if values:
            settled[name] = values[0]
        elif not chooses or any(not _is_open(given, other, auto) for other in linked):
            settled[name] = default
        else:
            opened.append(name)
    return opened, settled


def is_auto(value: Any) -> bool:
    """Whether a parameter is left open."""
    return isinstance(value, str) and value == AUTO


def _is_open(given: dict[str, Any], name: str, auto: AutoParameters) -> bool:
    aliases = auto.aliases.get(name, ())
    return is_auto(given[name]) and all(given.get(alias) is None for alias in aliases)


def check_search(estimator: Any) -> None:
    """Check `budget` and `cv`.

    Raises
    ------
    TypeError, ValueError
        If `budget` is not a finite number of at least 0, or if `check_folds` rejects `cv`.
    """
    budget = estimator.budget
    if isinstance(budget, bool) or not isinstance(budget, int | float | np.number):
        raise TypeError(f"budget must be a number of plain fits, got {budget!r}")
    if not 0 <= budget < np.inf:
        raise ValueError(f"budget must be at least 0 and finite, got {budget!r}")
    check_folds(estimator.cv)


def choose_parameters(
    estimator: Any,
    auto: AutoParameters,
    objective: Objective,
    X: Any,
    labels: NDArray[Any],
    codes: NDArray[np.int64],
    arguments: dict[str, Any],
    *,
    stops_early: bool,
) -> Choice:
    """Choose the open parameters of an estimator on noisy labels.

    Parameters
    ----------
    estimator : RobustXGBClassifier or RobustLGBMClassifier
    auto : AutoParameters
    objective : XGBoostObjective or LightGBMObjective
        Its loss is what lengths are compared by.
    X : array-like of n rows
    labels, codes : ndarray of shape (n,)
        Labels and class numbers.
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
    opened, settled = settle(estimator, auto)
    if not opened:
        return Choice(settled)
    open_length = [name for name in LENGTH_PARAMETERS if name in opened]
    structures = _distinct([{name: s[name] for name in opened if name in s} for s in auto.structures])
    given = {**estimator.get_params(deep=False), **settled}
    rounds = _positive(given, "n_estimators", auto.default_rounds)
    rate = _positive(given, "learning_rate", auto.default_rate)
    if stops_early:
        return Choice(settled | structures[0] | _longest(open_length, rounds, rate))
    if not open_length and len(structures) == 1:
        return Choice(settled | structures[0])
    reject_start(
        arguments,
        f"the choice of {', '.join(opened)}",
        "set these parameters, or budget=0",
    )
    weight = combine_all_weights(
        labels, codes, arguments["sample_weight"], estimator.class_weight, objective.scale_pos_weight
    )
    columns = {name: arguments[name] for name in COLUMN_ARGUMENTS if name in arguments}
    X = np.asarray(X) if isinstance(X, list | tuple) else indexable(X)[0]
    rows = TrainingRows(X, labels, codes, weight, arguments["groups"], columns)
    # Weights of classes are part of the weights of rows.
    params = {**settled, "loss": objective.loss, "loss_params": None, "class_weight": None}
    steps = max(float(estimator.budget), FEWEST_STEPS)
    found = search(estimator, structures, params, steps, rows, None if open_length else rounds * rate)
    params = settled | structures[found.structure]
    if not open_length:
        return Choice(params, None, found.results)
    if open_length == ["n_estimators"]:
        return Choice(params | {"n_estimators": max(1, round(found.length / rate))}, None, found.results)
    if open_length == ["learning_rate"]:
        rate = min(found.length / rounds, MAX_RATE_OF_GIVEN_ROUNDS)
        return Choice(params | {"learning_rate": rate}, None, found.results)
    fewest = max(ceil(steps), ceil(found.length / MAX_RATE))
    rounds = max(round(ROUNDS_PER_FIT * estimator.budget), fewest)
    params |= {"n_estimators": rounds, "learning_rate": found.length / rounds}
    return Choice(params, fewest, found.results)


def enlarge_weights(estimator: Any, auto: AutoParameters, labels: NDArray[Any], sample_weight: Any) -> Any:
    """Sample weights that are large enough for the chosen trees.

    The chosen ``min_child_weight`` and the default ``reg_lambda`` of XGBoost are meant for rows of about unit
    weight: with weights that sum to one, no tree would have a split.  If ``min_child_weight`` is chosen and the
    products w of sample weights and class weights sum to less than Kish's effective sample size,
    ``(sum w)^2 / sum w^2``, they are scaled to sum to it.
    """
    if "min_child_weight" not in settle(estimator, auto)[0]:
        return sample_weight
    weight = combine_weights(labels, sample_weight, estimator.class_weight)
    if weight is None or (size := float(weight @ weight / weight.sum())) >= 1:
        return sample_weight
    given = np.ones(labels.size) if sample_weight is None else read_weights(sample_weight, labels.size)
    return given / size


def _positive(given: dict[str, Any], name: str, default: float) -> float:
    """Value of `LENGTH_PARAMETERS`, or the library's default if it is None or chosen later."""
    value = given[name]
    if value is None or is_auto(value):
        return default
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not value > 0:
        raise ValueError(f"{name} must be a positive number or 'auto', got {value!r}")
    return float(value)


def _distinct(structures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Structures that differ in an open parameter, in the same order."""
    return [s for i, s in enumerate(structures) if s not in structures[:i]]


def write_choice(estimator: Any, choice: Choice) -> None:
    """Set the attributes ``chosen_params_`` and, if a length was chosen, ``cv_results_``."""
    estimator.chosen_params_ = choice.params
    vars(estimator).pop("cv_results_", None)  # of an earlier fit
    if choice.results:
        estimator.cv_results_ = choice.results


def _longest(opened: list[str], rounds: float, rate: float) -> dict[str, Any]:
    """Number of rounds and learning rate of a booster that an evaluation set stops."""
    if "learning_rate" in opened:
        rate = EARLY_STOPPING_RATE
        if "n_estimators" not in opened:
            rate = float(np.clip(LONGEST / rounds, rate, MAX_RATE_OF_GIVEN_ROUNDS))
    return {name: {"n_estimators": ceil(LONGEST / rate), "learning_rate": rate}[name] for name in opened}
