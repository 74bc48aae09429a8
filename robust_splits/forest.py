"""Random forests and extra-trees with split criteria that withstand label noise."""

from __future__ import annotations

from ._forest import BaseForest


class RobustForestClassifier(BaseForest):
    """Random forest of trees with a split criterion that withstands label noise.

    The trees are those of `RobustDecisionTreeClassifier`; they are grown in threads.  The same
    `random_state` gives the same forest, whatever `n_jobs`.

    By default the trees are grown to the end, and the rows that they have not seen choose how far they are cut
    back and how much leaf values are shrunk: little without noise, much with it.  This needs no clean label and
    about the time of one fit, and on small and middling data under uniform noise it was more accurate than any
    fixed choice, and than the choice of `min_samples_leaf` by several fits.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : str or Criterion, default="gini"
        See `get_criterion`; or ``"ane"``, the adaptive negative exponential criterion: lam is chosen among 0,
        0.25, 0.5, 0.75 and 1 by a quarter of the trees; see `selection`.
    max_depth, max_leaf_nodes, min_samples_leaf, min_weight_fraction_leaf, min_impurity_decrease
        As in `RobustDecisionTreeClassifier`.
    min_samples_split : int, float, "oob" or None, default=None
        Fewest rows of a node that is split, or their fraction of all rows.  ``"oob"`` chooses the number, among
        2, 5, 10, 20, 40, 80 and 160, with the least log loss on the noisy labels of the rows that trees have
        not seen: from one fit, whose trees are then cut back.  None is ``"oob"`` with bootstrap, else 2.
    max_features : int, float, {"auto", "sqrt", "log2"} or None, default="auto"
        Features tried at each node: a number, a fraction, the root or logarithm of their number, or all;
        ``"auto"`` is ``"sqrt"``.
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
        Weights of the classes, multiplied with those of the rows; ``"balanced"`` makes all classes weigh the
        same, ``"balanced_subsample"`` among the rows drawn for each tree.
    leaf_value, noise_rate
        As in `RobustDecisionTreeClassifier`.
    shrinkage : float, "oob" or None, default=None
        Strength of the hierarchical shrinkage of leaf values, see `RobustDecisionTreeClassifier`.  ``"oob"``
        chooses it together with `min_samples_split`, in the same way and from the same fit.  None is ``"oob"``
        with bootstrap, else 0.
    selection : {"oob", "holdout"} or None, default=None
        How ``criterion="ane"`` chooses lam on noisy labels: by the accuracy on rows that trees have not seen,
        or on a fifth of the rows that is held out, as the paper does; None is ``"oob"`` with bootstrap, else
        ``"holdout"``.
    bootstrap : bool, default=True
        Whether each tree sees rows drawn with replacement instead of all rows.
    max_samples : int, float or None, default=None
        Number of rows drawn for each tree, which may be more than there are, or a fraction of all; None for as
        many as there are.
    oob_score : bool or callable, default=False
        Whether predictions for the rows that trees have not seen are kept and scored, by accuracy or by a
        callable ``score(y_true, y_predicted)``.
    warm_start : bool, default=False
        Whether `fit` keeps the trees of the last one and adds what is missing of `n_estimators`, grown with the
        parameters of now; `X` and `y` must have the same columns and classes.  A lam or a `min_samples_split_`
        that was chosen stays, and shrinkage, chosen anew, is that of all trees.
    n_jobs : int or None, default=None
        Number of threads; -1 for all cores, None for one unless a `joblib.parallel_config` says otherwise,
        which may also spread the trees over processes and machines.
    verbose : int, default=0
        How much joblib tells of its progress.
    random_state : int, RandomState or None, default=None
        Seed of the draws of rows and features.

    Attributes
    ----------
    classes_, n_classes_, n_features_in_, feature_names_in_, criterion_
        As in `RobustDecisionTreeClassifier`.
    estimators_ : list of RobustDecisionTreeClassifier
        The grown trees.
    feature_importances_ : ndarray of shape (n_features,)
        Mean of the importances of the trees.
    min_samples_split_ : int
        Fewest rows of a node that is split.
    shrinkage_ : float
        The shrinkage of the leaf values.
    smoothing_losses_ : dict of (int, float) to float
        Where one of these was chosen out of bag, the log loss of each pair of them.
    criterion_scores_ : dict of float to float
        With ``criterion="ane"``, the accuracy of each lam.
    oob_score_ : float
        With `oob_score`, the score on rows that trees have not seen.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        With `oob_score`, their class probabilities; NaN for a row that all trees have seen.

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
    """Extremely randomised trees with a split criterion that withstands label noise.

    At each node one threshold is drawn for each feature that is tried, uniformly between its lowest and highest
    value there, and the best of these splits is taken.  The same `random_state` gives the same forest, whatever
    `n_jobs`.

    Unlike scikit-learn's, these trees see bootstrap samples, for the rows that they do not see choose
    `min_samples_split` and `shrinkage`; and they try half of the features.  Both made them more accurate on
    noisy labels.

    Parameters and attributes are those of `RobustForestClassifier`, with the same defaults, but for what is
    listed here.

    Parameters
    ----------
    max_features : int, float, {"auto", "sqrt", "log2"} or None, default="auto"
        Features tried at each node: a number, a fraction, the root or logarithm of their number, or all;
        ``"auto"`` is 0.5, half of them.
    random_state : int, RandomState or None, default=None
        Seed of the draws of rows, thresholds and features.

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
    _auto_max_features = 0.5
