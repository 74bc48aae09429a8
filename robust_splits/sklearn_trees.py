"""Fitted trees and forests in the form of scikit-learn's, which other tools read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.tree._tree import NODE_DTYPE
from sklearn.tree._tree import Tree as SklearnTree
from sklearn.utils.validation import check_is_fitted

from ._forest import BaseForest
from ._stored_tree import expand
from .decision_tree import RobustDecisionTreeClassifier
from .forest import RobustExtraTreesClassifier
from .tree import Tree

NO_FEATURE = -2  # of a leaf in scikit-learn
SHORT_BITS = 26


def to_sklearn(model: RobustDecisionTreeClassifier | BaseForest) -> Any:
    """Convert a fitted tree or forest to one of scikit-learn with the same nodes and probabilities.

    Tools that explain, draw, convert or serve scikit-learn's trees then take it: SHAP, ONNX, treelite, skops
    and others.

    Parameters
    ----------
    model : RobustDecisionTreeClassifier, RobustForestClassifier or RobustExtraTreesClassifier
        Fitted.

    Returns
    -------
    DecisionTreeClassifier, RandomForestClassifier or ExtraTreesClassifier
        Of scikit-learn.  Its parameters are not those that the trees were grown with, and it takes arrays of
        numbers, or the data frames that `model` was fitted on, unless they have categories.  scikit-learn
        converts features to single precision; see `single_precision_thresholds`.

    Raises
    ------
    TypeError
        If `model` is none of these classes.
    ValueError
        If a split divides categories into subsets, or the criterion corrects the probabilities for noise, which
        scikit-learn's trees cannot represent.
    sklearn.exceptions.NotFittedError
        If `model` is not fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from robust_splits import RobustForestClassifier
    >>> from robust_splits.export import to_sklearn
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RobustForestClassifier(10, random_state=0).fit(X, y)
    >>> np.allclose(to_sklearn(forest).predict_proba(X), forest.predict_proba(X))
    True
    """
    check_convertible(model)
    if isinstance(model, RobustDecisionTreeClassifier):
        return _convert_tree(model, DecisionTreeClassifier(), model.classes_)
    converted: Any
    if isinstance(model, RobustExtraTreesClassifier):
        converted, template = ExtraTreesClassifier(len(model), n_jobs=model.n_jobs), ExtraTreeClassifier
    else:
        converted, template = RandomForestClassifier(len(model), n_jobs=model.n_jobs), DecisionTreeClassifier
    converted.estimator_ = template()
    numbers = np.arange(model.n_classes_, dtype=np.float64)  # as in scikit-learn's forests
    converted.estimators_ = [_convert_tree(tree, template(), numbers) for tree in model.estimators_]
    return _set_attributes(model, converted, model.classes_)


def check_convertible(model: Any, *, categories: bool = False) -> None:
    """Raise an error unless other tools can represent a fitted tree or forest; see `to_sklearn`.

    `categories` says whether the tool has splits of categories.
    """
    if not isinstance(model, RobustDecisionTreeClassifier | BaseForest):
        raise TypeError(f"model must be a tree or a forest of robust_splits, got {type(model).__name__}")
    check_is_fitted(model)
    if model.criterion_.corrects_noise:
        raise ValueError(
            f"criterion must not correct probabilities for noise after averaging trees, got {model.criterion_}"
        )
    subsets = [tree.subsets for tree in model._stored_trees()]
    if not categories and any(each is not None and each.values.size for each in subsets):
        raise ValueError(
            "a split divides categories into subsets, which scikit-learn's trees cannot represent; convert to "
            "ONNX, fit with categorical_features=None, or fit on one-hot columns"
        )


def single_precision_thresholds(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Thresholds for rows that are converted to single precision.

    A row with the value of the threshold itself, which is frequent in data of few decimals, goes left also
    after it was rounded up.  Rows that exceed the threshold by less than this go left, too.  Midpoints of
    neighbours in single precision, which have at most `SHORT_BITS` significant bits, stay as they are: there,
    the row that is rounded up is the neighbour.
    """
    with np.errstate(over="ignore"):
        nearest = threshold.astype(np.float32).astype(np.float64)
    is_short = threshold.view(np.int64) & ((1 << (53 - SHORT_BITS)) - 1) == 0
    return np.where((nearest > threshold) & ~is_short, nearest, threshold)


def _convert_tree(model: RobustDecisionTreeClassifier, converted: Any, classes: NDArray[Any]) -> Any:
    converted.tree_ = _sklearn_tree(expand(model._stored), model.n_features_in_)
    converted.max_features_ = model.n_features_in_
    return _set_attributes(model, converted, classes)


def _set_attributes(model: Any, converted: Any, classes: NDArray[Any]) -> Any:
    converted.classes_, converted.n_classes_, converted.n_outputs_ = classes, classes.size, 1
    converted.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        converted.feature_names_in_ = model.feature_names_in_
    return converted


def _sklearn_tree(tree: Tree, n_features: int) -> SklearnTree:
    """Flat arrays of a tree in scikit-learn's format."""
    is_leaf, values = tree.left < 0, tree.values
    nodes = np.zeros(tree.n_nodes, dtype=NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = tree.children.T
    nodes["feature"] = np.where(is_leaf, NO_FEATURE, tree.feature)
    nodes["threshold"] = np.where(is_leaf, NO_FEATURE, single_precision_thresholds(tree.threshold))
    nodes["impurity"] = 1 - (values**2).sum(axis=1)
    nodes["n_node_samples"] = tree.n_rows
    nodes["weighted_n_node_samples"] = tree.weight
    nodes["missing_go_to_left"] = tree.missing_left
    converted = SklearnTree(n_features, np.array([values.shape[1]], dtype=np.intp), 1)
    converted.__setstate__(
        {
            "max_depth": tree.depth,
            "node_count": tree.n_nodes,
            "nodes": nodes,
            "values": np.ascontiguousarray(values[:, None, :]),
        }
    )
    return converted
