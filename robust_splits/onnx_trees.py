"""Fitted trees and forests as ONNX models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._forest import BaseForest
from .decision_tree import RobustDecisionTreeClassifier
from .sklearn_trees import check_convertible, single_precision_thresholds
from .tree import Tree

ML_OPSET, OPSET, IR_VERSION = 3, 15, 8  # old ones, which every runtime reads


def to_onnx(model: RobustDecisionTreeClassifier | BaseForest) -> Any:
    """Convert a fitted tree or forest to ONNX, with missing values.

    Parameters
    ----------
    model : RobustDecisionTreeClassifier, RobustForestClassifier or RobustExtraTreesClassifier
        Fitted on labels that are strings, integers or booleans.

    Returns
    -------
    onnx.ModelProto
        Input ``X``, of type float32 and shape (n, n_features); outputs ``label``, of shape (n,), and
        ``probabilities``, of type float32 and shape (n, n_classes), in the order of ``classes_``.  NaN means a
        missing value.  Probabilities are those of the model but for rounding errors of the order 1e-7, and for
        rows that single precision moves across a threshold; see `single_precision_thresholds`.

    Raises
    ------
    ImportError
        If onnx is not installed: ``pip install boostnoise[export]``.
    TypeError
        If `model` is none of these classes, or its labels have another type.
    ValueError
        If a split divides categories into subsets, or the criterion corrects the probabilities for noise.
    sklearn.exceptions.NotFittedError
        If `model` is not fitted.

    Examples
    --------
    >>> from robust_splits import RobustForestClassifier
    >>> from robust_splits.export import to_onnx
    >>> forest = RobustForestClassifier(10).fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> [output.name for output in to_onnx(forest).graph.output]
    ['label', 'probabilities']
    """
    check_convertible(model)
    from onnx import TensorProto, helper

    is_tree = isinstance(model, RobustDecisionTreeClassifier)
    trees = [model.tree_] if is_tree else [estimator.tree_ for estimator in model.estimators_]
    n_classes, labels = int(model.n_classes_), _class_labels(model.classes_)
    label_type = TensorProto.STRING if isinstance(labels[0], str) else TensorProto.INT64
    # The operator's own labels depend on thresholds that runtimes disagree on.
    nodes = [
        helper.make_node(
            "TreeEnsembleClassifier",
            inputs=["X"],
            outputs=["unused", "probabilities"],
            domain="ai.onnx.ml",
            post_transform="NONE",
            classlabels_int64s=list(range(n_classes)),
            **_attributes(trees, n_classes),
        ),
        helper.make_node("ArgMax", ["probabilities"], ["number"], axis=1, keepdims=0),
        helper.make_node("ArrayFeatureExtractor", ["classes", "number"], ["row"], domain="ai.onnx.ml"),
        helper.make_node("Reshape", ["row", "shape"], ["label"]),
    ]
    graph = helper.make_graph(
        nodes,
        type(model).__name__,
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, model.n_features_in_])],
        [
            helper.make_tensor_value_info("label", label_type, [None]),
            helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, n_classes]),
        ],
        [
            helper.make_tensor("classes", label_type, [1, n_classes], labels),
            helper.make_tensor("shape", TensorProto.INT64, [1], [-1]),
        ],
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="robust_splits")


def _class_labels(classes: NDArray[Any]) -> list[Any]:
    """Class labels of a type that ONNX has."""
    labels: list[Any] = classes.tolist()
    if all(isinstance(label, str) for label in labels):
        return labels
    if all(isinstance(label, int) for label in labels):  # also booleans
        return [int(label) for label in labels]
    raise TypeError(f"labels must be strings, integers or booleans for ONNX, got {labels[:3]}")


def _attributes(trees: list[Tree], n_classes: int) -> dict[str, Any]:
    """Nodes and leaves of all trees, as attributes of the operator."""
    sizes = [tree.n_nodes for tree in trees]
    left = np.concatenate([tree.left for tree in trees])
    is_leaf = left < 0
    of_tree, node = np.arange(len(trees)).repeat(sizes), np.concatenate([np.arange(size) for size in sizes])
    threshold = single_precision_thresholds(np.concatenate([tree.threshold for tree in trees]))
    with np.errstate(over="ignore"):
        single = threshold.astype(np.float32)
    # Rounded down, so that every row goes to the same side.
    single = np.where(single > threshold, np.nextafter(single, np.float32(-np.inf)), single)
    leaves = np.flatnonzero(is_leaf).repeat(n_classes)
    values = np.concatenate([tree.values for tree in trees])[is_leaf] / len(trees)
    missing_left = np.concatenate([tree.missing_left for tree in trees])
    return {
        "nodes_treeids": of_tree.tolist(),
        "nodes_nodeids": node.tolist(),
        "nodes_featureids": np.where(is_leaf, 0, np.concatenate([tree.feature for tree in trees])).tolist(),
        "nodes_values": np.where(is_leaf, np.float32(0), single).tolist(),
        "nodes_modes": np.where(is_leaf, "LEAF", "BRANCH_LEQ").tolist(),
        "nodes_truenodeids": np.where(is_leaf, 0, left).tolist(),
        "nodes_falsenodeids": np.where(is_leaf, 0, left + 1).tolist(),
        "nodes_missing_value_tracks_true": missing_left.astype(int).tolist(),
        "class_treeids": of_tree[leaves].tolist(),
        "class_nodeids": node[leaves].tolist(),
        "class_ids": np.tile(np.arange(n_classes), int(is_leaf.sum())).tolist(),
        "class_weights": values.ravel().tolist(),
    }
