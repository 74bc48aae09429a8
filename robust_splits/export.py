"""A fitted tree for people to read: as text, and as a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ._base import BaseRobustTrees
from ._validation import NO_LIMIT, check_count, check_flag, check_share
from .decision_tree import RobustDecisionTreeClassifier
from .tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

# Okabe & Ito's colours, which colour-blind readers can tell apart; black text can be read on this much of them.
COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")
STRONGEST = 0.75
BOX_WIDTH, BOX_PADDING = 24, 0.4  # in characters, and in sizes of the font
TIE = "\N{NO-BREAK SPACE}"


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
    """Rules of a tree as text, in the layout of scikit-learn's function of this name.

    Parameters
    ----------
    model : RobustDecisionTreeClassifier
        A fitted tree.
    feature_names : iterable of n_features names or None, default=None
        None for those seen by ``fit``, or ``feature_0`` and so on.
    class_names : iterable of n_classes names or None, default=None
        In the order of ``classes_``; None for the labels themselves.
    max_depth : int or None, default=10
        Splits below this depth are left out, and it is said where; the root has depth 0.  None for no limit.
    decimals : int, default=2
        Number of decimals of thresholds and weights.
    show_weights : bool, default=False
        Whether to give the weighted class counts of leaves.
    show_missing : bool, default=False
        Whether to tell which branch missing values take, also where none were seen; see `Tree`.  A split of
        missing from present values is always shown as such.

    Returns
    -------
    str
        One line for each branch and leaf.  The class of a leaf is the one that it predicts.

    Raises
    ------
    TypeError, ValueError
        If `model` is no tree, the number of names is wrong, or an argument not as described.
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
    tree, features, classes, depth_limit = _checked(model, feature_names, class_names, max_depth)
    decimals = check_count("decimals", decimals, low=0)
    show_weights = check_flag("show_weights", show_weights)
    show_missing = check_flag("show_missing", show_missing)
    heights, lines = _heights(tree), []
    # Without recursion, for trees may be deeper than Python's stack; what is pushed last comes first.
    stack = [(0, 0, "")]
    while stack:
        node, depth, branch = stack.pop()
        if branch:
            lines.append("|   " * (depth - 1) + "|--- " + branch)
        indent, left = "|   " * depth + "|--- ", int(tree.left[node])
        if left < 0:
            counts = ", ".join(f"{count:.{decimals}f}" for count in tree.counts[node])
            weights = f"weights: [{counts}] " if show_weights else ""
            lines.append(f"{indent}{weights}class: {classes[tree.values[node].argmax()]}")
        elif depth > depth_limit:
            lines.append(f"{indent}truncated branch of depth {heights[node]}")
        else:
            threshold = tree.threshold[node]
            branches = _branches(features[tree.feature[node]], threshold, f".{decimals}f")
            if show_missing and np.isfinite(threshold):
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
    """Draw a tree: a box for each node with its split, gain, weighted class counts, and predicted class.

    Which branch missing values take is not drawn; `export_text` tells with ``show_missing=True``.

    Parameters
    ----------
    model, feature_names, class_names, max_depth
        As for `export_text`, but by default without limit of depth.
    filled : bool, default=True
        Whether boxes have the colour of their class, the stronger the larger its share.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None for pyplot's current axes.
    fontsize : float or None, default=None
        Size of text in points.  None for Matplotlib's ``font.size``, or less where boxes would overlap; so a
        large tree needs a large figure, whose size is to be set first.

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

    tree, features, classes, depth_limit = _checked(model, feature_names, class_names, max_depth)
    filled = check_flag("filled", filled)
    if fontsize is not None:
        fontsize = check_share("fontsize", fontsize, low=0.0, high=np.inf, open_low=True)
    if ax is None:
        from matplotlib import pyplot as plt

        ax = plt.gca()
    elif not isinstance(ax, Axes):
        raise TypeError(f"ax must be one matplotlib.axes.Axes or None, got {type(ax).__name__}")
    heights = _heights(tree)
    shown, at = _layout(tree, depth_limit)
    ax.set(xlim=(-0.5, at[:, 0].max() + 0.5), ylim=(at[:, 1].max() + 0.5, -0.5))
    ax.set_axis_off()
    edges = [at[[tree.parent[node], node]] for node in shown[1:]]
    ax.add_collection(LineCollection(edges, colors="0.5", linewidths=1, zorder=1), autolim=False)
    texts = []
    for node in shown:
        best, colour = tree.values[node].argmax(), np.ones(3)
        if tree.left[node] >= 0 and at[node, 1] > depth_limit:
            lines = [f"truncated branch of depth{TIE}{heights[node]}"]
        else:
            lines = [f"weights: [{', '.join(map(_number, tree.counts[node]))}]", f"class: {classes[best]}"]
            if tree.left[node] >= 0:
                split = _branches(features[tree.feature[node]], tree.threshold[node], ".6g")[0]
                lines = [split.replace(" <= ", f" <={TIE}"), f"gain: {tree.gain[node]:.3g}", *lines]
            if filled:
                # Mixed with white, not transparent, for the lines between boxes end under them.
                strength = STRONGEST * tree.proportions[node, best] ** 2
                colour = 1 - strength * (1 - np.array(to_rgb(COLOURS[best % len(COLOURS)])))
        text = "\n".join(textwrap.fill(line, BOX_WIDTH) for line in lines).replace(TIE, " ")
        drawn = ax.text(
            at[node, 0], at[node, 1], text, ha="center", va="center", color="black", parse_math=False
        )
        drawn.set_bbox({"boxstyle": f"round,pad={BOX_PADDING}", "facecolor": colour, "edgecolor": "0.3"})
        texts.append(drawn)
    size = _fitting_size(ax, texts, at[shown]) if fontsize is None else fontsize
    if shown.size > 1:
        for child, word, side in ((1, "true ", "right"), (2, " false", "left")):
            x, y = at[[0, child]].mean(axis=0)
            texts.append(ax.text(x, y, word, ha=side, va="bottom"))
    for drawn in texts:
        drawn.set_fontsize(size)
    return ax


def _checked(
    model: object, feature_names: object, class_names: object, max_depth: object
) -> tuple[Tree, list[str], list[str], int]:
    """Tree, names of features and classes, and limit of depth."""
    if not isinstance(model, RobustDecisionTreeClassifier):
        hint = "; pass one of its estimators_" if isinstance(model, BaseRobustTrees) else ""
        raise TypeError(f"model must be a RobustDecisionTreeClassifier, got {type(model).__name__}{hint}")
    check_is_fitted(model, "tree_")
    seen = getattr(model, "feature_names_in_", [f"feature_{i}" for i in range(model.n_features_in_)])
    features = _names("feature_names", feature_names, seen, "feature")
    classes = _names("class_names", class_names, model.classes_, "class")
    limit = NO_LIMIT if max_depth is None else check_count("max_depth", max_depth, low=0)
    return model.tree_, features, classes, limit


def _names(argument: str, given: object, default: Iterable[object], what: str) -> list[str]:
    names = [str(name) for name in default]
    if given is None:
        return names
    allowed = f"{argument} must be {len(names)} names, one for each {what}, or None"
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{allowed}, got {given!r}")
    own = [str(name) for name in given]
    if len(own) != len(names):
        raise ValueError(f"{allowed}, got {len(own)}: {textwrap.shorten(repr(own), 80)}")
    return own


def _branches(name: str, threshold: float, spec: str) -> list[str]:
    """What holds on the left, and on the right."""
    if np.isinf(threshold):
        return [f"{name} is present", f"{name} is missing"]
    return [f"{name} <= {threshold:{spec}}", f"{name} >  {threshold:{spec}}"]


def _number(count: float) -> str:
    return f"{count:.0f}" if count >= 1000 else f"{count:.4g}"


def _heights(tree: Tree) -> NDArray[np.int64]:
    """Number of levels from each node down to its deepest leaf."""
    heights = np.ones(tree.n_nodes, dtype=np.int64)
    for node in np.flatnonzero(tree.left >= 0)[::-1]:
        heights[node] = 1 + heights[tree.left[node] : tree.left[node] + 2].max()
    return heights


def _layout(tree: Tree, depth_limit: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Which nodes are drawn, and where: drawn tips at equal distances, parents centred over their children."""
    depth = tree.node_depth
    drawn = depth - 1 <= depth_limit
    inner = np.flatnonzero((tree.left >= 0) & (depth <= depth_limit))
    at, tips = np.column_stack([np.zeros(tree.n_nodes), np.where(drawn, depth, 0)]), np.ones(tree.n_nodes)
    for node in inner[::-1]:
        tips[node] = tips[tree.left[node] : tree.left[node] + 2].sum()
    # First the leftmost tip under each node, from the root down; then the centres, from the tips up.
    for node in inner:
        at[tree.left[node] : tree.left[node] + 2, 0] = at[node, 0] + np.array([0, tips[tree.left[node]]])
    for node in inner[::-1]:
        at[node, 0] = at[tree.left[node] : tree.left[node] + 2, 0].mean()
    return np.flatnonzero(drawn), at


def _fitting_size(ax: Axes, texts: list[Text], at: NDArray[np.float64]) -> float:
    """Size of font at which boxes neither overlap nor leave the axes, at most the present one."""
    size = float(texts[0].get_fontsize())
    padding = 2 * BOX_PADDING * size * ax.figure.dpi / 72
    boxes = np.array([text.get_window_extent().size for text in texts]) + padding
    n_columns, n_levels = at.max(axis=0) + 1
    width, height = (boxes / ax.bbox.size * [n_columns, n_levels]).T
    order = np.lexsort(at.T)
    a, b = order[:-1], order[1:]
    a, b = a[at[a, 1] == at[b, 1]], b[at[a, 1] == at[b, 1]]
    between = (at[b, 0] - at[a, 0]) / (width[a] + width[b]) * 2
    margins = np.minimum(at[:, 0] + 0.5, n_columns - 0.5 - at[:, 0]) / width * 2
    # Some space is left between boxes; below one point there is no font.
    return max(1.0, size * min(1.0, 0.93 * float(np.min([*between, *margins, 0.8 / height.max()]))))
