"""Random forest and extra-trees classifiers with split criteria that are robust to label noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._checks import AUTO
from ._forest import BaseForest
from .criteria import FOREST_CRITERION
from .criterion import Criterion


class RobustForestClassifier(BaseForest):
    """Random forest classifier with a split criterion that is robust to label noise.

    The trees are those of `RobustDecisionTreeClassifier`, grown in threads.  The same `random_state` gives the
    same forest for any `n_jobs`.

    By default, `fit` grows two forests.  The first one judges the labels: its out-of-bag predictions give the
    transition matrix of the noise, and the probability of each clean class given the features and the label of
    a row; see `robust_splits.label_noise.clean_posterior`.  The second one is grown on these probabilities as
    soft labels, so `predict_proba` predicts the probabilities of the clean labels.  With ``passes=1`` it
    predicts those of the given labels.

    Each pass grows full trees, and then chooses on the out-of-bag rows how far to prune them and how much to
    shrink their leaf values: little without label noise, much with it.  This needs no clean labels.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : str or Criterion, default="gini"
        See `get_criterion`.  ``"ane"`` selects the adaptive negative exponential criterion: lam is chosen from
        0, 0.25, 0.5, 0.75 and 1 with a quarter of the trees; see `selection`.
    max_depth, max_leaf_nodes, min_samples_leaf, min_weight_fraction_leaf, min_impurity_decrease
        As in `RobustDecisionTreeClassifier`.
    min_samples_split : int, float or "auto", default="auto"
        Minimum number of rows of a node that is split, or their fraction of all rows.  ``"auto"`` chooses from
        2, 5, 10, 20, 40, 80 and 160 the number with the lowest out-of-bag log loss on the noisy labels; the
        forest is grown once and then pruned.  Without bootstrap, no row is out of bag, and ``"auto"`` means 2.
    max_features : int, float, {"auto", "sqrt", "log2"} or None, default="sqrt"
        As in `RobustDecisionTreeClassifier`.
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
        Class weights, multiplied with the sample weights.  ``"balanced"`` gives all classes equal weight,
        ``"balanced_subsample"`` does so among the rows drawn for each tree.
    leaf_value, noise_rate, max_bins, categorical_features, monotonic_cst
        As in `RobustDecisionTreeClassifier`.
    ccp_alpha : float, default=0.0
        Minimal cost-complexity pruning of each tree, before `min_samples_split` and `shrinkage` are chosen; see
        `RobustDecisionTreeClassifier`.
    shrinkage : float or "auto", default="auto"
        Strength of the hierarchical shrinkage of leaf values; see `RobustDecisionTreeClassifier`.  ``"auto"``
        chooses it from 0, 1, 3, 10, 30, 100, 300 and 1000 times the mean weight of the rows, together with
        `min_samples_split`, by the same loss and from the same trees.  Without bootstrap, ``"auto"`` means 0.
    selection : {"oob", "holdout"} or None, default=None
        How ``criterion="ane"`` chooses lam on noisy labels: by out-of-bag accuracy, or by accuracy on a
        held-out fifth of the rows, as in the paper.  None means ``"oob"`` with bootstrap, else ``"holdout"``.
    bootstrap : bool, default=True
        Whether each tree is grown on rows drawn with replacement instead of all rows.
    max_samples : int, float or None, default=None
        Number of rows drawn for each tree, or a multiple of the number of rows, as a float; both may exceed the
        number of rows.  None for the number of rows.
    passes : {1, 2, "auto"}, default="auto"
        Number of forests that are grown, one after the other.  1 fits the given labels as they are.  ``"auto"``
        means 2 if labels can be judged: with bootstrap, and if labels are not soft and there are two classes
        with positive weight or more.  With a `CorrectedCriterion` it means 1.
    oob_score : bool or callable, default=False
        Whether to compute out-of-bag predictions and score them on the given labels, by accuracy or by a
        callable ``score(y_true, y_predicted)``.
    warm_start : bool, default=False
        Whether `fit` keeps the trees of the previous fit, and adds trees with the current parameters up to
        `n_estimators`.  `X` and `y` must have the same rows, columns and classes.  A lam or
        `min_samples_split_` chosen earlier is kept, as are the soft labels of a first pass; the shrinkage is
        chosen again and applied to all trees.
    n_jobs : int or None, default=None
        Number of threads; -1 for all cores, None for one.  A `joblib.parallel_config` context may change the
        default, and distribute the trees over processes or machines.
    verbose : int, default=0
        Verbosity of joblib.
    random_state : int, RandomState or None, default=None
        Seed for drawing rows and features.

    Attributes
    ----------
    classes_, n_classes_, n_features_in_, feature_names_in_, is_categorical_, criterion_
        As in `RobustDecisionTreeClassifier`.
    estimators_ : list of RobustDecisionTreeClassifier
        The grown trees.
    estimator_ : RobustDecisionTreeClassifier
        An unfitted tree with their parameters.
    estimators_samples_ : list of ndarray
        Rows that each tree has drawn, each as often as it was drawn.
    feature_importances_ : ndarray of shape (n_features,)
        Feature importances, averaged over the trees with at least one split; their sum is 1.
    min_samples_split_ : int
        Minimum number of rows of a node that is split.
    shrinkage_ : float
        Shrinkage of the leaf values.
    chosen_params_ : dict
        Values of the parameters that were ``"auto"``, as ``best_params_`` of scikit-learn's searches.
    smoothing_losses_ : dict of int to dict of float to float
        Out-of-bag log loss by `min_samples_split` and `shrinkage`, if either was chosen on the out-of-bag rows.
    criterion_scores_ : dict of float to float
        With ``criterion="ane"``, accuracy of each lam.
    passes_ : int
        Number of passes: 1 also if the first pass could not distinguish the classes.
    transition_matrix_ : ndarray of shape (n_classes, n_classes)
        With two passes, the estimated noise: entry (i, j) is the probability of label j in class i.
    oob_score_ : float
        With `oob_score`, the out-of-bag score; NaN, with a warning, if every tree has drawn all rows.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        With `oob_score`, out-of-bag class probabilities; NaN for rows drawn by every tree.  With two passes,
        those of the clean labels that the first pass has found, since the second one has seen all labels.

    References
    ----------
    - Breiman, "Random forests", Machine Learning 45, 2001.
    - Wilton & Ye, "Robust Loss Functions for Training Decision Trees with Noisy Labels", AAAI 2024.
    - Agarwal, Tan, Ronen, Singh & Yu, "Hierarchical Shrinkage", ICML 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robust_splits import RobustForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> RobustForestClassifier(random_state=0, n_jobs=2).fit(X, y).predict(X[:2])
    array([0, 0])
    """


class RobustExtraTreesClassifier(BaseForest):
    """Extremely randomised trees classifier with a split criterion that is robust to label noise.

    At each node, one threshold per tried feature is drawn uniformly between the feature's lowest and highest
    value at the node, and the best of these splits is taken.  The same `random_state` gives the same forest for
    any `n_jobs`.

    Unlike scikit-learn's extra-trees, these use bootstrap samples, because `min_samples_split` and `shrinkage`
    are chosen on the out-of-bag rows, and try more features.  Both made them more accurate on noisy labels.

    Parameters and attributes are those of `RobustForestClassifier`, with the same defaults, except as listed
    here.

    Parameters
    ----------
    max_features : int, float, {"auto", "sqrt", "log2"} or None, default="auto"
        As in `RobustForestClassifier`.
    random_state : int, RandomState or None, default=None
        Seed for drawing rows, thresholds and features.

    References
    ----------
    Geurts, Ernst & Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robust_splits import RobustExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> RobustExtraTreesClassifier(random_state=0, n_jobs=2).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _random_thresholds = True

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
        max_features: int | float | str | None = AUTO,
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
        super().__init__(
            n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            min_impurity_decrease=min_impurity_decrease,
            max_features=max_features,
            max_bins=max_bins,
            class_weight=class_weight,
            leaf_value=leaf_value,
            shrinkage=shrinkage,
            selection=selection,
            noise_rate=noise_rate,
            categorical_features=categorical_features,
            monotonic_cst=monotonic_cst,
            ccp_alpha=ccp_alpha,
            bootstrap=bootstrap,
            max_samples=max_samples,
            passes=passes,
            oob_score=oob_score,
            warm_start=warm_start,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )
