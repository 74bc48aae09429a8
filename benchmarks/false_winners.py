"""How often a verdict names a winner among models that are equally good."""

from __future__ import annotations

import re

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boostnoise.eval import verdict

N_MODELS = (2, 3, 4, 7, 12, 19, 20)
N_BAD = 2
N_SETS = 15
N_REPEATS = 10
TEST_FRACTION = 0.2


def scores_of(accuracy: NDArray[np.float64], models: list[str]) -> pd.DataFrame:
    """Scores at one noise rate, from an array of data sets, repeats and models."""
    axes = {
        "dataset": [f"d{i}" for i in range(accuracy.shape[0])],
        "repeat": range(accuracy.shape[1]),
        "model": models,
    }
    cells = pd.MultiIndex.from_product(axes.values(), names=axes).to_frame(index=False)
    return cells.assign(accuracy=accuracy.ravel(), noise_rate=0.3, noise_kind="uniform", error=None)


def over_sets(n_models: int, n_bad: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Accuracy over data sets of differing difficulty; half of the models are alike, some bad."""
    n = n_models + n_bad
    difficulty = rng.uniform(0.6, 0.9, (N_SETS, 1, 1))
    noise = rng.normal(0, 0.02, (N_SETS, 1, n))
    noise[:, :, : n_models // 2] += rng.normal(0, 0.02, (N_SETS, 1, 1))
    return difficulty + noise - 0.1 * (np.arange(n) >= n_models)


def over_repeats(n_models: int, n_bad: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Accuracy over random splits of one data set, correlated as if the test rows were all that differed."""
    n = n_models + n_bad
    own = np.sqrt(TEST_FRACTION) * rng.normal(0, 0.02, (1, 1, n))
    own = own + np.sqrt(1 - TEST_FRACTION) * rng.normal(0, 0.02, (1, N_REPEATS, n))
    return 0.8 + rng.normal(0, 0.02, (1, N_REPEATS, 1)) + own - 0.2 * (np.arange(n) >= n_models)


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
def main(studies: int) -> None:
    """Print the share of studies whose verdict names a false winner."""
    rows = []
    for design in (over_sets, over_repeats):
        for n_bad in (0, N_BAD):
            for n_models in N_MODELS:
                rng = np.random.default_rng(0)
                models = [*(f"m{i}" for i in range(n_models)), *(f"bad{i}" for i in range(n_bad))]
                false = [
                    names_a_false_winner(
                        verdict(scores_of(design(n_models, n_bad, rng), models), test_fraction=TEST_FRACTION)[
                            0
                        ],
                        n_bad,
                    )
                    for _ in range(studies)
                ]
                rows.append((design.__name__, n_models, n_bad, np.mean(false)))
    table = pd.DataFrame(rows, columns=["design", "equal models", "bad models", "false winners"])
    wide = table.pivot(index=["design", "bad models"], columns="equal models", values="false winners").reindex(
        index=["over_sets", "over_repeats"], level=0
    )
    click.echo(f"Share of {studies} studies with a false winner, by number of equal models\n{wide.to_string()}")


if __name__ == "__main__":
    main()
