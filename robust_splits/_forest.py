"""Fit random forests and extra-trees, in one pass or two."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from numbers import Integral
from typing import Any, Self

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state

from ._adaptive_criterion import LAMS, best_lam, holdout_accuracies, out_of_bag_accuracies, with_lam
from ._checks import AUTO, check_flag, check_integer, check_max_features, check_row_count, is_auto
from ._fitted_forest import FittedForest
from ._forest_parameters import check_forest, fixed_shrinkage
from ._growing import MAX_SEED, RowDraws, Sample, TreeSettings, grow_tree, grow_trees
from ._out_of_bag import NODE_SIZES, SHRINKAGES, OutOfBag, score_predictions
from ._rows import Rows
from ._stored_tree import GrownTree, expand, store
from ._threads import map_in_threads
from .criteria import ADAPTIVE, FOREST_CRITERION, get_criterion
from .criterion import Criterion
from .decision_tree import RobustDecisionTreeClassifier
from .label_noise.clean_posterior import CleanPosterior, IndistinctClassesError, estimate_clean_posterior
from .label_noise.weights import mean_weight

# Attributes that only some fits set.
MOST_DRAWS = 1000.0  # times the number of rows
OPTIONAL_ATTRIBUTES = (
    "criterion_scores_",
    "smoothing_losses_",
    "oob_score_",
    "oob_decision_function_",
    "transition_matrix_",
)


class BaseForest(FittedForest):
    """Base class of `RobustForestClassifier` and `RobustExtraTreesClassifier`: parameters and fitting."""

    passes_: int
    transition_matrix_: NDArray[np.float64]
    _judged: CleanPosterior | None

    _class_weight_names = ("balanced", "balanced_subsample")

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str | Criterion = FOREST_CRITERION,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: int | float | str = AUTO,
        min_samples_leaf: int | float | str = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_bins: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
        leaf_value: str = "proportions",
        shrinkage: float | str = AUTO,
        selection: str | None = None,
        noise_rate: float | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        ccp_alpha: float = 0.0,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        passes: int | str = AUTO,
        oob_score: bool | Callable[[Any, Any], float] = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.leaf_value = leaf_value
        self.shrinkage = shrinkage
        self.selection = selection
        self.noise_rate = noise_rate
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.ccp_alpha = ccp_alpha
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.passes = passes
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Grow the trees of the forest.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Numbers; NaN means a missing value.  A sparse matrix is ranked a part at a time, and never
            made dense.  Categories of a data frame are ranked in their order.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            Class labels: strings, integers, or any other labels that scikit-learn accepts.  Or soft labels: the
            probability of each class, whose labels are the columns of a data frame, or else 0, 1, ...  Each
            tree draws a class for each row that it draws.  Without bootstrap, a row counts as a copy for each
            class, with the probability as its weight.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights, times the number of draws of a row; rows of weight 0 are ignored.  Every row
            is out of bag in about a third of the trees.  scikit-learn 1.9 draws rows in proportion to their
            weights instead, so that heavy ones are hardly ever out of bag.
        groups : array-like of shape (n_samples,) or None, default=None
            Group of each row, such as the patient.  Bootstrap samples draw whole groups, so that no row is
            scored out of bag by a tree that has seen rows of its group.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data is invalid.
        """
        return self._fit(X, y, sample_weight, groups)

    def _is_warm_start(self) -> bool:
        return check_flag("warm_start", self.warm_start) and hasattr(self, "estimators_")

    def _n_threads(self) -> int:
        if self.n_jobs is not None and not isinstance(self.n_jobs, Integral):
            raise TypeError(f"n_jobs must be an integer or None, got {self.n_jobs!r}")
        n_threads: int = joblib.effective_n_jobs(self.n_jobs)
        return n_threads

    def _fit_rows(self, X: Rows, sample: Sample) -> None:
        n_estimators = check_integer("n_estimators", self.n_estimators, low=1)
        earlier = self._earlier_estimators(n_estimators)
        self._tree_settings(sample)  # raises errors of parameters
        if len(earlier) == n_estimators and (self.oob_score is False or hasattr(self, "oob_score_")):
            message = "a warm start without more trees changes nothing; increase n_estimators to grow more"
            warnings.warn(message, UserWarning, stacklevel=4)  # of the caller of fit
            return
        rng = check_random_state(self.random_state)
        if not earlier:
            for name in OPTIONAL_ATTRIBUTES:
                self.__dict__.pop(name, None)
            self._judged = None
        if self._judges(sample):
            judge_rng = np.random.RandomState(rng.randint(MAX_SEED))  # drawn by warm starts too
            if not earlier or (self._judged is None and self.passes_ == 2):
                self._judged = self._judge(X, sample, judge_rng)
        given, prior = sample, None
        if self._judged is not None:
            sample = sample.with_soft_labels(self._judged.soft_labels())
            self.transition_matrix_ = self._judged.transition_matrix
            if self.oob_score is not False:
                by_class = self._class_weights(sample)
                prior = self._judged.prior * (1.0 if by_class is None else by_class)
        self.passes_ = 1 if self._judged is None else 2
        if not self.warm_start:
            self._judged = None  # frees its memory
        trees, out_of_bag = self._fit_pass(X, self._weighted_by_class(sample), earlier, rng)
        self.estimators_ = earlier + self._make_estimators([seed for _, seed in self._seeds[len(earlier) :]])
        for estimator, tree in zip(self.estimators_, trees, strict=True):
            estimator.shrinkage, estimator.tree_ = self.shrinkage_, tree
        values = {
            "min_samples_split": self.min_samples_split_,
            "min_samples_leaf": out_of_bag.settings.growth.min_samples_leaf,
            "shrinkage": self.shrinkage_,
        }
        self.chosen_params_ = {name: value for name, value in values.items() if is_auto(getattr(self, name))}
        if self.oob_score is not False:
            # The second pass has seen all labels, since each of them has changed the soft labels of other rows.
            self._score_out_of_bag(out_of_bag.sum_values(trees) if prior is None else prior, given)

    def _fit_pass(
        self,
        X: Rows,
        sample: Sample,
        earlier: Sequence[RobustDecisionTreeClassifier],
        rng: np.random.RandomState,
    ) -> tuple[list[GrownTree], OutOfBag]:
        """Grow the trees that follow those of an earlier fit, and choose lam, node size and shrinkage."""
        settings, n_estimators = self._tree_settings(sample), int(self.n_estimators)
        # One seed of each tree draws its rows, the other is for everything else.
        seeds = [(int(a), int(b)) for a, b in rng.randint(MAX_SEED, size=(n_estimators, 2))]
        seeds[: len(earlier)] = self._seeds if earlier else []
        trees = [estimator._stored for estimator in earlier]
        if self.criterion == ADAPTIVE and earlier:
            settings = dataclasses.replace(settings, criterion=self.criterion_)
        elif self.criterion == ADAPTIVE:
            settings, trees = self._choose_lam(sample, X, settings, seeds, rng)
        trees += self._grow(sample, settings, seeds[len(trees) :])
        out_of_bag = OutOfBag(sample, X, settings, seeds, self._n_threads())
        self._seeds, self.criterion_ = seeds, settings.criterion
        self._row_draws = RowDraws.of(sample, settings.n_draws)
        return self._smooth(trees, len(earlier), out_of_bag), out_of_bag

    def _judges(self, sample: Sample) -> bool:
        """Whether a first pass judges the labels."""
        if sample.soft_labels is not None:
            if self.passes == 2:
                raise ValueError("passes=2 judges class labels, but y has soft labels; use passes=1 or 'auto'")
            return False
        if self.criterion != ADAPTIVE and get_criterion(self.criterion).corrects_noise:
            if self.passes == 2:
                raise ValueError(
                    "passes=2 corrects the labels, and so does a CorrectedCriterion; use passes=1 or 'auto'"
                )
            return False
        totals = np.bincount(sample.labels, weights=sample.weights, minlength=sample.n_classes)
        return self.passes != 1 and self.bootstrap and totals.size > 1 and bool(totals.all())

    def _judge(self, X: Rows, sample: Sample, rng: np.random.RandomState) -> CleanPosterior | None:
        """Posterior of the clean labels, from the out-of-bag predictions of a first forest.

        Returns None if these predictions do not distinguish the classes.
        """
        judge = copy(self)
        judge.class_weight = None  # the noise is that of the rows as they are
        trees, out_of_bag = judge._fit_pass(X, sample, [], rng)
        q = out_of_bag.sum_values(trees)
        del trees, out_of_bag  # frees their memory
        is_drawn = ~q.any(axis=1)  # by every tree
        q[is_drawn] = np.bincount(sample.labels, weights=sample.weights)
        q /= q.sum(axis=1, keepdims=True)
        try:
            judged = estimate_clean_posterior(sample.labels, q, sample.weights)
        except IndistinctClassesError:
            return None
        judged.prior[is_drawn] = 0.0  # no out-of-bag prediction
        return judged

    def _earlier_estimators(self, n_estimators: int) -> list[RobustDecisionTreeClassifier]:
        """Trees of the fit that `warm_start` continues, if it does."""
        if not self._is_warm_start():
            return []
        if n_estimators < len(self.estimators_):
            raise ValueError(
                f"n_estimators must be at least {len(self.estimators_)}, the number of trees that warm_start "
                f"keeps; got {n_estimators}"
            )
        return list(self.estimators_)

    def _tree_settings(self, sample: Sample) -> TreeSettings:
        n_samples = sample.n_samples
        n_draws = n_samples if check_flag("bootstrap", self.bootstrap) else 0
        if self.max_samples is not None:
            if not self.bootstrap:
                raise ValueError(f"max_samples={self.max_samples!r} needs bootstrap=True")
            n_draws = check_row_count("max_samples", self.max_samples, n_samples, low=1, highest=MOST_DRAWS)
        check_forest(self)
        settings = super()._tree_settings(sample)
        balanced = self.class_weight == "balanced_subsample"
        return dataclasses.replace(settings, n_draws=n_draws, balanced=balanced)

    def _min_samples_split(self, n_samples: int) -> int:
        return NODE_SIZES[0] if is_auto(self.min_samples_split) else super()._min_samples_split(n_samples)

    def _choose_lam(
        self,
        sample: Sample,
        X: Rows,
        settings: TreeSettings,
        seeds: Sequence[tuple[int, int]],
        rng: np.random.RandomState,
    ) -> tuple[TreeSettings, list[GrownTree]]:
        """Choose lam with a quarter of the trees; return the settings with it, and trees grown with it."""
        quarter, n_threads = seeds[: max(1, (len(seeds) + 3) // 4)], self._n_threads()
        forests: dict[float, list[GrownTree]] = {}
        if self.selection == "holdout" or not self.bootstrap:
            accuracies = holdout_accuracies(sample, X, settings, quarter, rng, n_threads)
        else:
            forests = {lam: self._grow(sample, with_lam(settings, lam), quarter) for lam in LAMS}
            out_of_bag = OutOfBag(sample, X, settings, quarter, n_threads)
            accuracies = out_of_bag_accuracies(out_of_bag, forests)
        self.criterion_scores_ = accuracies
        lam = best_lam(accuracies)
        return with_lam(settings, lam), forests.get(lam, [])

    def _smooth(self, trees: list[GrownTree], n_earlier: int, out_of_bag: OutOfBag) -> list[GrownTree]:
        """Choose node size and shrinkage, prune the trees and shrink their leaf values."""
        for i in range(n_earlier):  # undo the shrinkage of the earlier fit
            trees[i] = dataclasses.replace(trees[i], leaf_power=out_of_bag.settings.leaf_power, shrinkage=0.0)
        self._choose_smoothing(trees, n_earlier > 0, out_of_bag)
        is_size_chosen, grown = self._is_chosen("min_samples_split"), dict(enumerate(trees))
        trees.clear()  # frees the memory of each tree as soon as it is pruned

        def finish(i: int) -> GrownTree:
            tree = grown.pop(i)
            if is_size_chosen:
                full = expand(tree)
                pruned = full.pruned(self.min_samples_split_)
                tree = tree if pruned is full else store(pruned)
            return dataclasses.replace(tree, shrinkage=self.shrinkage_)

        return map_in_threads(finish, range(len(grown)), out_of_bag.n_threads)

    def _choose_smoothing(self, trees: list[GrownTree], is_warm_start: bool, out_of_bag: OutOfBag) -> None:
        """Set node size and shrinkage to those with the lowest out-of-bag loss, unless they are fixed."""
        sizes: Sequence[int] = (out_of_bag.settings.growth.min_samples_split,)
        if self._is_chosen("min_samples_split"):
            # Branches pruned by an earlier fit cannot be restored.
            sizes = (self.min_samples_split_,) if is_warm_start else NODE_SIZES
        shrinkages: Sequence[float] = (fixed_shrinkage(self),)
        if self._is_chosen("shrinkage"):
            unit = mean_weight(out_of_bag.sample.weights)
            shrinkages = [shrinkage * unit for shrinkage in SHRINKAGES]
        pairs = [(size, shrinkage) for size in sizes for shrinkage in shrinkages]
        self.min_samples_split_, self.shrinkage_ = pairs[0]
        if len(pairs) > 1:
            losses = self.smoothing_losses_ = out_of_bag.smoothing_losses(trees, sizes, shrinkages)
            if losses:
                best = min(pairs, key=lambda pair: losses[pair[0]][pair[1]])
                self.min_samples_split_, self.shrinkage_ = best

    def _is_chosen(self, name: str) -> bool:
        """Whether a parameter is chosen on the out-of-bag rows."""
        return self.bootstrap and is_auto(getattr(self, name))

    def _score_out_of_bag(self, p: NDArray[np.float64], sample: Sample) -> None:
        """Set the out-of-bag predictions, whose scale is arbitrary, and their score on the given labels."""
        with np.errstate(invalid="ignore"):
            self.oob_decision_function_ = self.criterion_.clean_proportions(p / p.sum(axis=1, keepdims=True))
        score = self.oob_score if callable(self.oob_score) else accuracy_score
        labels = sample.labels if sample.soft_labels is None else sample.soft_labels.most_probable()
        self.oob_score_ = score_predictions(
            self.classes_, labels, np.nan_to_num(self.oob_decision_function_), score
        )

    def _grow(
        self, sample: Sample, settings: TreeSettings, seeds: Sequence[tuple[int, int]]
    ) -> list[GrownTree]:
        backend, _ = get_active_backend(prefer="threads")
        if getattr(backend, "supports_sharedmem", False) and not self.verbose:
            return grow_trees(sample, settings, seeds, self._n_threads())
        # A joblib.parallel_config context may select processes or other machines.
        return list(
            joblib.Parallel(n_jobs=self.n_jobs, prefer="threads", verbose=self.verbose)(
                joblib.delayed(grow_tree)(sample, settings, pair) for pair in seeds
            )
        )

    def _make_estimators(self, seeds: Sequence[int]) -> list[RobustDecisionTreeClassifier]:
        """Create estimators with the forest's parameters, without their trees."""
        estimator = self.estimator_
        estimator.criterion_ = self.criterion_
        estimator.classes_, estimator.n_classes_ = self.classes_, self.n_classes_
        estimator._categories, estimator.n_features_in_ = self._categories, self.n_features_in_
        estimator.is_categorical_ = self.is_categorical_
        estimator.max_features_ = check_max_features(self.max_features, self.n_features_in_)
        estimator._column_names = getattr(self, "feature_names_in_", None)
        estimators = [copy(estimator) for _ in seeds]  # parameters are slow to set
        for each, seed in zip(estimators, seeds, strict=True):
            each.random_state = seed
        return estimators
