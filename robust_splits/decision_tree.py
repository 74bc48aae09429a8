"""A decision tree with split criteria that withstand label noise."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ._base import ADAPTIVE, BaseRobustTrees, path_matrix
from ._growing import MAX_SEED, Sample, grow_tree
from ._validation import check_share
from .adaptation import choose_by_holdout
from .criteria import Criterion
from .tree import Tree


class RobustDecisionTreeClassifier(BaseRobustTrees):
    """Decision tree with a choice of split criteria that withstand label noise.

    Splits are exact, and a node is split only where the best gain is positive; the conservative criteria use
    this to stop early (Wilton & Ye 2024, Theorem 5), where scikit-learn splits at zero gain as well.

    Parameters
    ----------
    criterion : str or Criterion, default="negative_exponential"
        See `get_criterion`; or ``"ane"``, the adaptive negative exponential criterion: lam is the one of 0,
        0.25, 0.5, 0.75 and 1 that is most accurate on a noisy fifth of the rows that is held out, and the tree
        is then grown on all rows.
    max_depth : int or None, default=None
        Largest number of splits on a path; None for no limit.
    max_leaf_nodes : int or None, default=None
        Largest number of leaves.  The nodes whose splits remove most risk, ``(n/N) gain``, are split first.
    min_samples_split : int or float, default=2
        Fewest rows of a node that is split, or their fraction of all rows.
    min_samples_leaf : int, float or "auto", default=1
        Fewest rows on each side of a split, or their fraction of all rows.  ``"auto"`` takes the least number
        for which a leaf keeps its majority class under the given `noise_rate`; see `min_leaf_samples`.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight on each side of a split.
    min_impurity_decrease : float, default=0.0
        Least risk ``(n/N) gain`` that a split removes.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Features tried at each node: a number, a fraction, the root or logarithm of their number, or all.  As
        in scikit-learn a feature that is constant at the node counts as tried, and the search goes on until
        one that varies is found.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with those of the rows; ``"balanced"`` makes all classes weigh the
        same.
    leaf_value : {"proportions", "majority", "gce", "gce(q)"}, default="proportions"
        What a leaf predicts: class proportions; all for the majority class, the minimiser for conservative
        losses (Theorem 3); or proportions to the power 1 / (1 - q), normalised, the minimiser for generalised
        cross entropy, with the q of the criterion if it has one, else 0.7.
    shrinkage : float, default=0.0
        Strength of the hierarchical shrinkage of leaf values towards those of the nodes above: along a path,
        ``value(parent) + (mean(child) - mean(parent)) / (1 + shrinkage / n(parent))`` (Agarwal et al. 2022).
    noise_rate : float or None, default=None
        Rate of wrong labels, for ``min_samples_leaf="auto"``.
    random_state : int, RandomState or None, default=None
        Order in which features are tried, and which rows are held out; of equal gains the first found wins.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted labels.
    n_classes_ : int
        Their number.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where `X` had names that are all strings.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the risk that all splits remove.
    tree_ : Tree
        The grown tree as flat arrays.
    criterion_ : Criterion
        The criterion of the splits.
    criterion_scores_ : dict of float to float
        With ``criterion="ane"``, the accuracy of each lam on the rows held out.

    References
    ----------
    - Wilton & Ye, "Robust Loss Functions for Training Decision Trees with Noisy Labels", AAAI 2024.
    - Agarwal, Tan, Ronen, Singh & Yu, "Hierarchical Shrinkage", ICML 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robust_splits import RobustDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = RobustDecisionTreeClassifier("misclassification", random_state=0).fit(X, y)
    >>> tree.get_n_leaves()
    4
    """

    tree_: Tree

    def __init__(
        self,
        criterion: str | Criterion = "negative_exponential",
        *,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float | str = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: int | float | str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        leaf_value: str = "proportions",
        shrinkage: float = 0.0,
        noise_rate: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
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
        self.noise_rate = noise_rate
        self.random_state = random_state

    def _fit_rows(self, X: NDArray[np.floating], sample: Sample) -> None:
        for name in ("min_samples_split", "shrinkage"):
            if getattr(self, name) == "oob":
                raise ValueError(f"{name}='oob' is for forests: a tree alone has no rows out of bag")
        recipe = self._recipe(sample)
        recipe = dataclasses.replace(
            recipe, shrinkage=check_share("shrinkage", self.shrinkage, low=0.0, high=np.inf)
        )
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(MAX_SEED))
        if self.criterion == ADAPTIVE:
            recipe, self.criterion_scores_ = choose_by_holdout(sample, X, recipe, [(seed, seed)], rng)
        self.criterion_ = recipe.criterion
        self.tree_ = grow_tree(sample, recipe, (seed, seed))

    def _leaf_values(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        return self.tree_.values[self.tree_.apply(X)]

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """Leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers of nodes of ``tree_``.
        """
        X = self._features(X)
        return self.tree_.apply(X)

    def decision_path(self, X: ArrayLike) -> csr_array:
        """Nodes that each row passes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        sparse array of shape (n_samples, n_nodes)
            Ones where a row passes a node.
        """
        leaves = self.apply(X)
        return path_matrix(self.tree_, leaves)

    def get_depth(self) -> int:
        """Number of splits on the longest path."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the risk that all splits remove."""
        check_is_fitted(self)
        return self.tree_.importances(self.n_features_in_)
