"""Compare thresholds chosen on noisy labels by their costs on clean ones; see README.md."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from _cells import comma_separated, compute, data_option, jobs_option, known_keys
from _domains import domain_of
from numpy.typing import NDArray
from robust_defaults import MODELS, by_class

from boostnoise import choose_threshold, find_label_errors
from boostnoise.eval import InstanceDependentNoise, UniformNoise
from boostnoise.eval.metrics.domains import domain_means
from boostnoise.label_noise.judges import predict_out_of_bag
from robust_splits.label_noise.clean_posterior import IndistinctClassesError

SETS = "magic phishing a9a cod_rna ijcnn1 connect4_binary wine_white spambase".split()  # noqa: SIM905 - words
RARE = 0.06  # rows of the rare class for each row of the other
COSTS = ((1, 1), (1, 5), (20, 1))  # of a false positive, and of a false negative
# Choices of the threshold; "clean" is chosen as "audit", but with clean labels of the same rows.
CHOICES = ("half", "noisy", "formula", "audit", "audit, 200 checked", "clean")
CROWDS = ("music", "music_annotators")  # of ten classes
N_CHECKED, N_TESTED = 200, 8_000
REAL, PREFIX = "real", "noisy_"
KEY = ["set", "classes", "noise", "repeat", "model"]

Record = dict[str, Any]
Floats = NDArray[np.float64]

# Noise of balanced classes, and of a rare class, where it must be rarer too.
NOISE: dict[str, dict[str, Callable[[], Any]]] = {
    "balanced": {
        "none": lambda: UniformNoise(0.0),
        "uniform": lambda: UniformNoise(0.2),
        "by class": lambda: by_class(0.1, 0.3, 2),
        "by features": lambda: InstanceDependentNoise(0.2),
    },
    "rare": {
        "none": lambda: UniformNoise(0.0),
        "uniform": lambda: UniformNoise(0.04),
        "by class": lambda: by_class(0.02, 0.3, 2),
        "by features": lambda: InstanceDependentNoise(0.04),
    },
}


def load(path: Path, classes: str, repeat: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Shuffled features and clean labels; class 1 is the smaller one, and made rarer on request."""
    table = pd.read_parquet(path)
    target = "target" if "target" in table else table.columns[-1]
    _, y = np.unique(table[target], return_inverse=True)
    X = table.drop(columns=[target, *table.columns.intersection(["split"])]).to_numpy(np.float32)
    y = 1 - y if y.mean() > 0.5 else y
    rng = np.random.default_rng(repeat)
    rows = np.arange(y.size)
    if classes == "rare":
        n_rare = min(int(RARE * (y == 0).sum()), int(y.sum()))
        rows = np.concatenate([rows[y == 0], rng.choice(rows[y == 1], n_rare, replace=False)])
    rows = rng.permutation(rows)
    return X[rows], y[rows]


