"""Predictions of forests, and what their trees tell about features."""

from __future__ import annotations

from copy import copy
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, hstack
from sklearn.utils.validation import check_is_fitted

from ._base import BaseRobustTrees, path_matrix
from ._checks import check_integer
from ._growing import RowDraws
from ._stored_tree import GrownTree, expand
from ._threads import map_in_threads
from .decision_tree import RobustDecisionTreeClassifier


class FittedForest(BaseRobustTrees):
    """Base class of `BaseForest`: the methods of fitted forests."""

    estimators_: list[RobustDecisionTreeClassifier]
    min_samples_split: int | float | str
    min_samples_split_: int
    chosen_params_: dict[str, int | float]
    shrinkage_: float
    _seeds: list[tuple[int, int]]
    _row_draws: RowDraws

    @property
    def estimator_(self) -> RobustDecisionTreeClassifier:
        """Unfitted tree with the parameters of those of the forest."""
        check_is_fitted(self)
        shared = (
            RobustDecisionTreeClassifier().get_params(deep=False).keys() & self.get_params(deep=False).keys()
        )
        estimator = RobustDecisionTreeClassifier(**{name: getattr(self, name) for name in shared})
        estimator.set_params(
            criterion=self.criterion_,
            splitter="random" if self._random_thresholds else "best",
            min_samples_split=self.min_samples_split_,
            shrinkage=self.shrinkage_,
            class_weight=None,
            random_state=None,
        )
        return estimator

    @property
    def estimators_samples_(self) -> list[NDArray[np.int32]]:
        """Rows that each tree has drawn, each as often as it was drawn."""
        check_is_fitted(self)
        return [self._row_draws.rows(seed).astype(np.int32) for seed, _ in self._seeds]

    def _stored_trees(self) -> list[GrownTree]:
        return [estimator._stored for estimator in self.estimators_]

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """Leaf of each row in each tree.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_estimators)
        """
        return self._leaves(self._check_features(X))

    def decision_path(self, X: ArrayLike) -> tuple[csr_array, NDArray[np.int64]]:
        """Nodes on each row's path in each tree.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        indicator : sparse array of shape (n_samples, total number of nodes)
            Ones at the nodes of each row's path; the columns of the trees are concatenated.
        n_nodes_ptr : ndarray of shape (n_estimators + 1,)
            First column of each tree, and the number of columns.
        """
        leaves = self.apply(X)
        paths = [path_matrix(expand(tree), leaves[:, i]) for i, tree in enumerate(self._stored_trees())]
        pointer = np.concatenate([[0], np.cumsum([path.shape[1] for path in paths])])
        return csr_array(hstack(paths)), pointer

    def pruned(self, min_samples_split: int) -> Self:
        """Copy of the fitted forest without the splits of nodes with fewer rows, and without out-of-bag scores.

        With ``passes=1``, it is the forest that `fit` grows with a larger `min_samples_split`, unless
        `max_leaf_nodes` limits the trees or another parameter is chosen for the node size.

        Parameters
        ----------
        min_samples_split : int
            Minimum number of rows of a node that is split, at least that of the fitted trees.

        Returns
        -------
        RobustForestClassifier or RobustExtraTreesClassifier

        Raises
        ------
        ValueError
            If `min_samples_split` is below that of the fitted trees.
        """
        check_is_fitted(self)
        size = check_integer("min_samples_split", min_samples_split, low=self.min_samples_split_)
        forest = copy(self)
        for name in ("oob_score_", "oob_decision_function_", "smoothing_losses_"):
            forest.__dict__.pop(name, None)
        chosen = self.chosen_params_
        forest.chosen_params_ = {name: chosen[name] for name in chosen if name != "min_samples_split"}
        forest.min_samples_split = forest.min_samples_split_ = size
        forest.estimators_ = map_in_threads(lambda tree: tree.pruned(size), self.estimators_, self._n_threads())
        return forest

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: int) -> RobustDecisionTreeClassifier:
        return self.estimators_[index]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Feature importances, averaged over the trees with at least one split."""
        check_is_fitted(self)
        split = [tree for tree in self._stored_trees() if tree.n_nodes > 1]
        if not split:
            return np.zeros(self.n_features_in_)
        importances = [expand(tree).importances(self.n_features_in_) for tree in split]
        total: NDArray[np.float64] = np.sum(importances, axis=0)
        total /= total.sum()
        return total
