"""Fitted trees and forests as ONNX models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._forest import BaseForest
from ._rows import as_dense
from ._stored_tree import expand
from .decision_tree import RobustDecisionTreeClassifier
from .sklearn_trees import check_convertible, single_precision_thresholds
from .tree import Tree

ML_DOMAIN = "ai.onnx.ml"
ML_OPSET, OPSET, IR_VERSION = 3, 15, 8  # old ones, which every runtime reads
ROWS, LABEL, PROBABILITIES = "X", "label", "probabilities"
FLOAT, INT64, STRING = 1, 7, 8  # element types, as numbered by ONNX
MAX_CATEGORY = 1 << 24  # larger integers are not exact in single precision


@dataclass(frozen=True)
class Operator:
    """An operator of the graph of a model.

    Attributes
    ----------
    name, domain : str
    version : int
        Version of the operator, at most `ML_OPSET` or `OPSET`.
    inputs, outputs : tuple of str
    attributes : dict
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    domain: str = ""
    version: int = 13
    attributes: dict[str, Any] = field(default_factory=dict)


def to_onnx(model: RobustDecisionTreeClassifier | BaseForest) -> Any:
    """Convert a fitted tree or forest to ONNX, with missing values and categories.

    Parameters
    ----------
    model : RobustDecisionTreeClassifier, RobustForestClassifier or RobustExtraTreesClassifier
        Fitted on labels that are strings, integers or booleans.

    Returns
    -------
    onnx.ModelProto
        Input ``X``, of type float32 and shape (n, n_features); outputs ``label``, of shape (n,), and
        ``probabilities``, of type float32 and shape (n, n_classes), in the order of ``classes_``.  NaN means a
        missing value.  `onnx_input` makes this input from rows, also from data frames with categories, which
        become their ranks.  The metadata ``categories`` are the JSON of an object with the categories of each
        such column, in the order of their ranks.  Probabilities are those of the model but for rounding errors
        of the order 1e-7, and for rows that single precision moves across a threshold; see
        `single_precision_thresholds`.

    Raises
    ------
    ImportError
        If onnx is not installed: ``pip install boostnoise[export]``.
    TypeError
        If `model` is none of these classes, or its labels have another type.
    ValueError
        If the criterion corrects the probabilities for noise, or the number of a category is above 2^24.
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
    check_convertible(model, categories=True)
    from onnx import helper

    n_classes = int(model.n_classes_)
    graph = helper.make_graph(
        [
            helper.make_node(one.name, one.inputs, one.outputs, domain=one.domain, **one.attributes)
            for one in operators_of(model)
        ],
        type(model).__name__,
        [helper.make_tensor_value_info(ROWS, FLOAT, [None, model.n_features_in_])],
        [
            helper.make_tensor_value_info(LABEL, constants_of(model)["classes"][0], [None]),
            helper.make_tensor_value_info(PROBABILITIES, FLOAT, [None, n_classes]),
        ],
        [helper.make_tensor(name, *content) for name, content in constants_of(model).items()],
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ML_DOMAIN, ML_OPSET)]
    onnx = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="robust_splits")
    if model._categories:
        categories = {str(name): values for name, values in model._categories.items()}
        helper.set_model_props(onnx, {"categories": json.dumps(categories, default=str)})
    return onnx


def onnx_input(model: RobustDecisionTreeClassifier | BaseForest, X: Any) -> NDArray[np.float32]:
    """Rows in the form that the ONNX model of `to_onnx` reads.

    Parameters
    ----------
    model : RobustDecisionTreeClassifier, RobustForestClassifier or RobustExtraTreesClassifier
        Fitted.
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        As for ``model.predict``.

    Returns
    -------
    float32 array of shape (n_samples, n_features)
        Categories are their ranks; missing and unknown ones are NaN.
    """
    return as_dense(model._check_features(X)).astype(np.float32)


def operators_of(model: Any) -> list[Operator]:
    """Operators of a fitted model, from `ROWS` to `LABEL` and `PROBABILITIES`."""
    trees = [expand(tree) for tree in model._stored_trees()]
    n_classes = int(model.n_classes_)
    # The ensemble's own labels depend on thresholds that runtimes disagree on.
    ensemble = {
        "post_transform": "NONE",
        "classlabels_int64s": list(range(n_classes)),
        **_attributes(trees, n_classes),
    }
    return [
        Operator("TreeEnsembleClassifier", (ROWS,), ("unused", PROBABILITIES), ML_DOMAIN, 1, ensemble),
        Operator("ArgMax", (PROBABILITIES,), ("number",), attributes={"axis": 1, "keepdims": 0}),
        Operator("ArrayFeatureExtractor", ("classes", "number"), ("row",), ML_DOMAIN, 1),
        Operator("Reshape", ("row", "shape"), (LABEL,)),
    ]


def constants_of(model: Any) -> dict[str, tuple[int, list[int], list[Any]]]:
    """Element type, shape and values of the constants that the operators read."""
    labels = _class_labels(model.classes_)
    label_type = STRING if isinstance(labels[0], str) else INT64
    return {"classes": (label_type, [1, len(labels)], labels), "shape": (INT64, [1], [-1])}


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
    flat = [_FlatTree.of(tree) for tree in trees]
    sizes = [tree.mode.size for tree in flat]

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(tree, name) for tree in flat])

    of_tree, node = np.arange(len(trees)).repeat(sizes), np.concatenate([np.arange(size) for size in sizes])
    leaves = np.flatnonzero(joined("mode") == "LEAF").repeat(n_classes)
    values = np.concatenate([tree.values[tree.left < 0] for tree in trees]) / len(trees)
    return {
        "nodes_treeids": of_tree.tolist(),
        "nodes_nodeids": node.tolist(),
        "nodes_featureids": joined("feature").tolist(),
        "nodes_values": joined("value").tolist(),
        "nodes_modes": joined("mode").tolist(),
        "nodes_truenodeids": joined("true").tolist(),
        "nodes_falsenodeids": joined("false").tolist(),
        "nodes_missing_value_tracks_true": joined("missing_true").astype(int).tolist(),
        "class_treeids": of_tree[leaves].tolist(),
        "class_nodeids": node[leaves].tolist(),
        "class_ids": np.tile(np.arange(n_classes), leaves.size // n_classes).tolist(),
        "class_weights": values.ravel().tolist(),
    }


@dataclass(frozen=True)
class _FlatTree:
    """Nodes of a tree in the form of the operator, each attribute an array of shape (n_nodes,).

    A split of categories is a chain of nodes, one for each category of its subset.
    """

    feature: NDArray[np.int64]
    value: NDArray[np.float32]
    mode: NDArray[np.str_]
    true: NDArray[np.int64]
    false: NDArray[np.int64]
    missing_true: NDArray[np.bool_]

    @classmethod
    def of(cls, tree: Tree) -> _FlatTree:
        is_leaf = tree.left < 0
        threshold = single_precision_thresholds(np.where(np.isnan(tree.threshold), 0.0, tree.threshold))
        with np.errstate(over="ignore"):
            single = threshold.astype(np.float32)
        # Rounded down, so that every row goes to the same side.
        single = np.where(single > threshold, np.nextafter(single, np.float32(-np.inf)), single)
        flat = cls(
            np.where(is_leaf, 0, tree.feature).astype(np.int64),
            np.where(is_leaf, np.float32(0), single),
            np.where(is_leaf, "LEAF", "BRANCH_LEQ"),
            np.where(is_leaf, 0, tree.left).astype(np.int64),
            np.where(is_leaf, 0, tree.left + 1).astype(np.int64),
            tree.missing_left & ~is_leaf,
        )
        if tree.subsets is None or not (tree.subsets.of_node >= 0).any():
            return flat
        return flat._with_chains(tree)

    def _with_chains(self, tree: Tree) -> _FlatTree:
        links = list(_chains(tree))
        nodes = np.array([node for node, *_ in links])
        n_added = int(nodes.max()) + 1 - tree.n_nodes
        extended = {
            name: np.concatenate([array, np.zeros(max(0, n_added), array.dtype)])
            for name, array in vars(self).items()
        }
        of_node = np.array([link[1] for link in links])
        extended["feature"][nodes] = tree.feature[of_node]
        extended["value"][nodes] = [link[2] for link in links]
        extended["mode"][nodes] = "BRANCH_EQ"
        extended["true"][nodes] = [link[3] for link in links]
        extended["false"][nodes] = [link[4] for link in links]
        extended["missing_true"][nodes] = False
        return _FlatTree(**extended)


def _chains(tree: Tree) -> Iterator[tuple[int, int, float, int, int]]:
    """Links of the chains: their node, the node of the tree, the category, and both following nodes."""
    subsets, free = tree.subsets, tree.n_nodes
    assert subsets is not None  # noqa: S101 - for the type checker
    for node in np.flatnonzero(subsets.of_node >= 0).tolist():
        # Missing values, and all categories outside of the subset, leave the chain at its end.
        sides = int(tree.left[node]), int(tree.left[node]) + 1
        rest, chosen = sides if tree.missing_left[node] else sides[::-1]
        values = subsets.of(node) if subsets.of(node).size else np.array([np.inf])  # of no row
        if (largest := np.abs(values[np.isfinite(values)]).max(initial=0.0)) > MAX_CATEGORY:
            raise ValueError(f"numbers of categories must be at most 2^24 for ONNX, got {largest:.0f}")
        at = node
        for i, value in enumerate(values):
            following = rest if i == values.size - 1 else free
            yield at, node, float(value), chosen, following
            if i < values.size - 1:
                at, free = free, free + 1
