"""scikit-learn estimators over the compiled grower."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ._coding import RankCodes, encode
from ._grower import grow
from ._validation import NO_LIMIT, check_count, check_features, check_max_features, check_training_data
from .criteria import Criterion, get_criterion
from .tree import Tree, add_proportions


class _Classifier(ClassifierMixin, BaseEstimator):
    """What the tree and the forest share: parameters of a tree, growing one, predicting."""

    criterion: str | Criterion
    max_depth: int | None
    min_samples_split: int
    min_samples_leaf: int
    max_features: int | float | str | None
    random_state: int | np.random.RandomState | None
    classes_: NDArray[Any]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the most probable class; of several equal ones the first in ``classes_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        # Validation comes first, so that an unfitted estimator says so.
        probabilities = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        raise NotImplementedError

    def _grower_arguments(self, n_features: int) -> dict[str, Any]:
        """Validated parameters of a tree, as `grow` takes them."""
        criterion = get_criterion(self.criterion)
        return {
            "criterion": criterion.code,
            "parameter": criterion.parameter,
            "max_depth": NO_LIMIT
            if self.max_depth is None
            else check_count("max_depth", self.max_depth, low=1),
            "min_samples_split": check_count("min_samples_split", self.min_samples_split, low=2),
            "min_samples_leaf": check_count("min_samples_leaf", self.min_samples_leaf, low=1),
            "max_features": check_max_features(self.max_features, n_features),
        }


def _grow_tree(
    columns: RankCodes,
    labels: NDArray[np.int64],
    weights: NDArray[np.float64],
    n_classes: int,
    arguments: dict[str, Any],
    seed: int,
    bootstrap: bool = False,
) -> Tree:
    """Grow a tree; with `bootstrap` on as many rows as there are, drawn with replacement."""
    return Tree(
        *grow(
            columns.codes,
            columns.values,
            columns.offsets,
            labels,
            _bootstrap(weights, seed) if bootstrap else weights,
            n_classes,
            arguments["criterion"],
            arguments["parameter"],
            arguments["max_depth"],
            arguments["min_samples_split"],
            arguments["min_samples_leaf"],
            arguments["max_features"],
            np.uint64(seed + 1),  # the generator's state must not be 0
        )
    )


def _bootstrap(weights: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Weights of a bootstrap sample: each row's weight times the number of times that it was drawn."""
    rng = np.random.RandomState(seed)
    drawn = np.zeros_like(weights)
    while not drawn.any():  # with many weights of 0, a small sample may hold none but those
        rows = rng.randint(weights.size, size=weights.size)
        drawn = np.bincount(rows, minlength=weights.size) * weights
    return drawn


