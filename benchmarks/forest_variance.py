"""How do the variance of trees and their correlation change with label noise?  README.md has the results."""

from __future__ import annotations

from typing import Any

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boostnoise.eval import UniformNoise
from robust_splits import FunctionCriterion, RobustExtraTreesClassifier, RobustForestClassifier

NOISE_RATES = (0.0, 0.1, 0.2, 0.3, 0.4)
ONE_PASS = {"passes": 1, "min_samples_split": 2, "shrinkage": 0.0}


def constant(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """A gain that does not depend on labels."""
    return 1.0


def forests(trees: int, leaf: int, seed: int) -> dict[str, Any]:
    """Forests of trees with leaves of at least `leaf` rows."""
    settings = {"n_estimators": trees, "min_samples_leaf": leaf, "random_state": seed, **ONE_PASS}
    random_splits = {"criterion": FunctionCriterion(constant), "max_features": 1, "bootstrap": False}
    return {
        "random forest": RobustForestClassifier(**settings),
        "extra-trees": RobustExtraTreesClassifier(**settings),
        "purely random": RobustExtraTreesClassifier(**settings, **random_splits),
    }


def checkerboard(n: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A 2 x 2 checkerboard, as in Ghosh, Manwani & Sastry (2017), with two features without information."""
    X = rng.uniform(0, 2, (n, 4))
    return X, (X[:, 0].astype(int) + X[:, 1].astype(int)) % 2


def measure(rate: float, rows: int, trees: int, leaf: int, draws: int) -> list[dict[str, Any]]:
    """Variance over training sets of the probability of class 1, averaged over test points."""
    X_test, y_test = checkerboard(500, np.random.default_rng(1_000_000))
    found: dict[str, list[NDArray[np.float64]]] = {}
    for seed in range(draws):
        X, clean = checkerboard(rows, np.random.default_rng(seed))
        noisy = UniformNoise(rate).corrupt(clean, random_state=seed).labels
        for name, forest in forests(trees, leaf, seed).items():
            forest.fit(X, noisy)
            p = [tree.predict_proba(X_test)[:, 1] for tree in forest.estimators_]
            found.setdefault(name, []).append(np.array(p))
    records = []
    for name, by_draw in found.items():
        p = np.array(by_draw)  # draws, trees, test points
        within = p.var(axis=1, ddof=1).mean()  # (1 - rho) sigma^2
        shared = p.mean(axis=1).var(axis=0, ddof=1).mean() - within / trees  # rho sigma^2
        few = max(2, trees // 10)
        records.append(
            {
                "forest": name,
                "noise_rate": rate,
                "sigma^2": within + shared,
                "scaled": (within + shared) / (1 - 2 * rate) ** 2,
                "rho": shared / (within + shared),
                "one tree": p[:, 0].var(axis=0, ddof=1).mean(),
                f"{few} trees": p[:, :few].mean(axis=1).var(axis=0, ddof=1).mean(),
                "formula": shared + within / few,
                f"{trees} trees": p.mean(axis=1).var(axis=0, ddof=1).mean(),
                "accuracy, tree": ((p > 0.5) == y_test).mean(),
                "accuracy, forest": ((p.mean(axis=1) > 0.5) == y_test).mean(),
            }
        )
    return records


@click.command()
@click.option("--rows", type=click.IntRange(min=10), default=2000, show_default=True, help="Training rows.")
@click.option("--trees", type=click.IntRange(min=2), default=100, show_default=True)
@click.option("--leaf", type=click.IntRange(min=1), default=20, show_default=True, help="min_samples_leaf.")
@click.option("--draws", type=click.IntRange(min=2), default=30, show_default=True, help="Training sets.")
def forest_variance(rows: int, trees: int, leaf: int, draws: int) -> None:
    """Print the variance of trees and forests over training sets, and the correlation of the trees of a forest.

    With variance sigma^2 and correlation rho, the mean of N trees has the variance
    rho sigma^2 + (1 - rho) sigma^2 / N (Ghosh, Manwani & Sastry 2017, Remark 3.10).  "Scaled" is sigma^2
    divided by (1 - 2 noise rate)^2, because noise multiplies the differences of probabilities from 1/2 by
    1 - 2 noise rate.
    """
    records = [record for rate in NOISE_RATES for record in measure(rate, rows, trees, leaf, draws)]
    table = pd.DataFrame(records).sort_values("forest", kind="stable").set_index(["forest", "noise_rate"])
    click.echo(table.round(4).to_string())


if __name__ == "__main__":
    forest_variance()
