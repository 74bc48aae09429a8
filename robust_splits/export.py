"""Export a fitted tree as text or as a plot, and trees and forests to other tools."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ._base import BaseRobustTrees
from ._checks import NO_LIMIT, check_flag, check_integer, check_number
from .decision_tree import RobustDecisionTreeClassifier
from .onnx_trees import onnx_input, to_onnx
from .skl2onnx_converter import register_onnx_converters
from .sklearn_trees import to_sklearn
from .tree import Tree
from .treelite_trees import to_treelite

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

__all__ = [
    "export_text",
    "onnx_input",
    "plot_tree",
    "register_onnx_converters",
    "to_onnx",
    "to_sklearn",
    "to_treelite",
]

# Okabe & Ito's palette for colour-blind readers.  Black text is legible on tints up to MAX_TINT.
COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")
MAX_TINT = 0.75
BOX_WIDTH, BOX_PADDING = 24, 0.4  # in characters, and in multiples of the font size
MAX_CATEGORIES = 3  # named in a condition, before the others are counted
NBSP = "\N{NO-BREAK SPACE}"


def export_text(
    model: RobustDecisionTreeClassifier,
    *,
    feature_names: Iterable[object] | None = None,
    class_names: Iterable[object] | None = None,
    max_depth: int | None = 10,
    decimals: int = 2,
    show_weights: bool = False,
    show_missing: bool = False,
) -> str:
    """Export the rules of a tree as text, in the format of scikit-learn's `export_text`.

    Categories of a data frame are named: ``town is Bonn or Ulm``.

    Parameters
    ----------
    model : RobustDecisionTreeClassifier
        A fitted tree.
    feature_names : iterable of n_features names or None, default=None
        None for the names seen by ``fit``, or else ``feature_0`` and so on.
    class_names : iterable of n_classes names or None, default=None
        In the order of ``classes_``; None for the class labels.
    max_depth : int or None, default=10
        Splits below this depth are replaced by a note; the root has depth 0.  None for no limit.
    decimals : int, default=2
        Number of decimal places of thresholds and weights.
    show_weights : bool, default=False
        Whether to show the weighted class counts of leaves.
    show_missing : bool, default=False
        Whether to show which branch missing values take, even if `fit` saw none; see `Tree`.  A split that
        separates missing from present values is always shown.

    Returns
    -------
    str
        One line for each branch and leaf.  The class of a leaf is its prediction.

    Raises
    ------
    TypeError, ValueError
        If `model` is not a tree, the number of names is wrong, or an argument is invalid.
    sklearn.exceptions.NotFittedError
        If `model` is not fitted.

    Examples
    --------
    >>> from robust_splits import RobustDecisionTreeClassifier
    >>> from robust_splits.export import export_text
    >>> tree = RobustDecisionTreeClassifier("gini").fit([[1], [2], [3]], ["no", "no", "yes"])
    >>> print(export_text(tree, feature_names=["rank"], show_weights=True), end="")
    |--- rank <= 2.50
    |   |--- weights: [2.00, 0.00] class: no
    |--- rank >  2.50
    |   |--- weights: [0.00, 1.00] class: yes
    """
    tree, features, classes, depth_limit = _check_arguments(model, feature_names, class_names, max_depth)
    categories = _categories(model)
    decimals = check_integer("decimals", decimals, low=0)
    show_weights = check_flag("show_weights", show_weights)
    show_missing = check_flag("show_missing", show_missing)
    values = model.criterion_.clean_proportions(tree.values)
    heights, lines = _heights(tree), []
    # An explicit stack, because trees may be deeper than Python's recursion limit.
    stack = [(0, 0, "")]
    while stack:
        node, depth, branch = stack.pop()
        if branch:
            lines.append("|   " * (depth - 1) + "|--- " + branch)
        indent, left = "|   " * depth + "|--- ", int(tree.left[node])
        if left < 0:
            counts = ", ".join(f"{count:.{decimals}f}" for count in tree.counts[node])
            weights = f"weights: [{counts}] " if show_weights else ""
            lines.append(f"{indent}{weights}class: {classes[values[node].argmax()]}")
        elif depth > depth_limit:
            lines.append(f"{indent}truncated branch of depth {heights[node]}")
        else:
            feature = tree.feature[node]
            branches = _branches(tree, node, features[feature], f".{decimals}f", categories[feature])
            if show_missing and not np.isinf(tree.threshold[node]):
                branches[0 if tree.missing_left[node] else 1] += " or missing"
            stack += [(left + 1, depth + 1, branches[1]), (left, depth + 1, branches[0])]
    return "\n".join(lines) + "\n"


def plot_tree(
    model: RobustDecisionTreeClassifier,
    *,
    feature_names: Iterable[object] | None = None,
    class_names: Iterable[object] | None = None,
    max_depth: int | None = None,
    filled: bool = True,
    ax: Axes | None = None,
    fontsize: float | None = None,
) -> Axes:
    """Draw a tree, with the split, gain, weighted class counts and predicted class of each node in a box.

    The branch of missing values is not drawn; use `export_text` with ``show_missing=True``.

    Parameters
    ----------
    model, feature_names, class_names, max_depth
        As for `export_text`, but without a depth limit by default.
    filled : bool, default=True
        Whether to fill each box with the colour of its class, in a stronger tint for a larger class proportion.
    ax : matplotlib.axes.Axes or None, default=None
        Axes to draw on; None for pyplot's current axes.
    fontsize : float or None, default=None
        Font size in points.  None for Matplotlib's ``font.size``, reduced if boxes would overlap.  Set the
        figure size before drawing a large tree.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError, sklearn.exceptions.NotFittedError
        As for `export_text`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from robust_splits import RobustDecisionTreeClassifier
    >>> from robust_splits.export import plot_tree
    >>> tree = RobustDecisionTreeClassifier("gini").fit([[1], [2], [3]], ["no", "no", "yes"])
    >>> ax = plot_tree(tree, feature_names=["rank"], ax=Figure().subplots())
    >>> ax.texts[0].get_text().splitlines()
    ['rank <= 2.5', 'gain: 0.444', 'weights: [2, 1]', 'class: no']
    """
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgb

    tree, features, classes, depth_limit = _check_arguments(model, feature_names, class_names, max_depth)
    categories = _categories(model)
    filled = check_flag("filled", filled)
    if fontsize is not None:
        fontsize = check_number("fontsize", fontsize, low=0.0, high=np.inf, closed="right")
    if ax is None:
        from matplotlib import pyplot as plt

        ax = plt.gca()
    elif not isinstance(ax, Axes):
        raise TypeError(f"ax must be one matplotlib.axes.Axes or None, got {type(ax).__name__}")
    values, proportions = (
        model.criterion_.clean_proportions(tree.values),
        model.criterion_.clean_proportions(tree.proportions),
    )
    heights = _heights(tree)
    shown, xy = _layout(tree, depth_limit)
    ax.set(xlim=(-0.5, xy[:, 0].max() + 0.5), ylim=(xy[:, 1].max() + 0.5, -0.5))
    ax.set_axis_off()
    edges = [xy[[tree.parent[node], node]] for node in shown[1:]]
    ax.add_collection(LineCollection(edges, colors="0.5", linewidths=1, zorder=1), autolim=False)
    texts = []
    for node in shown:
        best, colour = values[node].argmax(), np.ones(3)
        if tree.left[node] >= 0 and xy[node, 1] > depth_limit:
            lines = [f"truncated branch of depth{NBSP}{heights[node]}"]
        else:
            counts = ", ".join(map(_format_count, tree.counts[node]))
            lines = [f"weights: [{counts}]", f"class: {classes[best]}"]
            if tree.left[node] >= 0:
                feature = tree.feature[node]
                split = _branches(tree, node, features[feature], ".6g", categories[feature])[0]
                lines = [split.replace(" <= ", f" <={NBSP}"), f"gain: {tree.gain[node]:.3g}", *lines]
            if filled:
                # Mixed with white instead of transparent, because edges run underneath the boxes.
                strength = MAX_TINT * proportions[node, best] ** 2
                colour = 1 - strength * (1 - np.array(to_rgb(COLOURS[best % len(COLOURS)])))
        content = "\n".join(textwrap.fill(line, BOX_WIDTH) for line in lines).replace(NBSP, " ")
        box = ax.text(
            xy[node, 0], xy[node, 1], content, ha="center", va="center", color="black", parse_math=False
        )
        box.set_bbox({"boxstyle": f"round,pad={BOX_PADDING}", "facecolor": colour, "edgecolor": "0.3"})
        texts.append(box)
    size = _fit_fontsize(ax, texts, xy[shown]) if fontsize is None else fontsize
    if shown.size > 1:
        for child, label, side in ((1, "true ", "right"), (2, " false", "left")):
            x, y = xy[[0, child]].mean(axis=0)
            texts.append(ax.text(x, y, label, ha=side, va="bottom"))
    for text in texts:
        text.set_fontsize(size)
    return ax


def _check_arguments(
    model: object, feature_names: object, class_names: object, max_depth: object
) -> tuple[Tree, list[str], list[str], int]:
    """Validate arguments; return tree, feature names, class names and depth limit."""
    if not isinstance(model, RobustDecisionTreeClassifier):
        hint = "; pass one of its estimators_" if isinstance(model, BaseRobustTrees) else ""
        raise TypeError(f"model must be a RobustDecisionTreeClassifier, got {type(model).__name__}{hint}")
    check_is_fitted(model, "tree_")
    seen = getattr(model, "feature_names_in_", [f"feature_{i}" for i in range(model.n_features_in_)])
    features = _check_names("feature_names", feature_names, seen, "feature")
    classes = _check_names("class_names", class_names, model.classes_, "class")
    limit = NO_LIMIT if max_depth is None else check_integer("max_depth", max_depth, low=0)
    return model.tree_, features, classes, limit


def _check_names(argument: str, names: object, default: Iterable[object], what: str) -> list[str]:
    default_names = [str(name) for name in default]
    if names is None:
        return default_names
    allowed = f"{argument} must be {len(default_names)} names, one for each {what}, or None"
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"{allowed}, got {names!r}")
    custom = [str(name) for name in names]
    if len(custom) != len(default_names):
        raise ValueError(f"{allowed}, got {len(custom)}: {textwrap.shorten(repr(custom), 80)}")
    return custom


def _categories(model: RobustDecisionTreeClassifier) -> list[list[str]]:
    """Categories of each feature in the order of their ranks; none of a numeric feature."""
    # Trees of a forest have the forest's column names, and none of their own.
    names = getattr(model, "feature_names_in_", getattr(model, "_column_names", None))
    if names is None:
        return [[] for _ in range(model.n_features_in_)]
    ranked = {str(name): [str(category) for category in known] for name, known in model._categories.items()}
    return [ranked.get(str(name), []) for name in names]


def _branches(tree: Tree, node: int, name: str, spec: str, categories: list[str]) -> list[str]:
    """Conditions of the left and the right branch."""
    threshold = tree.threshold[node]
    if np.isnan(threshold) and tree.subsets is not None:
        subset = tree.subsets.of(node)
        if categories:
            is_other = np.isin(np.arange(len(categories)), subset, invert=True)
            others = _any_of([categories[rank] for rank in np.flatnonzero(is_other)])
            names = [categories[int(rank)] for rank in subset]
        else:
            others, names = "any other", [f"{x:g}" for x in subset]
        branches = [f"{name} is {_any_of(names)}", f"{name} is {others}"]
        return branches[::-1] if tree.missing_left[node] else branches
    if np.isinf(threshold):
        return [f"{name} is present", f"{name} is missing"]
    if categories:
        n_left = int(threshold) + 1  # thresholds lie between ranks, which start at 0
        return [f"{name} is {_any_of(part)}" for part in (categories[:n_left], categories[n_left:])]
    return [f"{name} <= {threshold:{spec}}", f"{name} >  {threshold:{spec}}"]


def _any_of(categories: list[str]) -> str:
    """Such as "a", "a or b", "a, b or c" and "a, b, c or 4 more"."""
    n_more = len(categories) - MAX_CATEGORIES
    shown = [*categories[:MAX_CATEGORIES], f"{n_more} more"] if n_more > 1 else categories
    *first, last = shown
    return f"{', '.join(first)} or {last}" if first else last


def _format_count(count: float) -> str:
    return f"{count:.0f}" if count >= 1000 else f"{count:.4g}"


def _heights(tree: Tree) -> NDArray[np.int64]:
    """Number of levels from each node down to its deepest leaf."""
    heights = np.ones(tree.n_nodes, dtype=np.int64)
    for node in np.flatnonzero(tree.left >= 0)[::-1]:
        heights[node] = 1 + heights[tree.left[node] : tree.left[node] + 2].max()
    return heights


def _layout(tree: Tree, depth_limit: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Indices of the drawn nodes, and positions: equally spaced tips, parents centred over their children."""
    depth = tree.node_depth
    drawn = depth - 1 <= depth_limit
    inner = np.flatnonzero((tree.left >= 0) & (depth <= depth_limit))
    xy, tips = np.column_stack([np.zeros(tree.n_nodes), np.where(drawn, depth, 0)]), np.ones(tree.n_nodes)
    for node in inner[::-1]:
        tips[node] = tips[tree.left[node] : tree.left[node] + 2].sum()
    # Top-down, the leftmost tip under each node; then, bottom-up, the centres.
    for node in inner:
        xy[tree.left[node] : tree.left[node] + 2, 0] = xy[node, 0] + np.array([0, tips[tree.left[node]]])
    for node in inner[::-1]:
        xy[node, 0] = xy[tree.left[node] : tree.left[node] + 2, 0].mean()
    return np.flatnonzero(drawn), xy


def _fit_fontsize(ax: Axes, texts: list[Text], xy: NDArray[np.float64]) -> float:
    """Font size, at most the current one, at which boxes neither overlap nor leave the axes."""
    size = float(texts[0].get_fontsize())
    padding = 2 * BOX_PADDING * size * ax.figure.dpi / 72
    boxes = np.array([text.get_window_extent().size for text in texts]) + padding
    n_columns, n_levels = xy.max(axis=0) + 1
    width, height = (boxes / ax.bbox.size * [n_columns, n_levels]).T
    order = np.lexsort(xy.T)
    a, b = order[:-1], order[1:]
    a, b = a[xy[a, 1] == xy[b, 1]], b[xy[a, 1] == xy[b, 1]]
    between = (xy[b, 0] - xy[a, 0]) / (width[a] + width[b]) * 2
    margins = np.minimum(xy[:, 0] + 0.5, n_columns - 0.5 - xy[:, 0]) / width * 2
    # The factor 0.93 leaves some space between boxes; fonts cannot be smaller than one point.
    return max(1.0, size * min(1.0, 0.93 * float(np.min([*between, *margins, 0.8 / height.max()]))))
