"""Decision tree with split criteria that are robust to label noise."""

from __future__ import annotations

import dataclasses
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted

from ._adaptive_criterion import best_lam, holdout_accuracies, with_lam
from ._base import BaseRobustTrees, path_matrix
from ._checks import check_choice, check_integer, check_number, is_auto
from ._growing import MAX_SEED, Sample, grow_tree
from ._rows import Rows
from ._stored_tree import GrownTree, expand, store
from .criteria import ADAPTIVE, TREE_CRITERION
from .criterion import Criterion, Impurity
from .tree import Tree


class RobustDecisionTreeClassifier(BaseRobustTrees):
    """Decision tree classifier with a choice of split criteria that are robust to label noise.

    The split search is exact unless `max_bins` is set.  A node is split only if its best gain is positive,
    which makes the conservative criteria stop early (Wilton & Ye 2024, Theorem 5 a); scikit-learn also splits
    at zero gain.

    Parameters
    ----------
    criterion : str or Criterion, default="negative_exponential"
        See `get_criterion`.  ``"ane"`` selects the adaptive negative exponential criterion: lam is chosen from
        0, 0.25, 0.5, 0.75 and 1 by accuracy on a held-out noisy fifth of the rows, and the tree is then grown
        on all rows.
    splitter : {"best", "random"}, default="best"
        ``"random"`` tries one random threshold for each feature, as extra-trees do; of categories, random
        subsets.
    max_depth : int or None, default=None
        Maximum number of splits on a path; None for no limit.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves.  Nodes whose splits remove the most risk, ``(n/N) gain``, are split first.
    min_samples_split : int or float, default=2
        Minimum number of rows of a node that is split, or their fraction of all rows.
    min_samples_leaf : int, float or "auto", default=1
        Minimum number of rows on each side of a split, or their fraction of all rows.  ``"auto"`` takes the
        smallest number for which a leaf keeps its majority class under the given `noise_rate`; see
        `min_leaf_samples`.
    min_weight_fraction_leaf : float, default=0.0
        Minimum share of the total weight on each side of a split.
    min_impurity_decrease : float, default=0.0
        Minimum risk ``(n/N) gain`` that a split removes.
    max_features : int, float, {"auto", "sqrt", "log2"} or None, default=None
        Number of features tried at each node: an integer, a fraction of all features, their square root or
        binary logarithm, or None for all; ``"auto"`` is half of them, but not more than 32 or, if that is more,
        their square root.  As in scikit-learn, a feature that is constant at the node counts
        as tried, but the search continues until one feature varies.
    max_bins : int or None, default=None
        Number of bins that the values of each feature are divided into, from 2 to 255, with about equally many
        rows in each.  Only thresholds between bins are tried, which is faster and needs less memory if features
        have many distinct values.  Features with at most `max_bins` distinct values are split exactly.  None
        for exact splits of all features.
    class_weight : dict, "balanced" or None, default=None
        Class weights, multiplied with the sample weights.  ``"balanced"`` gives all classes equal weight.
    leaf_value : {"proportions", "majority", "gce", "gce(q)"}, default="proportions"
        Class probabilities of a leaf: class proportions; 1 for the majority class, which minimises the
        conservative losses (Theorem 3 there); or normalised proportions to the power 1 / (1 - q), which
        minimise generalised cross entropy.  The default of q is that of the criterion if it has one, else 0.7.
    shrinkage : float, default=0.0
        Strength of the hierarchical shrinkage of leaf values towards their ancestors: along a path,
        ``value(parent) + (mean(child) - mean(parent)) / (1 + shrinkage / n(parent))`` (Agarwal et al. 2022).
    noise_rate : float or None, default=None
        Rate of wrong labels, for ``min_samples_leaf="auto"``.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features whose values are categories without an order: names of columns, indices, or a mask.  Their
        splits divide the categories of a node into any two subsets.  With two classes, the split of an impurity
        is the best of all; with more, the categories are ordered by the first principal component of their
        class shares (Coppersmith, Hong & Hosking 1999).  Splits of different features are compared after
        deducting what these may gain by chance, which grows with the number of categories.  Other categories,
        and missing values, go where the missing values of the node went in training, or else to the heavier
        side.  ``"from_dtype"`` takes the columns of data frames whose categories have no order.  Other columns
        of categories are split at a category, in their order.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        Monotonic constraints, by feature or by column name: 1 if the probability of the second class must not
        decrease when the feature increases, -1 if it must not increase, 0 without a constraint.
    ccp_alpha : float, default=0.0
        Minimal cost-complexity pruning (Breiman et al. 1984): removes the splits whose subtree reduces the risk
        by less than this for each leaf that it adds.  The risk that a split removes is its gain times the share
        of its node in the total weight.
    random_state : int, RandomState or None, default=None
        Controls the order in which features are tried and the choice of the held-out rows.  Of splits with
        equal gain the first found is taken.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted class labels.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen by `fit`, if all column names of `X` are strings.
    is_categorical_ : ndarray of shape (n_features,)
        Whether the values of each feature are categories without an order.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the risk removed by all splits.
    max_features_ : int
        Number of features tried at each node.
    n_outputs_ : int
        Always 1.
    tree_ : Tree
        The grown tree as flat arrays.
    criterion_ : Criterion
        The criterion used for the splits.
    criterion_scores_ : dict of float to float
        With ``criterion="ane"``, accuracy of each lam on the held-out rows.

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

    _stored: GrownTree

    def __init__(
        self,
        criterion: str | Criterion = TREE_CRITERION,
        *,
        splitter: str = "best",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float | str = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: int | float | str | None = None,
        max_bins: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
        leaf_value: str = "proportions",
        shrinkage: float = 0.0,
        noise_rate: float | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        ccp_alpha: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
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
        self.noise_rate = noise_rate
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.ccp_alpha = ccp_alpha
        self.random_state = random_state

    @property
    def _random_thresholds(self) -> bool:  # type: ignore[override]
        check_choice("splitter", self.splitter, ("best", "random"))
        return self.splitter == "random"

    def _fit_rows(self, X: Rows, sample: Sample) -> None:
        for name in ("min_samples_split", "shrinkage"):
            if is_auto(getattr(self, name)):
                raise ValueError(f"{name}='auto' is for forests; a single tree has no out-of-bag rows")
        shrinkage = check_number("shrinkage", self.shrinkage, low=0.0, high=np.inf)
        sample = self._weighted_by_class(sample)
        settings = dataclasses.replace(self._tree_settings(sample), shrinkage=shrinkage)
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(MAX_SEED))
        if self.criterion == ADAPTIVE:
            self.criterion_scores_ = holdout_accuracies(sample, X, settings, [(seed, seed)], rng)
            settings = with_lam(settings, best_lam(self.criterion_scores_))
        self.criterion_, self.max_features_ = settings.criterion, settings.growth.max_features
        self.tree_ = grow_tree(sample, settings, (seed, seed))

    @property
    def tree_(self) -> Tree:
        """The grown tree as flat arrays; a large one is stored in less memory until it is read."""
        check_is_fitted(self)
        stored = self._stored
        return stored if isinstance(stored, Tree) else stored.expanded

    @tree_.setter
    def tree_(self, tree: GrownTree) -> None:
        self._stored = store(tree) if isinstance(tree, Tree) else tree

    def _stored_trees(self) -> list[GrownTree]:
        return [self._stored]

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """Leaf of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Indices of nodes of ``tree_``.
        """
        return self._leaves(self._check_features(X))[:, 0]

    def decision_path(self, X: ArrayLike) -> csr_array:
        """Nodes on each row's path from the root to its leaf.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        sparse array of shape (n_samples, n_nodes)
            Ones at the nodes of each row's path.
        """
        leaves = self.apply(X)  # first, because it raises if the estimator is not fitted
        return path_matrix(expand(self._stored), leaves)

    def cost_complexity_pruning_path(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Bunch:
        """Compute the values of `ccp_alpha` at which a tree grown on these rows loses splits.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        sklearn.utils.Bunch
            ``ccp_alphas``, ascending, and ``impurities``, the mean impurity of the leaves with each of them,
            weighted by their rows; NaN if the criterion is not an impurity.
        """
        tree = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        alphas, removed = tree.tree_.cost_complexity_path()
        root = np.nan
        if isinstance(tree.criterion_, Impurity):
            root = tree.criterion_.impurity(tree.tree_.counts[0])
        return Bunch(ccp_alphas=alphas, impurities=root - removed)

    def pruned(self, min_samples_split: int) -> Self:
        """Copy of the fitted tree without the splits of nodes with fewer rows.

        It is the tree that `fit` grows with a larger `min_samples_split`, unless `max_leaf_nodes` or
        `ccp_alpha` limits it or ``criterion="ane"`` chooses another lam for it.

        Parameters
        ----------
        min_samples_split : int
            Minimum number of rows of a node that is split, at least that of the fitted tree.

        Returns
        -------
        RobustDecisionTreeClassifier

        Raises
        ------
        ValueError
            If `min_samples_split` is below that of the fitted tree.
        """
        check_is_fitted(self)
        grown, tree = expand(self._stored), copy(self)
        least = self._min_samples_split(int(grown.n_rows[0]))
        tree.min_samples_split = check_integer("min_samples_split", min_samples_split, low=least)
        tree.tree_ = grown.pruned(tree.min_samples_split)
        return tree

    def get_depth(self) -> int:
        """Number of splits on the longest path."""
        check_is_fitted(self)
        return expand(self._stored).depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self._stored.n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the risk removed by all splits."""
        check_is_fitted(self)
        return expand(self._stored).importances(self.n_features_in_)
