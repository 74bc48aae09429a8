"""Does what wins under injected noise win under real noise?  Tables and pictures of docs/real_noise.md."""

from __future__ import annotations

import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from scipy.stats import kendalltau

from boostnoise.eval import bayesian_signed_rank, load_run, rank_table
from boostnoise.eval.metrics.domains import domain_means
from boostnoise.eval.statistics.confidence_band import mean_interval

REAL, RIGHT, INJECTED = "real", "right labels", "uniform 0.3"
MEASURES = ("balanced_accuracy", "roc_auc", "accuracy")
SOFT = ("soft_majority", "soft_dawid_skene")  # labels of crowds that are no column of labels
CROWD = "music"
ALWAYS = ("random_forest", "robust", "balanced+robust_forest")  # choices that look at no estimate
# Each of our models beside the one that it replaces.
PAIRS = {
    "robust_forest": "random_forest",
    "balanced+robust_forest": "balanced+random_forest",
    "robust_xgboost": "xgboost",
    "robust_lightgbm": "lightgbm",
    "robust": "lightgbm",
    "cleanlab+lightgbm": "lightgbm",
}
# Places of a label beside its point; the first that overlaps least is taken.
PLACES: list[dict[str, Any]] = [
    {"xytext": (6, 0), "ha": "left", "va": "center"},
    {"xytext": (-6, 0), "ha": "right", "va": "center"},
    {"xytext": (0, 7), "ha": "center", "va": "bottom"},
    {"xytext": (0, -7), "ha": "center", "va": "top"},
]


