"""What trees and forests share: the parameters of a tree, their validation, and prediction."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ._growing import Recipe, Sample
from ._kernels.coding import encode
from ._kernels.grower import Growth
from ._validation import (
    NO_LIMIT,
    check_choice,
    check_class_weight,
    check_count,
    check_features,
    check_max_features,
    check_rows,
    check_share,
    check_training_data,
    weigh_classes,
)
from ._values import leaf_value_power
from .bounds import min_leaf_samples
from .criteria import Criterion, NegativeExponential, get_criterion
from .tree import Tree

ADAPTIVE = "ane"


class BaseRobustTrees(ClassifierMixin, BaseEstimator):
    """Base of `RobustDecisionTreeClassifier` and the forests."""

    criterion: str | Criterion
    max_depth: int | None
    max_leaf_nodes: int | None
    min_samples_split: int | float | str | None
    min_samples_leaf: int | float | str
    min_weight_fraction_leaf: float
    min_impurity_decrease: float
    max_features: int | float | str | None
    class_weight: dict[Any, float] | str | None
    leaf_value: str
    noise_rate: float | None
    random_state: int | np.random.RandomState | None
    classes_: NDArray[Any]
    n_classes_: int
    criterion_: Criterion

    _auto_max_features: float | str | None = None
    _class_weight_words: tuple[str, ...] = ("balanced",)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree, or the trees of the forest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Labels: strings, integers, or whatever else scikit-learn takes for classes.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Not negative; rows of weight 0 take no part.  A forest multiplies them by the number of times that
            a row was drawn.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data is not as described.
        """
        goes_on = self._goes_on()
        X, labels, classes, weights = check_training_data(self, X, y, sample_weight, reset=not goes_on)
        if goes_on and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"y must have the classes that warm_start has seen, {self.classes_}; got {classes}"
            )
        check_class_weight(self.class_weight, self._class_weight_words)
        weights = weigh_classes(self.class_weight, classes[labels], weights)
        self.classes_, self.n_classes_ = classes, classes.size
        self._fit_rows(X, Sample(encode(X, self._n_threads()), labels, weights, self.n_classes_))
        return self

    def _fit_rows(self, X: NDArray[np.floating], sample: Sample) -> None:
        """Fit validated rows; the sample holds the same rows, coded, with their labels and weights."""
        raise NotImplementedError

    def _leaf_values(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Class probabilities of validated rows."""
        raise NotImplementedError

    def _goes_on(self) -> bool:
        """Whether `fit` keeps what an earlier one has grown."""
        return False

    def _n_threads(self) -> int:
        return 1

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the most probable class; of several equal ones the first in ``classes_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN where a value is missing.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        # Validation comes first, so that an unfitted estimator says so.
        probabilities = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class probabilities: the values of the leaf of each row, in a forest their mean over the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN where a value is missing.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._leaf_values(self._features(X))

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Logarithms of `predict_proba`; minus infinity for a class that is excluded.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _features(self, X: ArrayLike) -> NDArray[np.floating]:
        check_is_fitted(self)
        return check_features(self, X)

    def _recipe(self, sample: Sample) -> Recipe:
        """Validated parameters of a tree."""
        n_samples, n_features = sample.labels.size, sample.columns.first.size
        if self.criterion == ADAPTIVE:
            criterion: Criterion = NegativeExponential()
        else:
            criterion = get_criterion(self.criterion)
            criterion.check_classes(sample.n_classes)
        max_leaf_nodes = 0
        if self.max_leaf_nodes is not None:
            max_leaf_nodes = check_count("max_leaf_nodes", self.max_leaf_nodes, low=2)
        if self.noise_rate is not None:
            check_share("noise_rate", self.noise_rate, low=0.0, high=1.0)
        fraction = check_share("min_weight_fraction_leaf", self.min_weight_fraction_leaf, low=0.0, high=0.5)
        decrease = check_share("min_impurity_decrease", self.min_impurity_decrease, low=0.0, high=np.inf)
        total = float(sample.weights.sum())
        growth = Growth(
            max_depth=NO_LIMIT if self.max_depth is None else check_count("max_depth", self.max_depth, low=1),
            max_leaf_nodes=max_leaf_nodes,
            min_samples_split=self._min_samples_split(n_samples),
            min_samples_leaf=self._min_samples_leaf(n_samples, sample.n_classes),
            min_weight_leaf=max(fraction * total, np.finfo(float).tiny),
            min_reduction=decrease * total,
            max_features=check_max_features(self.max_features, n_features, self._auto_max_features),
            random_thresholds=False,
        )
        return Recipe(criterion, growth, leaf_value_power(self.leaf_value, criterion), 0.0)

    def _min_samples_split(self, n_samples: int) -> int:
        return check_rows("min_samples_split", self.min_samples_split, n_samples, low=2)

    def _min_samples_leaf(self, n_samples: int, n_classes: int) -> int:
        if isinstance(self.min_samples_leaf, str):
            check_choice("min_samples_leaf, where it is a word,", self.min_samples_leaf, ("auto",))
            if self.noise_rate is None:
                raise ValueError("min_samples_leaf='auto' needs noise_rate, the rate of wrong labels; got None")
            return min_leaf_samples(self.noise_rate, n_classes=max(2, n_classes))
        return check_rows("min_samples_leaf", self.min_samples_leaf, n_samples, low=1)


def path_matrix(tree: Tree, leaves: NDArray[np.int64]) -> csr_array:
    """Which nodes each row passes, from its leaf; a sparse matrix of shape (n_samples, n_nodes) of ones."""
    # Up from the leaves, all rows at once.
    parent = tree.parent
    rows, nodes = [], []
    these, at = np.arange(leaves.size), leaves
    while these.size:
        rows.append(these)
        nodes.append(at)
        at = parent[at]
        these, at = these[at >= 0], at[at >= 0]
    row, node = np.concatenate(rows), np.concatenate(nodes)
    matrix = csr_array((np.ones(row.size, dtype=np.int64), (row, node)), shape=(leaves.size, tree.n_nodes))
    matrix.sort_indices()
    return matrix
