"""Base class of trees and forests: parameter validation, fitting and prediction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_monotonic_cst, check_is_fitted

from ._checks import (
    AUTO,
    NO_LIMIT,
    check_choice,
    check_integer,
    check_max_features,
    check_number,
    check_row_count,
)
from ._growing import Sample, TreeSettings
from ._helper_process import Search, start_helper
from ._kernels.binning import MAX_BINS
from ._kernels.coding import encode
from ._kernels.nodes import GrowthSettings
from ._kernels.walk import add_leaf_values
from ._leaf_values import leaf_value_power
from ._packed_trees import PackedTrees, find_leaves, map_leaves
from ._rows import Rows
from ._stored_tree import GrownTree
from ._validation import (
    check_class_weight,
    check_features,
    check_groups,
    check_training_data,
    check_weight_sum,
    class_weights,
)
from .bounds import min_leaf_samples
from .criteria import ADAPTIVE, Gini, NegativeExponential, get_criterion
from .criterion import Criterion
from .tree import Tree


@contextmanager
def _restore_on_error(estimator: BaseRobustTrees) -> Iterator[None]:
    """Restore all attributes if `fit` fails: trees of an earlier fit do not match new classes or columns."""
    before = estimator.__dict__.copy()
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


class BaseRobustTrees(ClassifierMixin, BaseEstimator):
    """Base class of `RobustDecisionTreeClassifier` and the forests."""

    criterion: str | Criterion
    max_depth: int | None
    max_leaf_nodes: int | None
    min_samples_split: int | float | str
    min_samples_leaf: int | float | str
    min_weight_fraction_leaf: float
    min_impurity_decrease: float
    max_features: int | float | str | None
    max_bins: int | None
    class_weight: dict[Any, float] | str | None
    leaf_value: str
    noise_rate: float | None
    categorical_features: ArrayLike | str | None
    monotonic_cst: ArrayLike | dict[str, int] | None
    ccp_alpha: float
    random_state: int | np.random.RandomState | None
    classes_: NDArray[Any]
    n_classes_: int
    criterion_: Criterion
    is_categorical_: NDArray[np.bool_]
    _categories: dict[Any, list[Any]]
    _packed: list[PackedTrees]

    _random_thresholds = False
    _class_weight_names: tuple[str, ...] = ("balanced",)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Numbers; NaN means a missing value.  A sparse matrix is ranked a part at a time, and never
            made dense.  For categories of a data frame, see `categorical_features`.
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            Class labels: strings, integers, or any other labels that scikit-learn accepts.  Or soft labels: the
            probability of each class, whose labels are the columns of a data frame, or else 0, 1, ...  A row
            counts as a copy for each class, with the probability as its weight.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights; rows of weight 0 are ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data is invalid.
        """
        return self._fit(X, y, sample_weight)

    def _fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None = None
    ) -> Self:
        with _restore_on_error(self):
            warm_start = self._is_warm_start()
            rows, labels, classes, weights = check_training_data(
                self, X, y, sample_weight, reset=not warm_start
            )
            if warm_start and not np.array_equal(classes, self.classes_):
                raise ValueError(
                    "y must have the classes of the fit that warm_start continues, "
                    f"{self.classes_}; got {classes}"
                )
            check_class_weight(self.class_weight, self._class_weight_names)
            self.classes_, self.n_classes_ = classes, classes.size
            numbers = None if groups is None else check_groups(groups, weights.size)
            start_helper(self._search_kind(), rows.dtype)
            columns = encode(rows, self._n_threads(), self._n_bins(), self.is_categorical_)
            self._packed = []
            self._fit_rows(rows, Sample.of(columns, labels, weights, self.n_classes_, numbers))
            return self

    def _fit_rows(self, X: Rows, sample: Sample) -> None:
        """Fit validated rows `X`; `sample` holds the same rows as rank codes, with labels and weights."""
        raise NotImplementedError

    @property
    def n_outputs_(self) -> int:
        """Number of targets, always 1."""
        check_is_fitted(self)
        return 1

    def _class_weights(self, sample: Sample) -> NDArray[np.float64] | None:
        """Weight of each class, unless it is the same for all or depends on the rows that a tree draws."""
        return class_weights(self.class_weight, self.classes_, sample.class_totals())

    def _weighted_by_class(self, sample: Sample) -> Sample:
        """Multiply the weights of labels by those of their classes."""
        by_class = self._class_weights(sample)
        if by_class is None:
            return sample
        weighted = sample.weighted_by_class(by_class)
        check_weight_sum("class_weight times sample_weight", weighted.weights)
        return weighted

    def _leaf_values(self, X: Rows) -> NDArray[np.float64]:
        """Class probabilities of the leaves of validated rows, averaged over the trees."""
        total, n_threads = np.zeros((X.shape[0], self.n_classes_)), self._n_threads()
        packed = self._packed_trees(n_threads)

        def add_values(rows: slice, leaves: NDArray[np.int32]) -> None:
            add_leaf_values(packed.leaf_values, leaves, total[rows])

        map_leaves(add_values, X, packed.steps(X.dtype), n_threads)
        total /= len(packed.trees)
        return total

    def _leaves(self, X: Rows) -> NDArray[np.int64]:
        """Leaf of each validated row in each tree, shape (n_samples, n_trees)."""
        n_threads = self._n_threads()
        return find_leaves(X, self._packed_trees(n_threads).steps(X.dtype), n_threads)

    def _packed_trees(self, n_threads: int) -> PackedTrees:
        """The trees in the form that predictions read."""
        cache: list[PackedTrees] = self.__dict__.setdefault("_packed", [])  # pickles are without it
        return PackedTrees.cached(cache, self._stored_trees(), n_threads)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_packed"}

    def _stored_trees(self) -> list[GrownTree]:
        """The grown trees as they are stored."""
        raise NotImplementedError

    def _is_warm_start(self) -> bool:
        """Whether `fit` keeps the trees of an earlier fit."""
        return False

    def _n_threads(self) -> int:
        return 1

    def _n_bins(self) -> int | None:
        """Number of bins of a column; None for exact splits."""
        return None if self.max_bins is None else check_integer("max_bins", self.max_bins, low=2, high=MAX_BINS)

    def _search_kind(self) -> Search:
        if self._random_thresholds:
            return "random"
        is_gini = self.criterion != ADAPTIVE and get_criterion(self.criterion) == Gini()
        return "gini" if is_gini else "other"

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the most probable class; ties go to the first in ``classes_``.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Numbers; NaN means a missing value.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        probabilities = self.predict_proba(X)  # first, because it raises if the estimator is not fitted
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Predict class probabilities: the values of each row's leaf, averaged over the trees of a forest.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Numbers; NaN means a missing value.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        p = self._leaf_values(self._check_features(X))
        return self.criterion_.clean_proportions(p)

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Predict logarithms of class probabilities; minus infinity for a probability of 0.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _check_features(self, X: ArrayLike) -> Rows:
        check_is_fitted(self)
        return check_features(self, X)

    def _tree_settings(self, sample: Sample) -> TreeSettings:
        """Validate the parameters of a tree."""
        n_samples, n_features = sample.n_samples, sample.columns.n_features
        if self.criterion == ADAPTIVE:
            criterion: Criterion = NegativeExponential()
        else:
            criterion = get_criterion(self.criterion)
            criterion.check_classes(sample.n_classes)
            if criterion.corrects_noise:
                self._check_corrected(sample)
        max_leaf_nodes = 0
        if self.max_leaf_nodes is not None:
            max_leaf_nodes = check_integer("max_leaf_nodes", self.max_leaf_nodes, low=2)
        if self.noise_rate is not None:
            check_number("noise_rate", self.noise_rate, low=0.0, high=1.0)
        fraction = check_number("min_weight_fraction_leaf", self.min_weight_fraction_leaf, low=0.0, high=0.5)
        decrease = check_number("min_impurity_decrease", self.min_impurity_decrease, low=0.0, high=np.inf)
        total = float(sample.weights.sum())
        growth = GrowthSettings(
            max_depth=NO_LIMIT if self.max_depth is None else check_integer("max_depth", self.max_depth, low=1),
            max_leaf_nodes=max_leaf_nodes,
            min_samples_split=self._min_samples_split(n_samples),
            min_samples_leaf=self._min_samples_leaf(n_samples, sample.n_classes),
            min_weight_leaf=max(fraction * total, np.finfo(float).tiny),
            min_reduction=decrease * total,
            max_features=check_max_features(self.max_features, n_features),
            random_thresholds=self._random_thresholds,
        )
        return TreeSettings(
            criterion,
            growth,
            leaf_value_power(self.leaf_value, criterion),
            shrinkage=0.0,
            monotonic=self._monotonic(sample),
            ccp_alpha=check_number("ccp_alpha", self.ccp_alpha, low=0.0, high=np.inf),
        )

    def _monotonic(self, sample: Sample) -> NDArray[np.int8] | None:
        """Signs of the monotonic constraints, validated; None if there are none."""
        if self.monotonic_cst is None:
            return None
        signs: NDArray[np.int8] = _check_monotonic_cst(self, self.monotonic_cst)
        if not signs.any():
            return None
        if sample.n_classes > 2:
            raise ValueError(f"monotonic_cst is for two classes, got {sample.n_classes}")
        if self.leaf_value == "majority":
            raise ValueError(
                "leaf_value must not be 'majority' with monotonic_cst, because ties would be broken at random"
            )
        both = np.flatnonzero((signs != 0) & self.is_categorical_)
        if both.size:
            name = getattr(self, "feature_names_in_", range(signs.size))[both[0]]
            raise ValueError(
                f"monotonic_cst must be 0 for categories, which have no order; got {signs[both[0]]} "
                f"for {name!r}"
            )
        return signs if sample.n_classes == 2 else None

    def _check_corrected(self, sample: Sample) -> None:
        """Raise a ValueError if the labels or a parameter do not go with a `CorrectedCriterion`."""
        if sample.soft_labels is not None:
            raise ValueError("y must be class labels with a CorrectedCriterion, got soft labels")
        for name, allowed in (("leaf_value", "proportions"), ("class_weight", None)):
            if getattr(self, name) != allowed:
                raise ValueError(
                    f"{name} must be {allowed!r} with a CorrectedCriterion, whose T describes the proportions "
                    f"of noisy labels; got {getattr(self, name)!r}"
                )

    def _min_samples_split(self, n_samples: int) -> int:
        return check_row_count("min_samples_split", self.min_samples_split, n_samples, low=2)

    def _min_samples_leaf(self, n_samples: int, n_classes: int) -> int:
        if isinstance(self.min_samples_leaf, str):
            check_choice("min_samples_leaf", self.min_samples_leaf, (AUTO,), "a number")
            if self.noise_rate is None:
                raise ValueError("min_samples_leaf='auto' needs noise_rate, the rate of wrong labels; got None")
            return min_leaf_samples(self.noise_rate, n_classes=max(2, n_classes))
        return check_row_count("min_samples_leaf", self.min_samples_leaf, n_samples, low=1)


def path_matrix(tree: Tree, leaves: NDArray[np.int64]) -> csr_array:
    """Nodes on each row's path from the root to its leaf, as a sparse (n_samples, n_nodes) matrix of ones."""
    # Walk up from the leaves, all rows at once.
    parent = tree.parent
    path_rows, path_nodes = [], []
    rows, nodes = np.arange(leaves.size), leaves
    while rows.size:
        path_rows.append(rows)
        path_nodes.append(nodes)
        nodes = parent[nodes]
        rows, nodes = rows[nodes >= 0], nodes[nodes >= 0]
    row, node = np.concatenate(path_rows), np.concatenate(path_nodes)
    matrix = csr_array((np.ones(row.size, dtype=np.int64), (row, node)), shape=(leaves.size, tree.n_nodes))
    matrix.sort_indices()
    return matrix
