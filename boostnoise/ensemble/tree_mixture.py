"""A fitted `RobustClassifier` of forests and boosters as plain arrays, which can be stored without pickle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy.special import expit, softmax

from robust_splits import RobustExtraTreesClassifier, RobustForestClassifier
from robust_splits.tree import Tree
from robust_splits.tree_sums import TreeSums

from ..boosting.lightgbm_classifier import RobustLGBMClassifier
from ..losses.softmax import Floats
from .robust_classifier import RobustClassifier
from .soft_fits import SoftFit

Kind = Literal["forest", "booster"]


@dataclass(frozen=True, eq=False)
class TreeMember:
    """A forest or booster of a mixture.

    Attributes
    ----------
    share : float
        Its weight in the mixture.
    kind : {"forest", "booster"}
        The probabilities are the mean of the trees, or the sigmoid or softmax of their sum.
    classes : list of int
        Class numbers that it knows.
    trees : TreeSums
        With a value for each of these classes; for a booster of two classes, of the second one.
    """

    share: float
    kind: Kind
    classes: list[int]
    trees: TreeSums

    def check(self, n_features: int, n_classes: int) -> None:
        """Raise a ValueError unless it predicts classes from so many features."""
        if self.kind not in get_args(Kind) or not 0 < self.share <= 1 + 1e-9:
            raise ValueError("kind or share is damaged")
        known = all(type(k) is int and 0 <= k < n_classes for k in self.classes)
        if not known or not self.classes or len(set(self.classes)) < len(self.classes):
            raise ValueError("classes are damaged")
        is_binary = self.kind == "booster" and len(self.classes) == 2
        self.trees.check(n_features, 1 if is_binary else len(self.classes))

    def predict_proba(self, X: Floats, n_classes: int) -> Floats:
        """Probabilities of all classes, shape (n, n_classes)."""
        sums = self.trees.sums(X)
        p = np.zeros((len(X), n_classes))
        if self.kind == "forest":
            p[:, self.classes] = sums / self.trees.n_nodes.size
        elif sums.shape[1] == 1:
            p[:, self.classes] = np.column_stack([expit(-sums[:, 0]), expit(sums[:, 0])])
        else:
            p[:, self.classes] = softmax(sums, axis=1)
        return p


@dataclass(frozen=True, eq=False)
class TreeMixture:
    """Forests and boosters that predict as the `RobustClassifier` that they are from.

    Attributes
    ----------
    members : list of TreeMember
    n_features, n_classes : int
    """

    members: list[TreeMember]
    n_features: int
    n_classes: int

    @classmethod
    def of(cls, model: RobustClassifier) -> Self:
        """The members of a classifier that was fitted to numbers with its default candidates.

        Raises
        ------
        TypeError
            If one of its classifiers is neither our forest, our extra-trees nor our LightGBM.
        """
        members = [
            TreeMember(float(share), *_member(fit))
            for fit, share in zip(model._fits, model._shares, strict=True)
        ]
        return cls(members, model.n_features_in_, model.classes_.size)

    def check(self) -> None:
        """Raise a ValueError unless the members predict so many classes from so many features."""
        for member in self.members:
            member.check(self.n_features, self.n_classes)
        if abs(sum(member.share for member in self.members) - 1) > 1e-6:
            raise ValueError("shares do not sum to 1")

    def predict_proba(self, X: Floats) -> Floats:
        """Probabilities of the classes, shape (n, n_classes).

        Parameters
        ----------
        X : float64 array of shape (n, n_features)
            In C order; NaN means a missing value.
        """
        parts = [member.share * member.predict_proba(X, self.n_classes) for member in self.members]
        p: Floats = np.sum(parts, axis=0)
        return p


def _member(fit: SoftFit) -> tuple[Kind, list[int], TreeSums]:
    """Kind, classes and trees of a fitted classifier."""
    model: Any = fit.estimator
    classes = fit.classes[np.asarray(model.classes_, dtype=np.intp)].tolist()
    if isinstance(model, RobustForestClassifier | RobustExtraTreesClassifier):
        trees = [each.tree_ for each in model.estimators_]
        return "forest", classes, TreeSums.of(trees, [tree.values for tree in trees])
    if isinstance(model, RobustLGBMClassifier):
        return "booster", classes, _booster_trees(model.booster_.dump_model())
    raise TypeError(f"only forests and LightGBM can be stored, got {type(model).__name__}")


def _booster_trees(model: dict[str, Any]) -> TreeSums:
    """Trees of a booster of LightGBM that was fitted to numbers."""
    n_outputs = model["num_tree_per_iteration"]
    trees, leaf_values = [], []
    for number, info in enumerate(model["tree_info"]):
        nodes = list(_in_order(info["tree_structure"]))
        trees.append(_tree(nodes))
        values = np.zeros((len(nodes), n_outputs))
        values[:, number % n_outputs] = [node.get("leaf_value", 0.0) for node, _ in nodes]
        leaf_values.append(values)
    return TreeSums.of(trees, leaf_values)


def _in_order(root: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    """Nodes level by level, with the number of the left child (-1 for a leaf); the right one is the next."""
    level, number = [root], 1
    while level:
        below = []
        for node in level:
            if "split_feature" in node:
                yield node, number
                below += [node["left_child"], node["right_child"]]
                number += 2
            else:
                yield node, -1
        level = below


def _tree(nodes: list[tuple[dict[str, Any], int]]) -> Tree:
    """Splits of a tree of LightGBM."""
    nothing = np.empty(0)
    return Tree(
        feature=np.array([node.get("split_feature", -1) for node, _ in nodes], dtype=np.int32),
        threshold=np.array([node.get("threshold", np.nan) for node, _ in nodes], dtype=np.float64),
        missing_left=np.array([_missing_left(node) for node, _ in nodes]),
        left=np.array([left for _, left in nodes], dtype=np.int32),
        weight=nothing,
        n_rows=nothing.astype(np.int64),
        gain=nothing,
        class_or_row=nothing.astype(np.int32),
        mixed_counts=nothing.reshape(0, 1),
    )


def _missing_left(node: dict[str, Any]) -> bool:
    """Whether missing values go left.  Where the training rows had none, LightGBM takes them for 0."""
    if node.get("missing_type") == "None":
        return bool(node["threshold"] >= 0)
    return bool(node.get("default_left", False))
