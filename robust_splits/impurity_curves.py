"""Plots of two-class impurities and gains against a class proportion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ._checks import check_flag
from .criteria import get_criterion
from .criterion import Criterion, Impurity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe & Ito's palette without yellow, which is faint in print.  When colours repeat, the line style changes.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")
STYLES = ("-", "--", "-.", ":")
N_STEPS = 400  # even, so that p = 1/2 is one of the points
N_MARKERS = 10


def plot_impurity(
    criteria: str | Criterion | Iterable[str | Criterion],
    *,
    scaled: bool = True,
    splits: Iterable[tuple[float, float, float]] = (),
    ax: Axes | None = None,
) -> Axes:
    """Plot the impurity I(p, 1 - p) of criteria for two classes against the proportion p of one class.

    The gain of a split is the vertical distance, at the parent's p, from the curve down to the chord between
    the children.  If the curve is straight between the children, the gain is 0 and the tree stops.  Wilton &
    Ye [1]_ show such plots for several criteria, and for the negative exponential criterion over a range of lam
    (Figures 1 and 8).

    Parameters
    ----------
    criteria : str, Criterion, or iterable of them
        As for `get_criterion`; each must be an `Impurity`.
    scaled : bool, default=True
        Whether to divide each curve by its maximum, the value at p = 1/2.  A constant factor does not change
        which split is best, so scaled curves show the relevant differences.  Unscaled, the curves of the
        negative exponential criterion lie within the triangle of the misclassification rate.
    splits : iterable of (float, float, float), default=()
        Splits to draw on each curve, each as the p of the left child, of the parent and of the right child, in
        increasing order: the chord between the children, and the gain as a vertical line at the parent.  The
        legend has the gain, divided by the maximum of the curve if `scaled`.
    ax : matplotlib.axes.Axes or None, default=None
        Axes to draw on; None for pyplot's current axes.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If an argument has the wrong type, or a criterion has no impurity.
    ValueError
        If a name is unknown, `criteria` is empty, or a split is not three increasing numbers from 0 to 1.

    References
    ----------
    .. [1] Wilton & Ye, "Robust Loss Functions for Training Decision Trees with Noisy Labels", AAAI 2024.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from robust_splits import plot_impurity
    >>> ax = plot_impurity(["gini", "misclassification"], ax=Figure().subplots())
    >>> [line.get_label() for line in ax.lines]
    ['gini', 'misclassification']
    >>> ax = plot_impurity("ne(1)", splits=[(0.0, 0.5, 0.67), (0.2, 0.5, 0.8)], ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['ne(1)', '0 and 0.67: gain 0.507', '0.2 and 0.8: gain 0.600']
    """
    named: list[tuple[str, Impurity]] = []
    for name, criterion in _named_criteria(criteria):
        if not isinstance(criterion, Impurity):
            raise TypeError(
                f"criterion {name!r} has no impurity, as its gain is not a decrease in impurity; use plot_gain"
            )
        named.append((name, criterion))
    curves = [
        (name, np.array([criterion.impurity([n, N_STEPS - n]) for n in range(N_STEPS + 1)]))
        for name, criterion in named
    ]
    scaled = check_flag("scaled", scaled)
    if not isinstance(splits, Iterable):
        raise TypeError(f"splits must be a list of triples, got {splits!r}")
    checked = [_checked_split(split) for split in splits]
    ax = _check_axes(ax)
    _draw(ax, curves, scaled)
    for i, ((name, criterion), (_, curve)) in enumerate(zip(named, curves, strict=True)):
        scale = _scale(curve) if scaled else 1.0
        for j, split in enumerate(checked):
            height = [criterion.impurity([p, 1 - p]) / scale for p in split]
            colour = COLOURS[(len(named) + i * len(checked) + j) % len(COLOURS)]
            shift = 0.01 * (j - (len(checked) - 1) / 2)  # splits of the same parent
            _draw_split(ax, split, height, colour, shift, prefix=f"{name}, " if len(named) > 1 else "")
    ax.set(
        xlabel="proportion p of one class",
        ylabel="impurity, scaled to a maximum of 1" if scaled else "impurity",
    )
    ax.set_ylim(bottom=0)
    ax.legend(loc="lower center" if scaled and not checked else "best")
    return ax


def plot_gain(
    criteria: str | Criterion | Iterable[str | Criterion],
    *,
    scaled: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Plot the gain of splits of a node in which two classes are equally frequent.

    Each split divides the node into two halves of 400 rows, with the proportion p of one class in one half and
    1 - p in the other.  The gain is drawn against p.  Criteria without an impurity, such as `Twoing` and
    `Pairwise`, can be compared with the others in this way.  Yang, Gao & Li [1]_ draw gains against p in their
    Figure 1.  The gains of `Pairwise` and `Misclassification` are linear in the difference of the proportions,
    those of `Gini` and `Twoing` quadratic.

    Parameters
    ----------
    criteria : str, Criterion, or iterable of them
        As for `get_criterion`.
    scaled : bool, default=True
        Whether to divide each curve by its maximum, the gain of the split into pure halves.  The units of the
        criteria differ: `Pairwise` counts pairs of rows.
    ax : matplotlib.axes.Axes or None, default=None
        Axes to draw on; None for pyplot's current axes.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If a name is unknown or `criteria` is empty.

    References
    ----------
    .. [1] Yang, Gao & Li, "On the robust splitting criterion of random forest", ICDM 2019.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from robust_splits import plot_gain
    >>> ax = plot_gain(["gini", "entropy", "pairwise"], ax=Figure().subplots())
    >>> [line.get_label() for line in ax.lines]
    ['gini', 'entropy', 'pairwise']
    """
    named = _named_criteria(criteria)
    scaled = check_flag("scaled", scaled)
    ax = _check_axes(ax)
    halves = [[n, N_STEPS - n] for n in range(N_STEPS + 1)]
    curves = [
        (name, np.array([criterion.gain(half, half[::-1]) for half in halves])) for name, criterion in named
    ]
    _draw(ax, curves, scaled)
    ax.set(
        xlabel="proportion p of one class in one half, 1 - p in the other",
        ylabel="gain, scaled to a maximum of 1" if scaled else "gain",
    )
    ax.legend(loc="upper center" if scaled else "best")
    return ax


def _check_axes(ax: Axes | None) -> Axes:
    """The axes to draw on."""
    from matplotlib.axes import Axes

    if ax is None:
        import matplotlib.pyplot as plt

        return plt.gca()
    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be one matplotlib.axes.Axes or None, got {type(ax).__name__}")
    return ax


def _draw(ax: Axes, curves: list[tuple[str, NDArray[np.float64]]], scaled: bool) -> None:
    """Draw curves against `N_STEPS` + 1 proportions from 0 to 1."""
    for i, (name, curve) in enumerate(curves):
        ax.plot(
            np.arange(N_STEPS + 1) / N_STEPS,
            curve / _scale(curve) if scaled else curve,
            label=name,
            color=COLOURS[i % len(COLOURS)],
            linestyle=STYLES[i // len(COLOURS) % len(STYLES)],
            marker=MARKERS[i % len(MARKERS)],
            markersize=4.5,
            # Staggered markers reveal curves that coincide.
            markevery=(round((i + 0.5) / len(curves) * N_STEPS / N_MARKERS), N_STEPS // N_MARKERS),
        )
    ax.set_xlim(0, 1)


def _scale(curve: NDArray[np.float64]) -> float:
    """Maximum of a curve; 1 if it is not positive, as for the impurity of some distributions."""
    highest = float(curve.max())
    return highest if highest > 0 else 1.0


def _draw_split(
    ax: Axes, split: list[float], height: list[float], colour: str, shift: float, prefix: str
) -> None:
    """Draw the chord between the children of a split, and its gain at the parent."""
    left, parent, right = split
    mean = height[0] + (height[2] - height[0]) * (parent - left) / (right - left)
    label = f"{prefix}{left:g} and {right:g}: gain {height[1] - mean:.3f}"
    ax.plot([left, right], [height[0], height[2]], "o-", color=colour, markersize=4.5, label=label)
    ax.plot([parent + shift] * 2, [mean, height[1]], ".-", color=colour)


def _checked_split(split: object) -> list[float]:
    try:
        found = np.asarray(split, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (3,) or not 0 <= found[0] < found[1] < found[2] <= 1:
        raise ValueError(
            "splits must contain triples of increasing numbers from 0 to 1, the p of the left child, "
            f"the parent and the right child; got {split!r}"
        )
    return [float(p) for p in found]


def _named_criteria(criteria: object) -> list[tuple[str, Criterion]]:
    """Criteria with their labels in the legend."""
    listed = [criteria] if isinstance(criteria, str | Criterion) else criteria
    if not isinstance(listed, Iterable):
        raise TypeError(f"criteria must be names or criteria, got {criteria!r}")
    named = [(str(one), get_criterion(one)) for one in listed]
    if not named:
        raise ValueError("criteria must contain at least one criterion, got none")
    return named
