"""How much accuracy do forests lose with bins?  README.md has the results."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import click
import numpy as np
import pandas as pd
from learner import PLAIN, Study
from learner_data import NOISE_RATE, read_real
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer

from boostnoise.eval import UniformNoise
from robust_splits import RobustForestClassifier

LARGE_SETS = ("covertype_92k", "cod_rna", "ijcnn1")
TEST_SHARE = 0.3


def classifiers(
    X: NDArray[Any], max_bins: int, seed: int, size: dict[str, Any]
) -> Iterator[tuple[str, str, Any]]:
    """Name, kind of splits and classifier; for scikit-learn's forest the features themselves are binned."""
    size = size | {"random_state": seed}
    for name, parameters in {"fully grown": PLAIN, "one pass": {"passes": 1}}.items():
        yield name, "exact", RobustForestClassifier(**parameters, **size)
        yield name, "bins", RobustForestClassifier(max_bins=max_bins, **parameters, **size)
    peer = RandomForestClassifier(**size)
    binning = KBinsDiscretizer(max_bins, encode="ordinal", subsample=None)
    many_values = [j for j, column in enumerate(X.T) if np.unique(column).size > max_bins]
    yield "scikit-learn", "exact", peer
    binned = make_column_transformer((binning, many_values), remainder="passthrough")
    yield "scikit-learn", "bins", make_pipeline(binned, peer)


@click.command()
@click.option("--sets", default=",".join(LARGE_SETS), show_default=True, metavar="NAME,...")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Splits and noises.")
@click.option("--trees", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--threads", type=int, default=2, show_default=True)
@click.option("--max-bins", type=click.IntRange(2, 255), default=255, show_default=True)
def bins_accuracy(sets: str, rounds: int, trees: int, threads: int, max_bins: int) -> None:
    """Print the accuracy on clean labels of forests trained on noisy ones, with exact splits and with bins."""
    warnings.filterwarnings("ignore", "Bins whose width are too small")  # frequent values
    study = Study(rounds=rounds, trees=trees, threads=threads, json_file=None, sets=sets)
    records = []
    for name in study.names():
        X, y = read_real(name)
        for seed in range(rounds):
            train, test, clean, truth = train_test_split(
                X, y, test_size=TEST_SHARE, stratify=y, random_state=seed
            )
            noisy = UniformNoise(NOISE_RATE).corrupt(clean, random_state=seed).labels
            for forest, splits, model in classifiers(train, max_bins, seed, study.size):
                accuracy = model.fit(train, noisy).score(test, truth)
                records.append({"set": name, "forest": forest, "splits": splits, "accuracy": accuracy})
    results = pd.DataFrame(records)
    for by in ["set", "forest"], ["forest"]:
        table = results.pivot_table("accuracy", by, "splits", sort=False)
        click.echo(table.assign(difference=table["bins"] - table["exact"]).round(4).to_string() + "\n")


if __name__ == "__main__":
    bins_accuracy()
