"""What random forests and extra-trees share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, hstack
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ._base import ADAPTIVE, BaseRobustTrees, path_matrix
from ._growing import MAX_SEED, Recipe, Sample, grow_tree, grow_trees
from ._threads import in_threads, shares
from ._validation import check_choice, check_count, check_flag, check_rows, check_share, read_only
from ._values import node_values, shrink
from .adaptation import (
    NODE_SIZES,
    SHRINKAGES,
    candidates,
    choose_by_holdout,
    choose_out_of_bag,
    choose_smoothing,
    out_of_bag_votes,
)
from .criteria import Criterion
from .decision_tree import RobustDecisionTreeClassifier
from .tree import Tree

OUT_OF_BAG = "oob"
BYTES_AT_ONCE = 1 << 22


class BaseForest(BaseRobustTrees):
    """Base of `RobustForestClassifier` and `RobustExtraTreesClassifier`."""

    estimators_: list[RobustDecisionTreeClassifier]
    min_samples_split_: int
    shrinkage_: float
    _seeds: list[tuple[int, int]]

    _auto_max_features: float | str | None = "sqrt"
    _class_weight_words = ("balanced", "balanced_subsample")
    _random_thresholds = False

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str | Criterion = "gini",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: int | float | str | None = None,
        min_samples_leaf: int | float | str = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: int | float | str | None = "auto",
        class_weight: dict[Any, float] | str | None = None,
        leaf_value: str = "proportions",
        shrinkage: float | str | None = None,
        selection: str | None = None,
        noise_rate: float | None = None,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
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
        self.class_weight = class_weight
        self.leaf_value = leaf_value
        self.shrinkage = shrinkage
        self.selection = selection
        self.noise_rate = noise_rate
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _goes_on(self) -> bool:
        return check_flag("warm_start", self.warm_start) and hasattr(self, "estimators_")

    def _n_threads(self) -> int:
        if self.n_jobs is not None and not isinstance(self.n_jobs, Integral):
            raise TypeError(f"n_jobs must be an integer or None, got {self.n_jobs!r}")
        n_threads: int = joblib.effective_n_jobs(self.n_jobs)
        return n_threads

    def _fit_rows(self, X: NDArray[np.floating], sample: Sample) -> None:
        n_estimators = check_count("n_estimators", self.n_estimators, low=1)
        before = list(self.estimators_) if self._goes_on() else []
        if n_estimators < len(before):
            raise ValueError(
                f"n_estimators must be at least {len(before)}, the number of trees that warm_start keeps; got "
                f"{n_estimators}"
            )
        for name in ("criterion_scores_", "smoothing_losses_", "oob_score_", "oob_decision_function_"):
            if not before:
                self.__dict__.pop(name, None)
        recipe = self._recipe(sample)

        rng = check_random_state(self.random_state)
        seeds = [(int(a), int(b)) for a, b in rng.randint(MAX_SEED, size=(n_estimators, 2))]
        seeds[: len(before)] = self._seeds if before else []
        self._seeds = seeds
        trees = [tree.tree_ for tree in before]
        if self.criterion == ADAPTIVE and before:
            recipe = dataclasses.replace(recipe, criterion=self.criterion_)
        elif self.criterion == ADAPTIVE:
            recipe, trees = self._adapt(sample, X, recipe, seeds, rng)
        self.criterion_ = recipe.criterion
        trees += self._grow(sample, recipe, seeds[len(trees) :])

        unseen: NDArray[np.floating] = read_only(X) if recipe.n_draws else X
        trees = self._smooth(sample, unseen, trees, recipe, seeds, n_kept=len(before))
        self.estimators_ = before + [self._estimator(seed) for _, seed in seeds[len(before) :]]
        for estimator, tree in zip(self.estimators_, trees, strict=True):
            estimator.set_params(shrinkage=self.shrinkage_)
            estimator.tree_ = tree
        if self.oob_score is not False:
            votes = out_of_bag_votes(sample, unseen, trees, recipe, seeds, self._n_threads())
            self._set_oob_score(sample, votes)

    def _min_samples_split(self, n_samples: int) -> int:
        if self.min_samples_split is None or self.min_samples_split == OUT_OF_BAG:
            return NODE_SIZES[0]
        return super()._min_samples_split(n_samples)

    def _smooth(
        self,
        sample: Sample,
        unseen: NDArray[np.floating],
        trees: list[Tree],
        recipe: Recipe,
        seeds: Sequence[tuple[int, int]],
        n_kept: int,
    ) -> list[Tree]:
        """Choose the node size and the shrinkage out of bag, if they are to be chosen, and apply them."""
        prune = self._by_unseen("min_samples_split")
        sizes: Sequence[int] = (recipe.growth.min_samples_split,)
        if prune:
            # What an earlier fit has cut off does not grow again.
            sizes = (self.min_samples_split_,) if n_kept else NODE_SIZES
        shrinkages: Sequence[float] = (self._given_shrinkage(),)
        if self._by_unseen("shrinkage"):
            shrinkages = SHRINKAGES
        for i in range(n_kept):  # they have been shrunk before
            values = node_values(trees[i].counts, recipe.power, seeds[i][1])
            trees[i] = dataclasses.replace(trees[i], values=values)
        self.min_samples_split_, self.shrinkage_ = sizes[0], shrinkages[0]
        n_threads = self._n_threads()
        if len(sizes) > 1 or len(shrinkages) > 1:
            losses = choose_smoothing(sample, unseen, trees, recipe, seeds, sizes, shrinkages, n_threads)
            self.smoothing_losses_ = losses
            if losses:
                self.min_samples_split_, self.shrinkage_ = min(losses, key=losses.__getitem__)

        def smooth(tree: Tree) -> Tree:
            tree = tree.pruned(self.min_samples_split_) if prune else tree
            shrink(tree.values, tree.weight, tree.left, self.shrinkage_)
            return tree

        return in_threads(smooth, trees, n_threads)

    def _given_shrinkage(self) -> float:
        if self.shrinkage is None or self.shrinkage == OUT_OF_BAG:
            return 0.0
        return check_share("shrinkage", self.shrinkage, low=0.0, high=np.inf)

    def _by_unseen(self, name: str) -> bool:
        """Whether a parameter is to be chosen by the rows that trees have not seen."""
        value = getattr(self, name)
        return bool(value == OUT_OF_BAG or (value is None and self.bootstrap))

    def _recipe(self, sample: Sample) -> Recipe:
        n_samples = sample.labels.size
        n_draws = n_samples if check_flag("bootstrap", self.bootstrap) else 0
        if self.max_samples is not None:
            if not self.bootstrap:
                raise ValueError(f"max_samples needs bootstrap=True, got {self.max_samples!r} without")
            n_draws = check_rows("max_samples", self.max_samples, n_samples, low=1)
        if not callable(self.oob_score) and not isinstance(self.oob_score, bool | np.bool_):
            raise TypeError(f"oob_score must be True, False or a callable, got {self.oob_score!r}")
        if not isinstance(self.verbose, Integral):
            raise TypeError(f"verbose must be an integer, got {self.verbose!r}")
        if self.selection is not None:
            check_choice("selection", self.selection, ("holdout", OUT_OF_BAG))
        for name in ("min_samples_split", "shrinkage"):
            if isinstance(getattr(self, name), str):
                check_choice(f"{name}, where it is a word,", getattr(self, name), (OUT_OF_BAG,))
        for name in ("min_samples_split", "shrinkage", "selection", "oob_score"):
            value = getattr(self, name)
            if not self.bootstrap and (value == OUT_OF_BAG or (name == "oob_score" and value is not False)):
                raise ValueError(f"{name}={value!r} needs bootstrap=True: without, no row is out of bag")
        self._given_shrinkage()
        recipe = super()._recipe(sample)
        return dataclasses.replace(
            recipe,
            growth=recipe.growth._replace(random_thresholds=self._random_thresholds),
            n_draws=n_draws,
            balanced=self.class_weight == "balanced_subsample",
        )

    def _adapt(
        self,
        sample: Sample,
        rows: NDArray[np.floating],
        recipe: Recipe,
        seeds: Sequence[tuple[int, int]],
        rng: np.random.RandomState,
    ) -> tuple[Recipe, list[Tree]]:
        """Choose lam by a quarter of the trees; return the recipe with it, and its trees so far."""
        some = seeds[: max(1, (len(seeds) + 3) // 4)]
        n_threads = self._n_threads()
        selection = self.selection or (OUT_OF_BAG if self.bootstrap else "holdout")
        if selection == "holdout":
            recipe, self.criterion_scores_ = choose_by_holdout(sample, rows, recipe, some, rng, n_threads)
            return recipe, []
        forests = {
            candidate.criterion.parameter: self._grow(sample, candidate, some)
            for candidate in candidates(recipe)
        }
        recipe, self.criterion_scores_ = choose_out_of_bag(
            sample, read_only(rows), forests, recipe, some, n_threads
        )
        return recipe, forests[recipe.criterion.parameter]

    def _grow(self, sample: Sample, recipe: Recipe, seeds: Sequence[tuple[int, int]]) -> list[Tree]:
        backend, _ = get_active_backend(prefer="threads")
        if getattr(backend, "supports_sharedmem", False) and not self.verbose:
            return grow_trees(sample, recipe, seeds, self._n_threads())
        # In processes, or on other machines, as a surrounding joblib.parallel_config says.
        return list(
            joblib.Parallel(n_jobs=self.n_jobs, prefer="threads", verbose=self.verbose)(
                joblib.delayed(grow_tree)(sample, recipe, pair) for pair in seeds
            )
        )

    def _estimator(self, seed: int) -> RobustDecisionTreeClassifier:
        """An estimator for one tree."""
        shared = (
            RobustDecisionTreeClassifier().get_params(deep=False).keys() & self.get_params(deep=False).keys()
        )
        estimator = RobustDecisionTreeClassifier(**{name: getattr(self, name) for name in shared})
        estimator.set_params(
            criterion=self.criterion_,
            max_features=self._auto_max_features if self.max_features == "auto" else self.max_features,
            min_samples_split=self.min_samples_split_,
            class_weight=None,
            random_state=seed,
        )
        estimator.criterion_ = self.criterion_
        estimator.classes_, estimator.n_classes_ = self.classes_, self.n_classes_
        estimator.n_features_in_ = self.n_features_in_
        return estimator

    def _set_oob_score(self, sample: Sample, votes: NDArray[np.float64]) -> None:
        total = votes.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            self.oob_decision_function_ = votes / total
        seen = total[:, 0] > 0
        score = self.oob_score if callable(self.oob_score) else accuracy_score
        predicted = self.classes_[votes[seen].argmax(axis=1)]
        self.oob_score_ = float(score(self.classes_[sample.labels[seen]], predicted)) if seen.any() else np.nan

    def _leaf_values(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        total = np.zeros((X.shape[0], self.n_classes_))

        # Each thread owns some rows and adds the trees in order: the same sums for any number of threads.
        def add_trees(some: slice) -> None:
            for estimator in self.estimators_:
                estimator.tree_.add_values(X[some], total[some])

        # Some rows at a time, so that they stay in the cache from tree to tree.
        n_threads = self._n_threads()
        n_parts = max(n_threads, X.nbytes // BYTES_AT_ONCE)
        in_threads(add_trees, shares(X.shape[0], n_parts), n_threads)
        total /= len(self.estimators_)
        return total

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """Leaf of each row in each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_estimators)
        """
        X = self._features(X)
        n_threads = self._n_threads()
        return np.column_stack(in_threads(lambda e: e.tree_.apply(X), self.estimators_, n_threads))

    def decision_path(self, X: ArrayLike) -> tuple[csr_array, NDArray[np.int64]]:
        """Nodes that each row passes in each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        indicator : sparse array of shape (n_samples, sum of nodes)
            Ones where a row passes a node; the trees one after the other.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            Where the nodes of each tree begin.
        """
        X = self._features(X)
        paths = [path_matrix(e.tree_, e.tree_.apply(X)) for e in self.estimators_]
        pointer = np.concatenate([[0], np.cumsum([path.shape[1] for path in paths])])
        return csr_array(hstack(paths)), pointer

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: int) -> RobustDecisionTreeClassifier:
        return self.estimators_[index]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Mean over the trees that have a split of their importances."""
        check_is_fitted(self)
        split = [e.tree_ for e in self.estimators_ if e.tree_.n_nodes > 1]
        if not split:
            return np.zeros(self.n_features_in_)
        total: NDArray[np.float64] = np.sum([tree.importances(self.n_features_in_) for tree in split], axis=0)
        total /= total.sum()
        return total