def with_conditions(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores with the condition that a model was trained under, and the column of noisy labels."""
    real = scores["noise_kind"].str.startswith(REAL)
    column = scores["noise_kind"].str.extract(r"\((.*)\)")[0]
    condition = scores["noise_kind"] + " " + scores["noise_rate"].map("{:g}".format)
    condition = condition.mask(real, REAL).mask(scores["noise_rate"].eq(0), RIGHT)
    scores = scores.assign(condition=condition, column=column.where(real & scores["noise_rate"].gt(0)))
    # Cells without noise are in the scores of each kind.
    return scores[~scores["noise_rate"].eq(0) | scores["noise_kind"].eq("uniform")]


def tables_of(scores: pd.DataFrame, measure: str) -> dict[str, pd.DataFrame]:
    """Data sets by models under each condition; columns of a data set count alike."""
    hard = scores[~scores["column"].isin(SOFT)]
    columns = hard.groupby(["condition", "dataset", "model", hard["column"].fillna("")], sort=False)[
        measure
    ].mean()
    means = columns.groupby(level=[0, 1, 2], sort=False).mean()
    wide = {name: part.droplevel(0).unstack() for name, part in means.groupby(level=0, sort=False)}
    common = set.intersection(*(set(table.dropna().index) for table in wide.values()))
    names = [name for name in scores["dataset"].unique() if name in common]
    return {name: table.loc[names, scores["model"].unique()] for name, table in wide.items()}


def over_domains(values: pd.DataFrame | pd.Series[float], domains: dict[str, str]) -> pd.DataFrame:
    """Mean of each column over the domains, and its 95 % interval."""
    units = domain_means(pd.DataFrame(values), domains)
    low, high = mean_interval(units.to_numpy(dtype=float).T[:, np.newaxis])
    return pd.DataFrame({"mean": units.mean(), "low": low, "high": high, "domains": len(units)})


def mixed_model(values: pd.DataFrame, domains: dict[str, str]) -> pd.DataFrame:
    """Mean of each column with random effects of domains and of their groups, and its 95 % interval."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    paths = pd.Series(domains).loc[values.index].str.split("/")
    rows = {}
    for name, column in values.items():
        data = pd.DataFrame({"value": column, "domain": paths.str[0], "group": paths.str.join(" ")})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a variance may be zero
            model = MixedLM.from_formula(
                "value ~ 1", data, groups="domain", vc_formula={"group": "0 + C(group)"}
            )
            try:
                fitted = model.fit()
                low, high = fitted.conf_int().loc["Intercept"]
            except np.linalg.LinAlgError:  # too few data sets
                rows[name] = dict.fromkeys(("mixed", "mixed low", "mixed high"), np.nan)
                continue
        rows[name] = {"mixed": fitted.params["Intercept"], "mixed low": low, "mixed high": high}
    return pd.DataFrame.from_dict(rows, orient="index")


def agreement(truth: pd.DataFrame, guess: pd.DataFrame) -> pd.DataFrame:
    """Kendall's tau of the models' rankings in each row, and what the winner of the guess loses in truth."""
    rows = {
        name: {
            "tau": kendalltau(truth.loc[name], guess.loc[name]).statistic,
            "loss": truth.loc[name].max() - truth.loc[name, guess.loc[name].idxmax()],
        }
        for name in truth.index
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("dataset")


def draw_ranks(ranks: pd.DataFrame, path: Path) -> None:
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


def draw_domains(table: pd.DataFrame, path: Path) -> None:
    """Balanced accuracy of each model in each domain, relative to the best model there."""
    behind = table.sub(table.max(axis=1), axis=0)
    behind = behind[behind.mean().sort_values(ascending=False).index]
    figure = Figure(figsize=(9.6, 5.2), layout="constrained")
    ax = figure.subplots()
    image = ax.imshow(behind, cmap="viridis", vmin=-0.15, vmax=0, aspect="auto")
    ax.set_xticks(range(behind.shape[1]), behind.columns, rotation=40, ha="right")
    ax.set_yticks(range(len(behind)), behind.index)
    for i, j in np.ndindex(behind.shape):
        value = behind.iat[i, j]
        ax.text(
            j,
            i,
            f"{value:.2f}".replace("-0", "-"),
            ha="center",
            va="center",
            fontsize=8,
            color="w" if value < -0.07 else "k",
        )
    figure.colorbar(image, label="balanced accuracy minus that of the best", extend="min")
    figure.savefig(path, dpi=120)


def show(title: str, table: pd.DataFrame, digits: int = 3) -> None:
    """Print a table."""
    click.echo(f"\n{title}\n{table.round(digits).to_string()}")


def compare_conditions(scores: pd.DataFrame, domains: dict[str, str], pictures: Path | None) -> None:
    """Print what wins under each condition, and how well it predicts what wins under real noise."""
    for measure in MEASURES:
        tables = tables_of(scores, measure)
        for table in tables.values():
            table.attrs["domains"] = domains
        means = pd.DataFrame({name: domain_means(table, domains).mean() for name, table in tables.items()})
        ranks = pd.DataFrame(
            {name: rank_table(table, higher_is_better=True).mean() for name, table in tables.items()}
        ).sort_values(REAL)
        n = len(tables[REAL])
        show(f"Mean {measure} over the domains of {n} data sets", means.loc[ranks.index])
        show("Mean rank over the domains", ranks, 1)
        if measure != MEASURES[0]:
            continue
        show("By domain under real noise", domain_means(tables[REAL], domains).T.loc[ranks.index])
        for name in (RIGHT, REAL, INJECTED):
            compared = {ours: peer for ours, peer in PAIRS.items() if {ours, peer} <= set(tables[name])}
            pairs = {ours: tables[name][ours] - tables[name][peer] for ours, peer in compared.items()}
            found = over_domains(pd.DataFrame(pairs), domains)
            for ours, peer in compared.items():
                table = tables[name][[ours, peer]].copy()
                table.attrs = tables[name].attrs
                outcome = bayesian_signed_rank(table, ours, higher_is_better=True).table.iloc[0]
                found.loc[ours, ["better", "equal", "worse"]] = outcome[["better", "equal", "worse"]]
            with_mixed = found.join(mixed_model(pd.DataFrame(pairs), domains))
            show(f"More {measure} than the peer, the Bayesian test, a mixed model: {name}", with_mixed)
        predicted = {name: agreement(tables[REAL], table) for name, table in tables.items() if name != REAL}
        for what in ("tau", "loss"):
            table = pd.concat(
                {name: over_domains(part[[what]], domains).iloc[0] for name, part in predicted.items()}, axis=1
            ).T
            show(f"How well each condition predicts the ranking under real noise: {what}", table)
        between = [
            kendalltau(tables[REAL].loc[one], tables[REAL].loc[other]).statistic
            for one, other in combinations(tables[REAL].index, 2)
            if domains[one] != domains[other]
        ]
        click.echo(f"tau between two data sets of different groups under real noise: {np.mean(between):.2f}")
        if pictures is not None:
            draw_ranks(ranks, pictures / "real_noise.png")
            draw_domains(domain_means(tables[REAL], domains), pictures / "real_noise_domains.png")


def compare_choices(scores: pd.DataFrame, unchecked: pd.DataFrame, measure: str = MEASURES[0]) -> None:
    """Print how well a user without checked labels chooses the model, from estimates alone."""
    real = scores[scores["column"].notna()]
    truth = real.assign(dataset=real["dataset"] + ": " + real["column"])
    truth = truth.pivot_table(measure, "dataset", "model", sort=False)
    domains = dict(zip(unchecked["dataset"], unchecked["domain"], strict=True))
    conditions = {
        f"{kind} {rate:g} added" if rate else "labels as given": part.pivot_table(measure, "dataset", "model")
        for (kind, rate), part in unchecked.groupby(["noise_kind", "noise_rate"])
    }
    names = set(truth.dropna().index).intersection(*(table.dropna().index for table in conditions.values()))
    order = [name for name in truth.index if name in names]
    truth = truth.loc[order]
    for what in ("tau", "loss"):
        rows = {
            name: over_domains(agreement(truth, table.loc[order, truth.columns])[[what]], domains).iloc[0]
            for name, table in conditions.items()
        }
        always = [model for model in ALWAYS if model in truth] if what == "loss" else []
        for model in always:
            loss = (truth.max(axis=1) - truth[model]).to_frame(what)
            rows[f"always {model}"] = over_domains(loss, domains).iloc[0]
        show(
            f"A choice from estimates on {len(order)} columns of noisy labels: {what}",
            pd.concat(rows, axis=1).T,
        )


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--unchecked", type=click.Path(path_type=Path), help="Also a run of real_noise_unchecked.json.")
@click.option("--pictures", type=click.Path(path_type=Path), help="Also write pictures to this folder.")
def main(folder: Path, unchecked: Path | None, pictures: Path | None) -> None:
    """Print tables of the run of configs/real_noise.json in FOLDER, such as results/real_noise."""
    scores = with_conditions(load_run(folder).scores)
    domains = dict(zip(scores["dataset"], scores["domain"], strict=True))
    compare_conditions(scores, domains, pictures)
    crowd = scores[scores["dataset"].eq(CROWD)]
    if len(crowd):
        crowd = crowd.assign(condition=crowd["column"].fillna(crowd["condition"]))
        show(f"Accuracy on {CROWD}", crowd.pivot_table("accuracy", "model", "condition", sort=False))
    if unchecked is not None:
        compare_choices(scores, load_run(unchecked).scores)


if __name__ == "__main__":
    main()
