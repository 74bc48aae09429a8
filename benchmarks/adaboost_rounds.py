"""Does AdaBoost's training error vanish with more rounds, and at what price?  README.md has the results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import matplotlib.pyplot as plt
import pandas as pd

from boostnoise.eval import Config, Plan, cell_labels, load_config, plan
from boostnoise.eval.models.factory import build
from boostnoise.eval.models.resolved_model import resolve

KIND = "label"  # of noise in the 2020 study
PANELS = {"training": "training error", "clean_test": "error on true test labels", "ela": "ELA"}


@click.command(context_settings={"max_content_width": 120})
@click.argument("config", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--csv", type=click.Path(dir_okay=False, path_type=Path), help="File for the errors of each data set."
)
@click.option("--picture", type=click.Path(dir_okay=False, path_type=Path), help="File for a picture.")
def main(config: Path, csv: Path | None, picture: Path | None) -> None:
    """Print errors of AdaBoost after each number of rounds, from one fit for each data set and rate of noise.

    CONFIG is configs/studies/2020_adaboost_rounds.json, or one like it.
    """
    loaded = load_config(config)
    planned = plan(loaded)
    errors = pd.concat(
        [
            errors_of_a_cell(loaded, planned, dataset, rate)
            for dataset in planned.datasets
            for rate in loaded.noise[0].rates
        ]
    )
    if csv is not None:
        errors.to_csv(csv, index=False)
    a_0 = 1 - errors[errors["rate"] == 0].set_index(["dataset", "rounds"])["test"]
    errors["ela"] = errors["test"] / a_0[pd.MultiIndex.from_frame(errors[["dataset", "rounds"]])].to_numpy()
    means = errors.pivot_table(index="rounds", columns="rate", values=list(PANELS))[list(PANELS)]
    click.echo(means.round(3).to_string())
    if picture is not None:
        draw(means, picture)


def draw(means: pd.DataFrame, picture: Path) -> None:
    """Draw each error against the number of rounds, with a line for each rate of noise."""
    figure, axes = plt.subplots(1, len(PANELS), figsize=(9, 3), layout="constrained")
    for ax, (name, label) in zip(axes, PANELS.items(), strict=True):
        for rate, errors in means[name].items():
            ax.plot(errors.index, errors, marker="o", markersize=4, label=f"{rate:.0%} noise")
        ax.set(xscale="log", xlabel="rounds", ylabel=label, ylim=(0, None))
        ax.grid(alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=means["ela"].shape[1])
    figure.savefig(picture, dpi=150)


def errors_of_a_cell(config: Config, planned: Plan, dataset: str, rate: float) -> pd.DataFrame:
    """Errors after each number of rounds: on the noisy training labels, and on noisy and true test labels."""
    labels = cell_labels(planned, dataset, KIND, rate)
    X, y = planned.datasets[dataset].X[labels.index], labels["label"].to_numpy()
    is_train = (labels["part"] == "train").to_numpy()
    truth = labels["true_label"].to_numpy()[~is_train]
    longest = max(config.models, key=rounds_of)
    model: Any = build(resolve(longest), seed=0, threads=1).fit(X[is_train], y[is_train])
    wanted = sorted(rounds_of(spec) for spec in config.models)
    after = {}
    for rounds, predicted in enumerate(model.staged_predict(X), start=1):
        if rounds in wanted:
            after[rounds] = predicted
    errors = []
    for rounds in wanted:
        labels_after = after.get(rounds, predicted)  # a fit ends early once a stump makes no mistakes
        wrong = labels_after != y
        errors.append(
            {
                "dataset": dataset,
                "rate": rate,
                "rounds": rounds,
                "training": wrong[is_train].mean(),
                "test": wrong[~is_train].mean(),
                "clean_test": (labels_after[~is_train] != truth).mean(),
            }
        )
    return pd.DataFrame(errors)


def rounds_of(spec: Any) -> int:
    """Number of rounds of a model of the config."""
    return int(spec.params["n_estimators"])


if __name__ == "__main__":
    main()
