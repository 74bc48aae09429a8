"""Fitted trees and forests as treelite models."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._forest import BaseForest
from ._stored_tree import expand
from .decision_tree import RobustDecisionTreeClassifier
from .sklearn_trees import check_convertible
from .tree import Tree

MAX_CATEGORY = (1 << 24) - 1  # treelite's limit


def to_treelite(model: RobustDecisionTreeClassifier | BaseForest) -> Any:
    """Convert a fitted tree or forest to treelite, with missing values and categories.

    treelite predicts without Python, compiles models with TL2cgen, and is read by Nvidia's forest inference.

    Parameters
    ----------
    model : RobustDecisionTreeClassifier, RobustForestClassifier or RobustExtraTreesClassifier
        Fitted.

    Returns
    -------
    treelite.Model
        Its predictions of shape (n, 1, n_classes) are the probabilities, in the order of ``classes_``.
        Thresholds are in double precision.  Categories of a data frame are their ranks; see `onnx_input`.

    Raises
    ------
    ImportError
        If treelite is not installed.
    TypeError
        If `model` is none of these classes.
    ValueError
        If the criterion corrects the probabilities for noise, there is a single class, or the number of a
        category is no integer from 0 to 2^24 - 1.
    sklearn.exceptions.NotFittedError
        If `model` is not fitted.

    Examples
    --------
    >>> from robust_splits import RobustForestClassifier
    >>> from robust_splits.export import to_treelite
    >>> forest = RobustForestClassifier(10).fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> to_treelite(forest).num_tree
    10
    """
    check_convertible(model, categories=True)
    n_classes = int(model.n_classes_)
    if n_classes < 2:
        raise ValueError("model must be fitted on at least two classes for treelite, got one")
    from treelite.model_builder import Metadata, ModelBuilder, PostProcessorFunc, TreeAnnotation

    trees = [expand(tree) for tree in model._stored_trees()]
    builder = ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=Metadata(
            num_feature=model.n_features_in_,
            task_type="kMultiClf",
            average_tree_output=True,
            num_target=1,
            num_class=[n_classes],
            leaf_vector_shape=(1, n_classes),
        ),
        tree_annotation=TreeAnnotation(
            num_tree=len(trees), target_id=[0] * len(trees), class_id=[-1] * len(trees)
        ),
        postprocessor=PostProcessorFunc(name="identity_multiclass"),
        base_scores=[0.0] * n_classes,
    )
    for tree in trees:
        _add_tree(builder, tree)
    return builder.commit()


def _add_tree(builder: Any, tree: Tree) -> None:
    left, feature, threshold = tree.left.tolist(), tree.feature.tolist(), tree.threshold.tolist()
    missing_left, values = tree.missing_left.tolist(), tree.values.tolist()
    rows, weight = tree.n_rows.tolist(), tree.weight.tolist()
    of_node = [-1] * tree.n_nodes if tree.subsets is None else tree.subsets.of_node.tolist()
    builder.start_tree()
    for node in range(tree.n_nodes):
        builder.start_node(node)
        if left[node] < 0:
            builder.leaf(values[node])
        else:
            children = {"left_child_key": left[node], "right_child_key": left[node] + 1}
            if of_node[node] < 0:
                builder.numerical_test(
                    feature[node], threshold[node], default_left=missing_left[node], opname="<=", **children
                )
            else:
                builder.categorical_test(
                    feature[node],
                    default_left=missing_left[node],
                    category_list=_categories(tree, node),
                    category_list_right_child=missing_left[node],
                    **children,
                )
        builder.data_count(rows[node])
        builder.sum_hess(weight[node])
        builder.end_node()
    builder.end_tree()


def _categories(tree: Tree, node: int) -> list[int]:
    """Categories that go to the side that missing values do not go to."""
    assert tree.subsets is not None  # noqa: S101 - for the type checker
    values = tree.subsets.of(node)
    if (values != np.floor(values)).any() or (values < 0).any() or (values > MAX_CATEGORY).any():
        raise ValueError(f"categories must be integers from 0 to {MAX_CATEGORY} for treelite, got {values[:3]}")
    return [int(value) for value in values]
