"""How often a verdict names a winner among models that are equally good."""

from __future__ import annotations

import re

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boostnoise.eval import verdict
from boostnoise.eval.metrics.correct_rows import pack_rows

N_MODELS = (2, 3, 4, 7, 12, 19, 20)
N_BAD = 2
N_SETS = 15
N_REPEATS = 10
N_ROWS = 60
TEST_FRACTION = 0.2


def scores_of(accuracy: NDArray[np.float64], n_models: int) -> pd.DataFrame:
    """Scores at one noise rate, from an array of data sets, repeats and models, the last ones bad."""
    axes = {
        "dataset": [f"d{i}" for i in range(accuracy.shape[0])],
        "repeat": range(accuracy.shape[1]),
        "model": [f"m{i}" if i < n_models else f"bad{i}" for i in range(accuracy.shape[2])],
    }
    cells = pd.MultiIndex.from_product(axes.values(), names=axes).to_frame(index=False)
    return cells.assign(accuracy=accuracy.ravel(), noise_rate=0.3, noise_kind="uniform", error=None)


def over_sets(n_models: int, n_bad: int, rng: np.random.Generator) -> pd.DataFrame:
    """Accuracy over data sets of differing difficulty; half of the models are alike, some bad."""
    n = n_models + n_bad
    difficulty = rng.uniform(0.6, 0.9, (N_SETS, 1, 1))
    noise = rng.normal(0, 0.02, (N_SETS, 1, n))
    noise[:, :, : n_models // 2] += rng.normal(0, 0.02, (N_SETS, 1, 1))
    return scores_of(difficulty + noise - 0.1 * (np.arange(n) >= n_models), n_models)


def over_repeats(n_models: int, n_bad: int, rng: np.random.Generator) -> pd.DataFrame:
    """Accuracy over random splits of one data set, correlated as if the test rows were all that differed."""
    n = n_models + n_bad
    own = np.sqrt(TEST_FRACTION) * rng.normal(0, 0.02, (1, 1, n))
    own = own + np.sqrt(1 - TEST_FRACTION) * rng.normal(0, 0.02, (1, N_REPEATS, n))
    shared = rng.normal(0, 0.02, (1, N_REPEATS, 1))
    return scores_of(0.8 + shared + own - 0.2 * (np.arange(n) >= n_models), n_models)


def over_rows(n_models: int, n_bad: int, rng: np.random.Generator) -> pd.DataFrame:
    """Three repeats that share 60 test rows, some of them difficult; fits keep most predictions."""
    n = n_models + n_bad
    chance = rng.beta(2, 1, (1, 1, N_ROWS)) - 0.4 * (np.arange(n) >= n_models)[:, np.newaxis]
    first = rng.random((1, n, N_ROWS)) < chance
    others = rng.random((3, n, N_ROWS)) < chance
    correct = np.where(rng.random(others.shape) < 0.9, first, others)
    packed = [pack_rows(rows) for rows in correct.reshape(-1, N_ROWS)]
    return scores_of(correct.mean(axis=2)[np.newaxis], n_models).assign(correct_rows=packed)


DESIGNS = {"over_sets": over_sets, "over_repeats": over_repeats, "over_rows": over_rows}


def names_a_false_winner(text: str, n_bad: int) -> bool:
    """Whether a verdict says that a model beats, or loses to, one that is equally good."""
    if "loses to" in text:
        return True
    beaten = re.search(r"beats (.*?)(?:;|\.$)", text)
    if beaten is None:
        return False
    counted = re.match(r"(\w+) models", beaten[1])
    return n_bad == 0 or counted is not None or re.search(r"\bm\d", beaten[1]) is not None


@click.command()
@click.option("--studies", default=1000, help="Simulated studies of each sort.")
@click.option("--design", type=click.Choice(list(DESIGNS)), multiple=True, default=list(DESIGNS))
def main(studies: int, design: tuple[str, ...]) -> None:
    """Print the share of studies whose verdict names a false winner."""
    shares = {}
    for name in design:
        for n_bad in (0, N_BAD):
            for n_models in N_MODELS:
                rng = np.random.default_rng(0)
                texts = [
                    verdict(DESIGNS[name](n_models, n_bad, rng), test_fraction=TEST_FRACTION)[0]
                    for _ in range(studies)
                ]
                false = [names_a_false_winner(text, n_bad) for text in texts]
                shares[name, n_bad, n_models] = np.mean(false)
    table = pd.Series(shares).unstack().rename_axis(["design", "bad models"])
    click.echo(f"Share of {studies} studies with a false winner; columns: equal models\n{table.to_string()}")


if __name__ == "__main__":
    main()