class RobustDecisionTreeClassifier(_Classifier):
    """Decision tree with a choice of split criteria that withstand label noise.

    Splits are exact, and a node is split only where the best gain is positive; the conservative criteria use
    this to stop early (Wilton & Ye 2024, Theorem 5), where scikit-learn splits at zero gain as well.

    Parameters
    ----------
    criterion : str or Criterion, default="negative_exponential"
        See `get_criterion`.
    max_depth : int or None, default=None
        Largest number of splits on a path; None for no limit.
    min_samples_split : int, default=2
        Fewest rows of a node that is split.
    min_samples_leaf : int, default=1
        Fewest rows on each side of a split.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Features tried at each node: a number, a fraction, the root or logarithm of their number, or all.  As
        in scikit-learn a feature that is constant at the node counts as tried, and the search goes on until
        one that varies is found.
    random_state : int, RandomState or None, default=None
        Order in which features are tried; of equal gains the first found wins.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted labels.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where `X` had names that are all strings.
    tree_ : Tree
        The grown tree as flat arrays.

    References
    ----------
    Wilton & Ye, "Robust Loss Functions for Training Decision Trees with Noisy Labels", AAAI 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robust_splits import RobustDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = RobustDecisionTreeClassifier("misclassification", random_state=0).fit(X, y)
    >>> tree.tree_.n_leaves
    4
    """

    def __init__(
        self,
        criterion: str | Criterion = "negative_exponential",
        *,
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        max_features: int | float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : array-like of shape (n_samples,)
            Labels of any sortable type.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Not negative; rows of weight 0 take no part.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data is not as described.
        """
        X, labels, self.classes_, weights = check_training_data(self, X, y, sample_weight)
        arguments = self._grower_arguments(self.n_features_in_)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self.tree_ = _grow_tree(encode(X), labels, weights, self.classes_.size, arguments, seed)
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class proportions of the training rows in the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self)
        return self.tree_.proportions[self.tree_.apply(check_features(self, X))]


class RobustForestClassifier(_Classifier):
    """Random forest of trees with a split criterion that withstands label noise.

    The trees are those of `RobustDecisionTreeClassifier`; they are grown in threads.  The same
    `random_state` gives the same forest, whatever `n_jobs`.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : str or Criterion, default="negative_exponential"
        See `get_criterion`.
    max_depth, min_samples_split, min_samples_leaf
        As in `RobustDecisionTreeClassifier`.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        As in `RobustDecisionTreeClassifier`.
    bootstrap : bool, default=True
        Whether each tree sees as many rows as `X` has, drawn with replacement, instead of all rows.
    n_jobs : int or None, default=None
        Number of threads; -1 for all cores, None for one unless a `joblib.parallel_config` says otherwise.
    random_state : int, RandomState or None, default=None
        Seed of the draws of rows and features.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As in `RobustDecisionTreeClassifier`.
    trees_ : list of Tree
        The grown trees.

    References
    ----------
    Breiman, "Random forests", Machine Learning 45, 2001.
    Wilton & Ye, "Robust Loss Functions for Training Decision Trees with Noisy Labels", AAAI 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robust_splits import RobustForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> RobustForestClassifier(random_state=0, n_jobs=2).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str | Criterion = "negative_exponential",
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        max_features: int | float | str | None = "sqrt",
        bootstrap: bool = True,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : array-like of shape (n_samples,)
            Labels of any sortable type.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Not negative; multiplied by the number of times that a row was drawn.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data is not as described.
        """
        X, labels, self.classes_, weights = check_training_data(self, X, y, sample_weight)
        arguments = self._grower_arguments(self.n_features_in_)
        n_estimators = check_count("n_estimators", self.n_estimators, low=1)
        if not isinstance(self.bootstrap, bool | np.bool_):
            raise TypeError(f"bootstrap must be True or False, got {self.bootstrap!r}")
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=n_estimators)
        columns = encode(X)

        # Module-level functions and plain arrays: the trees may grow in processes and on other machines too.
        self.trees_ = list(
            joblib.Parallel(n_jobs=self.n_jobs, prefer="threads")(
                joblib.delayed(_grow_tree)(
                    columns, labels, weights, self.classes_.size, arguments, int(seed), bool(self.bootstrap)
                )
                for seed in seeds
            )
        )
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Mean over the trees of the class proportions in the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self)
        X = check_features(self, X)
        total = np.zeros((X.shape[0], self.classes_.size))

        def add_trees(rows: slice) -> None:
            # Each thread owns some rows and adds the trees in order: the same sums for any number of threads.
            for tree in self.trees_:
                add_proportions(
                    X[rows], tree.feature, tree.threshold, tree.children, tree.proportions, total[rows]
                )

        n_threads = min(joblib.effective_n_jobs(self.n_jobs), X.shape[0])
        edges = np.linspace(0, X.shape[0], n_threads + 1).astype(int)
        joblib.Parallel(n_jobs=n_threads, require="sharedmem")(
            joblib.delayed(add_trees)(slice(a, b)) for a, b in pairwise(edges)
        )
        return total / len(self.trees_)
