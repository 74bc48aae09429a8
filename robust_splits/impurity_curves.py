"""The impurities of split criteria as curves: what a node of two classes costs, by the share of one of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ._validation import check_flag
from .criteria import Criterion, Impurity, get_criterion

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe & Ito's colours without their yellow, which print loses; where they come again the lines are dashed.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")
STYLES = ("-", "--", "-.", ":")
N_STEPS = 400  # even, so that p = 1/2 is among the points
N_MARKERS = 10


def plot_impurity(
    criteria: str | Criterion | Iterable[str | Criterion],
    *,
    scaled: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the impurity I(p, 1 - p) of criteria for two classes, against the share p of one of them.

    The gain of a split is how far the curve, at the parent's p, is above the straight line between the
    children's; where a curve is straight between them there is nothing to gain, and a tree stops.  Such
    pictures are those of Wilton & Ye [1]_, of several criteria and of the negative exponential one for a range
    of lam (Figures 1 and 8).

    Parameters
    ----------
    criteria : str, Criterion, or iterable of them
        As `get_criterion` takes them; those that are a difference of impurities.
    scaled : bool, default=True
        Whether each curve is divided by its value at p = 1/2, its maximum.  Factors do not change which split
        is best, so scaled curves show what criteria differ in; those of the negative exponential criterion
        come to lie inside of the triangle of the misclassification rate without it.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None for pyplot's current axes.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If an argument is not as described, or a criterion has no impurity.
    ValueError
        If a name is unknown or there are no criteria.

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
    """
    from matplotlib.axes import Axes

    named = _named_impurities(criteria)
    scaled = check_flag("scaled", scaled)
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.gca()
    elif not isinstance(ax, Axes):
        raise TypeError(f"ax must be one matplotlib.axes.Axes or None, got {type(ax).__name__}")
    share = np.arange(N_STEPS + 1) / N_STEPS
    for i, (name, criterion) in enumerate(named):
        curve = np.array([criterion.impurity([n, N_STEPS - n]) for n in range(N_STEPS + 1)])
        if scaled:
            curve /= curve.max() or 1.0  # a distribution's loss may cost nothing anywhere
        ax.plot(
            share,
            curve,
            label=name,
            color=COLOURS[i % len(COLOURS)],
            linestyle=STYLES[i // len(COLOURS) % len(STYLES)],
            marker=MARKERS[i % len(MARKERS)],
            markersize=4.5,
            # Where curves coincide, markers that take turns show it.
            markevery=(round((i + 0.5) / len(named) * N_STEPS / N_MARKERS), N_STEPS // N_MARKERS),
        )
    ax.set(
        xlim=(0, 1),
        xlabel="share p of one of two classes",
        ylabel="impurity, divided by that at p = 1/2" if scaled else "impurity",
    )
    ax.set_ylim(bottom=0)
    ax.legend(loc="lower center" if scaled else "best")
    return ax


def _named_impurities(criteria: object) -> list[tuple[str, Impurity]]:
    """Each criterion with the name it is given."""
    listed = [criteria] if isinstance(criteria, str | Criterion) else criteria
    if not isinstance(listed, Iterable):
        raise TypeError(f"criteria must be names or criteria, got {criteria!r}")
    named = []
    for one in listed:
        criterion = get_criterion(one)
        if not isinstance(criterion, Impurity):
            raise TypeError(f"criterion {str(one)!r} has no impurity: its gain is no difference of them")
        named.append((str(one), criterion))
    if not named:
        raise ValueError("criteria must hold at least one criterion, got none")
    return named
