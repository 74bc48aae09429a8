"""Accuracy and time of forests with categories, and with one-hot columns.  README.md has the results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np
import pandas as pd
from _cells import data_option
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from boostnoise.eval import UniformNoise
from robust_splits import RobustExtraTreesClassifier, RobustForestClassifier

# Sets with categories, as one-hot columns or, in splice, as numbers.
SETS = ("mushrooms", "splice", "dna", "covertype_92k", "a9a", "connect4_binary")
SYNTHETIC: dict[str, dict[str, Any]] = {
    "informative": {"n_categories": 100, "effect": 1.5},
    "useless": {"n_categories": 500, "effect": 0.0},
}
SYNTHETIC_ROWS = 10_000
MIN_COLUMNS = 3  # of a group of one-hot columns
TEST_SHARE = 0.5


def join_columns(X: pd.DataFrame) -> pd.DataFrame:
    """Join groups of consecutive one-hot columns into categories.

    At most one column of a group is 1 in each row, and names with an underscore begin alike.
    """
    values, begin, joined = X.to_numpy(float), 0, {}
    prefix = [name.rpartition("_")[0] for name in X.columns]
    is_binary = np.isin(values, (0, 1)).all(axis=0)
    while begin < X.shape[1]:
        end, total = begin, np.zeros(len(X))
        while (
            end < X.shape[1] and is_binary[end] and prefix[end] == prefix[begin]
            and (total + values[:, end]).max() <= 1
        ):  # fmt: skip
            total += values[:, end]
            end += 1
        name = X.columns[begin]
        if end - begin < MIN_COLUMNS:
            joined[name] = X[name]
            begin += 1
            continue
        group = np.column_stack([1 - total, values[:, begin:end]])  # the first stands for none of them
        joined[name] = pd.Categorical(group.argmax(axis=1).astype(str))
        begin = end
    return pd.DataFrame(joined)


def make_set(n_categories: int, effect: float) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Make a column of categories, three columns of numbers, and labels.

    `effect` is the standard deviation of the effects of the categories on the margin.
    """
    rng = np.random.default_rng(0)
    codes, numbers = rng.integers(0, n_categories, SYNTHETIC_ROWS), rng.normal(size=(SYNTHETIC_ROWS, 3))
    margin = effect * rng.normal(size=n_categories)[codes] + numbers[:, 0] - 0.7 * numbers[:, 1]
    X = pd.DataFrame(numbers, columns=["a", "b", "c"]).assign(kind=pd.Categorical(codes.astype(str)))
    return X, pd.Series(margin + 0.7 * rng.logistic(size=SYNTHETIC_ROWS) > 0).astype(int)


def read_set(folder: Path, name: str) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series[Any]]:
    """Features with categories, the same with one-hot columns, and labels."""
    if name in SYNTHETIC:
        X, y = make_set(**SYNTHETIC[name])
        return X, pd.get_dummies(X, dtype=np.float32), y
    frame = pd.read_parquet(folder / f"{name}.parquet")
    y = frame.pop("target")
    X = frame.drop(columns="split", errors="ignore")
    categories = X.astype(str).astype("category") if name == "splice" else join_columns(X)
    return categories, pd.get_dummies(categories, dtype=np.float32), y


def forests(seed: int, trees: int, threads: int) -> Iterator[tuple[str, str, Any]]:
    """Name of the forest, form of the categories, and classifier."""
    size = {"n_estimators": trees, "n_jobs": threads, "random_state": seed}
    for model in (RobustForestClassifier(**size), RobustExtraTreesClassifier(**size)):
        name = type(model).__name__
        yield name, "subsets", model
        yield name, "ranks", type(model)(**size, categorical_features=None)
        yield name, "one-hot", model
    yield "scikit-learn", "one-hot", RandomForestClassifier(**size)


@click.command()
@data_option
@click.option("--sets", default=",".join([*SETS, *SYNTHETIC]), show_default=True, metavar="NAME,...")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Splits and noises.")
@click.option("--rows", type=click.IntRange(min=10), default=20_000, show_default=True, help="At most.")
@click.option("--trees", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--threads", type=int, default=2, show_default=True)
@click.option("--noise", type=click.FloatRange(0, 0.5), default=0.2, show_default=True)
def categories(data: Path, sets: str, rounds: int, rows: int, trees: int, threads: int, noise: float) -> None:
    """Print the accuracy on clean labels of forests trained on noisy ones, and the seconds of a fit."""
    records = []
    for name in sets.split(","):
        X, one_hot, y = read_set(data, name)
        click.echo(f"{name}: {X.shape[1]} columns, {one_hot.shape[1]} with one-hot ones", err=True)
        for seed in range(rounds):
            train, test = train_test_split(
                np.arange(len(X)), test_size=TEST_SHARE, stratify=y, random_state=seed
            )
            train, test = train[:rows], test[:rows]
            noisy = UniformNoise(noise).corrupt(y.iloc[train].to_numpy(), random_state=seed).labels
            for forest, form, model in forests(seed, trees, threads):
                features = one_hot if form == "one-hot" else X
                if seed == 0:
                    model.fit(features.iloc[train[:100]], noisy[:100])  # compiles
                begin = perf_counter()
                model.fit(features.iloc[train], noisy)
                seconds = perf_counter() - begin
                accuracy = model.score(features.iloc[test], y.iloc[test])
                records.append(
                    {"set": name, "forest": forest, "form": form, "accuracy": accuracy, "seconds": seconds}
                )
    results = pd.DataFrame(records)
    for measure, digits in ("accuracy", 4), ("seconds", 2):
        table = results.pivot_table(measure, ["forest", "form"], "set", sort=False, aggfunc="median")
        click.echo(f"{measure}, median of {rounds} rounds\n{table.round(digits).to_string()}\n")


if __name__ == "__main__":
    categories()
