"""Compare models trained on the posterior of an audit with checked rows, and on labels corrected in them."""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from _cells import comma_separated, compute, data_option, jobs_option, known_keys
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from boostnoise import RobustClassifier, audit
from boostnoise.eval import ByClassNoise, InstanceDependentNoise, UniformNoise

NOISE = {
    "none": None,
    "uniform": UniformNoise(0.3),
    "by class": ByClassNoise(0.3),
    "by features": InstanceDependentNoise(0.3),
}
SETS = "spambase,wine_white,german,splice,pendigits,phishing,magic,a9a,covertype_92k"
CHECKED = "random 30,random 100,first 100"
KEY = ["set", "noise", "checked"]
MODELS = ("labels", "posterior")
MEASURES = [f"{model} {measure}" for model in MODELS for measure in ("accuracy", "balanced")]
TEST_ROWS = 4000


def choose(checked: str, X: NDArray[np.float32], given: NDArray[Any]) -> NDArray[np.int64]:
    """Rows to check, at random or the first suspects."""
    how, n = checked.split()
    if how == "random":
        return np.random.RandomState(3).choice(given.size, int(n), replace=False)
    found = audit(X, given, random_state=0, n_jobs=1)
    codes = np.searchsorted(found.classes, given)
    return np.argsort(found.clean_probabilities[np.arange(given.size), codes], kind="stable")[: int(n)]


def study(path: Path, kind: str, checked: str, rows: int) -> dict[str, Any]:
    """Accuracy of both models on right labels, and the noise rate as the audit estimates it and as it is."""
    data = pd.read_parquet(path)
    y = data["target"].to_numpy()
    X = data.drop(columns=["target", "split"], errors="ignore").to_numpy(np.float32)
    n_train = min(rows, int(0.7 * y.size))
    order = np.random.RandomState(0).permutation(y.size)
    train, test = order[:n_train], order[n_train : n_train + TEST_ROWS]
    right, noise = y[train], NOISE[kind]
    given = right if noise is None else noise.corrupt(right, X[train], random_state=1).labels
    record: dict[str, Any] = dict.fromkeys([*KEY, *MEASURES, "estimated", "wrong"], np.nan)
    record |= dict(zip(KEY, (path.stem, kind, checked), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            chosen = choose(checked, X[train], given)
            known = dict(zip(chosen.tolist(), right[chosen], strict=True))
            found = audit(X[train], given, checked=known, random_state=0, n_jobs=1)
        except ValueError:  # for example, a class with a single row
            return record
        labels = np.where(np.isin(np.arange(n_train), chosen), right, given)
        posterior = pd.DataFrame(found.clean_probabilities, columns=found.classes)
        for name, target in zip(MODELS, (labels, posterior), strict=True):
            predicted = RobustClassifier(n_jobs=1, random_state=0).fit(X[train], target).predict(X[test])
            record[f"{name} accuracy"] = accuracy_score(y[test], predicted)
            record[f"{name} balanced"] = balanced_accuracy_score(y[test], predicted)
    return record | {"estimated": found.noise_rate, "wrong": float((given != right).mean())}


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@data_option
@jobs_option
@click.option("--sets", default=SETS, show_default=True, callback=comma_separated(), help="Data sets.")
@click.option(
    "--checked", default=CHECKED, show_default=True, callback=comma_separated(), help="Rows to check."
)
@click.option("--rows", type=int, default=2000, show_default=True, help="Most training rows.")
def main(file: Path, data: Path, jobs: int, sets: list[str], checked: list[str], rows: int) -> None:
    """Write the records to FILE, go on with those that it has, and print means over the data sets."""
    known = known_keys(file, KEY)
    cells = [
        (data / "data" / f"{name}.parquet", kind, how, rows)
        for name, kind, how in product(sets, NOISE, checked)
        if (name, kind, how) not in known
    ]
    compute(study, cells, file, jobs)
    records = pd.read_csv(file).dropna()
    gain = records["posterior accuracy"] - records["labels accuracy"]
    by = records.assign(gain=gain, least=gain).groupby(["noise", "checked"], sort=False)
    table = by[[*MEASURES, "estimated", "wrong", "gain"]].mean().assign(least=by["least"].min())
    click.echo(table.round(3).assign(sets=by.size()).to_string())


if __name__ == "__main__":
    main()