def load_real(
    path: Path, column: str, repeat: int
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    """Shuffled features, checked labels and given ones."""
    table = pd.read_parquet(path).sample(frac=1, random_state=repeat)
    X = table.drop(columns=[name for name in table if name.startswith(PREFIX) or name == "target"])
    return (
        X.to_numpy(np.float32),
        table["target"].to_numpy(np.int64),
        table[f"{PREFIX}{column}"].to_numpy(np.int64),
    )


def mean_cost(p: Floats, y: NDArray[np.int64], threshold: float, costs: tuple[int, int]) -> float:
    """Mean cost of a threshold."""
    return float(np.where(p >= threshold, (1 - y) * costs[0], y * costs[1]).mean())


def study(path: Path, classes: str, noise: str, repeat: int, model: str, n: int) -> Record:
    """Costs on clean test labels of each choice, and of the best threshold; NaN where an audit is impossible.

    A model is trained on `n` rows, and thresholds are chosen on as many others.  The classes `REAL` have the
    labels of a column.
    """
    if classes == REAL:
        X, y, noisy = load_real(path, noise, repeat)
    else:
        X, y = load(path, classes, repeat)
    n = min(n, y.size // 3)
    part, test = slice(n, 2 * n), slice(2 * n, 2 * n + N_TESTED)
    if classes != REAL:
        noisy = NOISE[classes][noise]().corrupt(y[: 2 * n], X[: 2 * n], random_state=repeat).labels
    given, right = noisy[part], y[part]
    record: Record = dict(zip(KEY, (path.stem, classes, noise, repeat, model), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = MODELS[model](repeat).fit(X[:n], noisy[:n])
        p, p_test = (np.asarray(fitted.predict_proba(X[some]))[:, 1] for some in (part, test))
        clean = {"noisy": np.eye(2)[given], "clean": np.eye(2)[right]}
        try:
            errors = find_label_errors(given, predict_out_of_bag(X[part], given, random_state=repeat))
            clean["audit"] = clean["audit, 200 checked"] = errors.clean_probabilities
        except IndistinctClassesError:
            pass
    rows = np.random.default_rng(repeat).choice(n, min(N_CHECKED, n), replace=False)
    checked = dict(zip(rows.tolist(), right[rows].tolist(), strict=True))
    for costs in COSTS:
        name = f"{costs[0]}:{costs[1]}"
        keywords = {"false_positive": costs[0], "false_negative": costs[1]}
        chosen = {
            choice: choose_threshold(p, q, **keywords, checked=checked if "checked" in choice else None)
            for choice, q in clean.items()
        }
        thresholds = {"half": 0.5, "formula": chosen["clean"].formula}
        thresholds |= {choice: found.threshold for choice, found in chosen.items()}
        for choice in CHOICES:
            cost = np.nan
            if choice in thresholds:
                cost = mean_cost(p_test, y[test], thresholds[choice], costs)
            record[f"{name} {choice}"] = cost
        tried = np.quantile(p_test, np.linspace(0, 1, 500))
        record[f"{name} best"] = min(mean_cost(p_test, y[test], t, costs) for t in [0, *tried, 2])
        for choice in ("noisy", *CHOICES[3:]):  # of all, as records are lines of one file
            low, high = chosen[choice].interval if choice in chosen else (np.nan, np.nan)
            holds = float(low <= record[f"{name} {choice}"] <= high)
            record[f"{name} {choice} holds"] = holds if choice in chosen else np.nan
    return record


def real_summary(records: pd.DataFrame) -> str:
    """Mean costs of each choice by domain; columns of a data set, data sets and groups count alike.

    Costs are relative to those of the threshold at one half, since those of the best one may be zero.
    """
    shown = []
    for (model, of_model), costs in product(records.groupby("model"), COSTS):
        name = f"{costs[0]}:{costs[1]}"
        table = of_model.set_index("set")[[f"{name} {choice}" for choice in (*CHOICES, "best")]].copy()
        table.columns = table.columns.str.removeprefix(f"{name} ")
        table["no audit"] = table["audit"].isna().astype(float)
        # Where an audit is impossible, a user has the threshold at one half.
        for choice in ("audit", "audit, 200 checked"):
            table[choice] = table[choice].fillna(table["half"])
        by_set = table.groupby(level=0, sort=False).mean()
        means = domain_means(by_set, {key: domain_of(key) for key in by_set.index})
        means.loc["mean over the domains"] = means.mean()
        shown.append(f"mean cost of a row, {model}, costs {name}\n{means.round(3).to_string()}")
    return "\n\n".join(shown)


def summary(records: pd.DataFrame) -> str:
    """Costs of each choice above those of the best threshold, as shares, and how often intervals hold."""
    names = [f"{costs[0]}:{costs[1]}" for costs in COSTS]
    parts = []
    for name in names:
        excess = {c: records[f"{name} {c}"] / records[f"{name} best"] - 1 for c in CHOICES}
        holds = {
            f"{choice} holds": records[f"{name} {choice} holds"]
            for choice in CHOICES
            if f"{name} {choice} holds" in records
        }
        parts.append(records[KEY].assign(costs=name, **excess, **holds))
    table = pd.concat(parts, ignore_index=True).dropna(subset=list(CHOICES))
    shown = []
    for by in (["model", "classes"], ["model", "classes", "noise"], ["model", "classes", "costs"]):
        means = table.groupby(by)[list(CHOICES)].mean().round(3)
        shown.append(f"mean cost above the best threshold, by {', '.join(by)}\n{means.to_string()}")
    holds = table.groupby(["classes", "noise"]).mean(numeric_only=True).filter(like="holds").round(2)
    return "\n\n".join([*shown, f"intervals hold\n{holds.to_string()}"])


@click.command(context_settings={"max_content_width": 120, "show_default": True})
@data_option
@click.option(
    "--sets", callback=comma_separated(), help="Names of files, without .parquet.", metavar="NAME,..."
)
@click.option("--models", callback=comma_separated(MODELS), default="lightgbm,robust", metavar="NAME,...")
@click.option("--repeats", type=click.IntRange(min=1), default=1, help="Draws of the rows of each set.")
@click.option(
    "--rows", type=click.IntRange(min=50), default=2000, help="Rows for training, and for the choice."
)
@click.option("--real", is_flag=True, help="Labels of data/real_noise/NAME.parquet in place of injected noise.")
@jobs_option
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def main(
    data: Path,
    sets: list[str] | None,
    models: list[str],
    repeats: int,
    rows: int,
    real: bool,
    jobs: int,
    file: Path,
) -> None:
    """Write the costs of each choice to the CSV FILE, and print means; what FILE holds is not run again."""
    known = known_keys(file, KEY)
    if real:
        paths = [
            path for path in sorted((data / "data" / "real_noise").glob("*.parquet")) if path.stem not in CROWDS
        ]
        cells = [
            (path, REAL, name.removeprefix(PREFIX), repeat, model, rows)
            for path in paths
            if sets is None or path.stem in sets
            for name in pq.read_schema(path).names
            if name.startswith(PREFIX)
            for repeat, model in product(range(repeats), models)
            if (path.stem, REAL, name.removeprefix(PREFIX), repeat, model) not in known
        ]
        click.echo(real_summary(compute(study, cells, file, jobs)))
        return
    cells = [
        (data / "data" / f"{name}.parquet", classes, noise, repeat, model, rows)
        for repeat, name, classes, noise, model in product(
            range(repeats), sets or SETS, NOISE, NOISE["balanced"], models
        )
        if (name, classes, noise, repeat, model) not in known
    ]
    click.echo(summary(compute(study, cells, file, jobs)))


if __name__ == "__main__":
    main()
