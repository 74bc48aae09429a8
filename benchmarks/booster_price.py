"""Time of robust boosters, relative to the libraries' own; README.md here has the results."""

from __future__ import annotations

from itertools import product
from time import perf_counter
from typing import Any

import click
import lightgbm
import pandas as pd
import xgboost
from learner import Study
from learner_data import read_real
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from boostnoise import RobustLGBMClassifier, RobustXGBClassifier
from boostnoise.eval import ByClassNoise

SETS = ("german", "wine_white", "letter", "magic", "a9a", "covertype_92k", "ijcnn1", "cod_rna")
TEST_SHARE, NOISE_RATE = 0.3, 0.3
LIBRARIES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "xgboost": (xgboost.XGBClassifier, RobustXGBClassifier, {}),
    "lightgbm": (lightgbm.LGBMClassifier, RobustLGBMClassifier, {"verbose": -1}),
}


def measure(
    name: str, model: Any, rows: tuple[NDArray[Any], ...], test: tuple[NDArray[Any], ...]
) -> dict[str, float]:
    """Seconds of a fit, and accuracy on clean labels."""
    begin = perf_counter()
    model.fit(*rows)
    return {f"{name} seconds": perf_counter() - begin, f"{name} accuracy": model.score(*test)}


@click.command()
@click.option("--sets", default=",".join(SETS), show_default=True, metavar="NAME,...")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Splits and noises.")
@click.option("--threads", type=int, default=2, show_default=True)
def booster_price(sets: str, rounds: int, threads: int) -> None:
    """Print seconds of robust fits relative to the library's own, by set and library: medians of the rounds."""
    study = Study(rounds=rounds, trees=1, threads=threads, json_file=None, sets=sets)
    records = []
    for name in study.names():
        X, y = read_real(name)
        for seed, (library, (own, robust, options)) in product(range(rounds), LIBRARIES.items()):
            given = {"n_jobs": threads, "random_state": seed, **options}
            split = train_test_split(X, y, test_size=TEST_SHARE, stratify=y, random_state=seed)
            train, test, clean, truth = split
            rows = train, ByClassNoise(NOISE_RATE).corrupt(clean, random_state=seed).labels
            model = robust(**given)
            record = {"set": name, "rows": len(train), "library": library}
            record |= measure("own", own(**given), rows, (test, truth))
            record |= measure("robust", model, rows, (test, truth))
            record |= measure("given", robust(**given, **model.chosen_params_), rows, (test, truth))
            record |= {"fits": record["robust seconds"] / record["own seconds"]}
            record |= {"fits, structure given": record["given seconds"] / record["own seconds"]}
            records.append(record)
        click.echo(f"{name}: {len(train)} rows", err=True)
    shown = ["own seconds", "fits", "fits, structure given", "own accuracy", "robust accuracy"]
    table = pd.DataFrame(records).pivot_table(shown, ["set", "rows", "library"], aggfunc="median", sort=False)
    click.echo(table[shown].round(4).to_string())


if __name__ == "__main__":
    booster_price()
