"""How many features should extra-trees try at a node?  README.md has the results."""

from __future__ import annotations

from itertools import product
from time import perf_counter
from typing import Any

import click
import pandas as pd
from frontier import summary
from learner import FULL_TREES, PLAIN, Study
from learner_data import read_real
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split

from boostnoise.eval import ByClassNoise, UniformNoise
from robust_splits import RobustExtraTreesClassifier, RobustForestClassifier

# Four to 256 features; two to 26 classes, easy and overlapping.
SETS = (
    "german", "phishing", "spambase", "segment", "vehicle", "magic", "wine_white", "pendigits", "letter",
    "a9a", "dna", "usps", "covertype_92k",
)  # fmt: skip
TEST_SHARE = 0.5
NOISES: dict[str, Any] = {
    "none": UniformNoise(0.0),
    "uniform": UniformNoise(0.3),
    "by class": ByClassNoise(0.3),
}
CANDIDATES: tuple[str | float, ...] = ("sqrt", 0.25, 0.5, "auto")


def measure(
    model: Any, X: NDArray[Any], y: NDArray[Any], test: NDArray[Any], truth: NDArray[Any]
) -> dict[str, float]:
    """Seconds of a fit, and accuracy."""
    begin = perf_counter()
    model.fit(X, y)
    return {"fit": perf_counter() - begin, "accuracy": model.score(test, truth)}


@click.command()
@click.option("--sets", default=",".join(SETS), show_default=True, metavar="NAME,...")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Splits and noises.")
@click.option("--rows", type=click.IntRange(min=10), default=5_000, show_default=True, help="At most.")
@click.option("--trees", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--threads", type=int, default=2, show_default=True)
def extra_trees(sets: str, rounds: int, rows: int, trees: int, threads: int) -> None:
    """Print accuracies on clean labels, and times relative to the forest's, by `max_features`."""
    study = Study(rounds=rounds, trees=trees, threads=threads, json_file=None, sets=sets)
    models: dict[str, Any] = {
        f"extra-trees, {m}": (RobustExtraTreesClassifier, {"max_features": m}) for m in CANDIDATES
    }
    models |= {
        "forest": (RobustForestClassifier, {}),
        "full extra-trees": (RobustExtraTreesClassifier, PLAIN),
        "scikit-learn's": (ExtraTreesClassifier, {**FULL_TREES, "bootstrap": True}),
    }
    records = []
    for name in study.names():
        X, y = read_real(name)
        for (kind, noise), seed in product(NOISES.items(), range(rounds)):
            train, test, clean, truth = train_test_split(
                X, y, test_size=TEST_SHARE, stratify=y, random_state=seed
            )
            train, labels = train[:rows], noise.corrupt(clean[:rows], random_state=seed).labels
            for label, (model, parameters) in models.items():
                made = model(random_state=seed, **study.size, **parameters)
                records.append(
                    {"set": name, "noise": kind, "round": seed, "forest": label}
                    | measure(made, train, labels, test, truth)
                )
        click.echo(f"{name}: {len(train)} rows, {X.shape[1]} columns", err=True)
    results = pd.DataFrame(records)
    by_set = results.pivot_table("accuracy", "forest", "set", sort=False)
    by_noise = results.pivot_table("accuracy", "forest", "noise", sort=False)
    means = summary(results, "forest", ["forest"])
    click.echo(f"accuracy\n{by_set.round(4).to_string()}\n")
    table = by_noise.join(means).round(4).to_string()
    click.echo(f"mean accuracy by noise, and time relative to the forest's\n{table}\n")
    seconds = results.pivot_table("fit", "forest", "set", aggfunc="median", sort=False)
    ratios = seconds.loc["scikit-learn's"] / seconds.loc["full extra-trees"]
    click.echo(
        f"time of scikit-learn's extra-trees relative to ours of the same size\n{ratios.round(2).to_string()}"
    )


if __name__ == "__main__":
    extra_trees()
