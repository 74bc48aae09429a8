"""How much accuracy do forests lose with bins?  README.md has the results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from _cells import comma_separated, data_option
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from boostnoise.eval import UniformNoise
from robust_splits import RobustForestClassifier

LARGE_SETS = ("covertype_92k", "cod_rna", "ijcnn1")
NOISE_RATE = 0.3
TEST_SHARE = 0.3
FULL_TREES = {"criterion": "gini", "shrinkage": 0.0, "min_samples_split": 2}


def binned(train: NDArray[Any], test: NDArray[Any], max_bins: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Numbers of the bins of both sets, between quantiles of the first; columns with few values as they are."""
    both = train.copy(), test.copy()
    for j, column in enumerate(train.T):
        if np.unique(column).size > max_bins:
            edges = np.unique(np.quantile(column, np.arange(1, max_bins) / max_bins))
            for part in both:
                part[:, j] = np.searchsorted(edges, part[:, j])
    return both


def accuracies(
    X: NDArray[Any], y: NDArray[Any], max_bins: int, seed: int, common: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Exact and binned accuracy of each forest on clean labels, after training on wrong ones."""
    train, test, labels, truth = train_test_split(X, y, test_size=TEST_SHARE, stratify=y, random_state=seed)
    labels = UniformNoise(NOISE_RATE).corrupt(labels, random_state=seed).labels
    common = common | {"random_state": seed}
    for name, parameters in {"fully grown": FULL_TREES, "defaults": {}}.items():
        exact, bins = (
            RobustForestClassifier(max_bins=bins, **parameters, **common).fit(train, labels).score(test, truth)
            for bins in (None, max_bins)
        )
        yield {"forest": name, "exact": exact, "bins": bins}
    exact, bins = (
        RandomForestClassifier(**common).fit(fitted, labels).score(scored, truth)
        for fitted, scored in ((train, test), binned(train, test, max_bins))
    )
    yield {"forest": "scikit-learn", "exact": exact, "bins": bins}


@click.command()
@click.option("--sets", default=",".join(LARGE_SETS), show_default=True, callback=comma_separated())
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Splits and noises.")
@click.option("--trees", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--threads", type=int, default=2, show_default=True)
@click.option("--max-bins", type=click.IntRange(2, 255), default=255, show_default=True)
@data_option
def bins_accuracy(sets: list[str], rounds: int, trees: int, threads: int, max_bins: int, data: Path) -> None:
    """Print the accuracy on clean labels of forests with exact splits and with bins."""
    records: list[dict[str, Any]] = []
    for name in sets:
        table = pd.read_parquet(data / "data" / f"{name}.parquet").drop(columns="split", errors="ignore")
        X = np.ascontiguousarray(table.drop(columns="target"), dtype=np.float32)
        y = np.unique(table["target"], return_inverse=True)[1]
        for seed in range(rounds):
            scores = accuracies(X, y, max_bins, seed, {"n_estimators": trees, "n_jobs": threads})
            records += ({"set": name, **record} for record in scores)
    results = pd.DataFrame(records)
    results["difference"] = results["bins"] - results["exact"]
    for by in ["set", "forest"], ["forest"]:
        click.echo(results.groupby(by, sort=False).mean(numeric_only=True).round(4).to_string() + "\n")


if __name__ == "__main__":
    bins_accuracy()
