"""Critical-difference diagrams: mean ranks over data sets, and groups of models that do not differ [1]_.

References
----------
.. [1] Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 2006.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from numpy.typing import NDArray

from .._wording import counted, p_text
from ..metrics.registry import higher_is_better
from ..statistics.friedman_nemenyi import FriedmanNemenyi, friedman_nemenyi
from ..statistics.score_tables import score_table
from .mathtext import text_of
from .request import PlotRequest

NAME_WIDTH = 30
# Heights in inches: a row of names, a lane of bars, the gaps above the first bar and the first name, the ruler.
ROW, LANE, FIRST_BAR, FIRST_NAME, RULER = 0.26, 0.15, 0.17, 0.12, 0.75
WIDTH, EMPTY_HEIGHT = 8.0, 1.5


def critical_difference_diagram(request: PlotRequest) -> Axes | NDArray[Any]:
    """Draw one diagram per kind of noise, at one noise rate."""
    results = {}
    for kind in request.kinds:
        noise_rate = request.rate_of(kind)
        table = score_table(
            request.scores, request.metric, noise_rate=noise_rate, noise_kind=kind, measure=request.measure
        )
        results[kind] = friedman_nemenyi(table, higher_is_better=higher_is_better(request.metric))
    notes = {kind: _note(result) for kind, result in results.items()}
    if len(notes) > 1:
        notes = {kind: f"Under {text_of(kind)} noise: {note}" for kind, note in notes.items() if note}
    if any(result.has_power for result in results.values()):
        notes[""] = "Bars join models whose mean ranks do not differ significantly (Nemenyi's test, α = 0.05)."
    return request.draw_stack(
        lambda ax, kind: draw_critical_difference(ax, results[kind], request.styles),
        [(WIDTH, diagram_height(result)) for result in results.values()],
        title=f"{request.name}{request.rate_suffix}: mean ranks (1 is best)",
        # Keep "p = 0.01" on one line.
        caption=" ".join(filter(None, notes.values())).replace(" = ", "\u00a0=\u00a0"),
    )


def _note(result: FriedmanNemenyi) -> str:
    parts = []
    if result.has_power:
        sets = counted(result.n_datasets, result.unit)
        parts = [f"Friedman's test over {sets}: {p_text(result.p_value)}.", result.remark]
    if result.dropped:
        parts.append(f"Excluded data sets (a model has no value): {', '.join(result.dropped)}.")
    if result.left_out:
        parts.append(f"Excluded models (no values): {', '.join(result.left_out)}.")
    return " ".join(filter(None, parts))


def diagram_height(result: FriedmanNemenyi) -> float:
    """Height of the diagram in inches."""
    if not result.has_power:
        return EMPTY_HEIGHT
    names = math.ceil(len(result.mean_ranks) / 2) * ROW
    return RULER + FIRST_BAR + len(_lanes(result)) * LANE + FIRST_NAME + names


def draw_critical_difference(
    ax: Axes, result: FriedmanNemenyi, styles: Mapping[str, Mapping[str, Any]]
) -> None:
    """Draw mean ranks on a scale, names on both sides, and bars that join models that do not differ [1]_.

    If the test has no power, its remark is drawn in place of the diagram.

    Parameters
    ----------
    ax : Axes
    result : FriedmanNemenyi
    styles : mapping
        Line styles of the models; see `line_styles`.
    """
    ax.set_axis_off()
    if not result.has_power:
        remark = "\n".join(textwrap.wrap(f"No diagram. {result.remark}", 70))
        ax.text(0.5, 0.5, remark, ha="center", va="center", transform=ax.transAxes)
        return
    ranks = result.mean_ranks
    black: Any = {"color": "black", "solid_capstyle": "butt"}
    n, lanes = len(ranks), _lanes(result)
    ax.set_ylim(diagram_height(result) - RULER, -RULER)  # in inches, downwards from the scale
    ax.set_xlim(1, n)
    ax.plot([1, n], [0, 0], linewidth=1, **black)
    for tick in range(1, n + 1):
        ax.plot([tick, tick], [0, -0.07], linewidth=1, **black)
        ax.text(tick, -0.1, f"{tick}", ha="center", va="bottom", fontsize="small")
    width, y = result.critical_difference, -0.5
    ax.plot(
        [1, 1, 1, 1 + width, 1 + width, 1 + width],
        [y - 0.05, y + 0.05, y, y, y - 0.05, y + 0.05],
        linewidth=1.5,
        **black,
    )
    ax.text(
        1 + width / 2, y - 0.06, f"critical difference {width:.2f}", ha="center", va="bottom", fontsize="small"
    )
    for lane, group in enumerate(lanes):
        # Bars extend slightly beyond the outer ranks, so that a bar over equal ranks is visible.
        y, margin = FIRST_BAR + lane * LANE, 0.012 * (n - 1)
        for low, high in group:
            ax.plot([low - margin, high + margin], [y, y], linewidth=4, gid="group", clip_on=False, **black)
    top = FIRST_BAR + len(lanes) * LANE + FIRST_NAME
    left = math.ceil(n / 2)
    for i, (model, rank) in enumerate(ranks.items()):
        style = styles[str(model)]
        y = top + (i if i < left else n - 1 - i) * ROW
        side, align = (1 - 0.02 * (n - 1), "right") if i < left else (n + 0.02 * (n - 1), "left")
        (line,) = ax.plot(
            [rank, rank, side],
            [0, y, y],
            **{**style, "linewidth": 1.2, "marker": "", "clip_on": False},
        )
        ax.plot([rank, side], [0, y], **{**style, "linestyle": "none", "zorder": 3, "clip_on": False})
        common: Any = {
            "textcoords": "offset points",
            "ha": align,
            "va": "center",
            "fontsize": "small",
            "gid": line.get_gid(),
            "annotation_clip": False,
        }
        # A text of its own, since the name may run from right to left.
        direction = -1 if align == "right" else 1
        ax.annotate(f"{rank:.2f}", (side, y), xytext=(6 * direction, 0), **common)
        ax.annotate(text_of(str(style["label"]), NAME_WIDTH), (side, y), xytext=(36 * direction, 0), **common)


def _lanes(result: FriedmanNemenyi) -> list[list[tuple[float, float]]]:
    """Bars from the best to the worst rank of each group, in lanes without overlaps."""
    ranks, lanes = result.mean_ranks, list[list[tuple[float, float]]]()
    for group in result.groups:
        bar = (float(ranks[group].min()), float(ranks[group].max()))
        gap = 0.05 * (len(ranks) - 1)
        free = next((lane for lane in lanes if lane[-1][1] + gap < bar[0]), None)
        if free is None:
            lanes.append([bar])
        else:
            free.append(bar)
    return lanes
