"""Does what wins under injected noise win under real noise?  Tables from a run of configs/real_noise.json."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import click
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from scipy.stats import kendalltau

from boostnoise.eval import load_run, rank_table, score_table

REAL, INJECTED = "real (heuristic)", "uniform 0.3"
MEASURES = ("balanced_accuracy", "roc_auc", "accuracy")
# Places of a label beside its point; the first that overlaps least is taken.
PLACES = [
    {"xytext": (6, 0), "ha": "left", "va": "center"},
    {"xytext": (-6, 0), "ha": "right", "va": "center"},
    {"xytext": (0, 7), "ha": "center", "va": "bottom"},
    {"xytext": (0, -7), "ha": "center", "va": "top"},
]
CROWD = "music"  # ten classes, labelled by a crowd; all other sets have two, labelled by heuristics


def tables_by_noise(scores: pd.DataFrame, measure: str) -> dict[str, pd.DataFrame]:
    """Scores of data sets by models without noise, and at each rate of each kind of noise."""
    tables = {}
    for kind, of_kind in scores.groupby("noise_kind", sort=False):
        for rate in sorted(of_kind["noise_rate"].unique()):
            is_real = str(kind).startswith("real")
            if rate > 0 or (kind == "uniform"):
                label = "no noise" if rate == 0 else str(kind) if is_real else f"{kind} {rate:g}"
                tables[label] = score_table(of_kind, measure, noise_rate=rate)
    return tables


def tau(one: pd.Series, other: pd.Series) -> float:
    """Kendall's rank agreement of the models on a data set."""
    return float(kendalltau(one, other).statistic)


def draw(ranks: pd.DataFrame, path: Path) -> None:
    """Mean rank under real noise against that under injected noise, a point for each model."""
    figure = Figure(figsize=(7.2, 6.0), layout="constrained")
    ax = figure.subplots()
    ax.plot([1, len(ranks)], [1, len(ranks)], color="0.8", zorder=0)
    ax.scatter(ranks[INJECTED], ranks[REAL])
    ax.set_xlabel("mean rank under 30 % uniform noise (1 is best)")
    ax.set_ylabel("mean rank under real noise (1 is best)")
    ax.set_xlim(right=len(ranks) + 2)
    ax.spines[["top", "right"]].set_visible(False)
    figure.draw_without_rendering()
    points = ax.transData.transform(ranks[[INJECTED, REAL]].to_numpy())
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in points]
    for model, row in ranks.iterrows():
        labels = [
            ax.annotate(str(model), (row[INJECTED], row[REAL]), **place, textcoords="offset points", fontsize=8)
            for place in PLACES
        ]
        boxes = [label.get_window_extent() for label in labels]
        overlaps = [box.count_overlaps(taken) + 10 * (box.x0 < ax.bbox.x0) for box in boxes]
        free = min(range(len(PLACES)), key=overlaps.__getitem__)
        taken.append(boxes[free])
        for label in labels[:free] + labels[free + 1 :]:
            label.remove()
    figure.savefig(path, dpi=120)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--picture", type=click.Path(path_type=Path), help="Also write a picture to this file.")
def main(folder: Path, picture: Path | None) -> None:
    """Print tables of the run in FOLDER, such as results/real_noise."""
    scores = load_run(folder).scores
    of_heuristics = scores[scores["dataset"] != CROWD]
    for measure in MEASURES:
        tables = tables_by_noise(of_heuristics, measure)
        ranks = pd.DataFrame(
            {label: rank_table(table, higher_is_better=True).mean() for label, table in tables.items()}
        ).sort_values(REAL)
        means = pd.DataFrame({label: table.mean() for label, table in tables.items()}).loc[ranks.index]
        real = tables[REAL]
        agreement = {
            label: np.mean([tau(real.loc[name], table.loc[name]) for name in real.index])
            for label, table in tables.items()
            if not label.startswith("real")
        }
        between = np.mean([tau(real.loc[one], real.loc[other]) for one, other in combinations(real.index, 2)])
        click.echo(f"\nMean {measure} over {len(real)} data sets\n{means.round(3).to_string()}")
        click.echo(f"\nMean rank\n{ranks.round(1).to_string()}")
        click.echo("\nKendall's tau with the ranking under real noise, mean over data sets")
        click.echo(pd.Series(agreement).round(2).to_string())
        click.echo(f"between the rankings of two data sets under real noise: {between:.2f}")
        if picture is not None and measure == MEASURES[0]:
            draw(ranks, picture)
    tables = tables_by_noise(scores[scores["dataset"] == CROWD], "accuracy")
    crowd = pd.DataFrame({label: table.loc[CROWD] for label, table in tables.items()})
    click.echo(f"\nAccuracy on {CROWD}\n{crowd.round(3).to_string()}")


if __name__ == "__main__":
    main()
