"""Compare the expected effect of cleaning on a model with the true one."""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from _cells import comma_separated, compute, data_option, jobs_option, known_keys
from label_audit import Labels, out_of_bag
from lightgbm import LGBMClassifier
from sklearn.model_selection import train_test_split

from boostnoise import LabelAudit, find_label_errors
from boostnoise.ensemble.soft_fits import SoftRows, fit_to_soft_labels
from boostnoise.eval import ClassConditionalNoise, InstanceDependentNoise, PairFlipNoise, UniformNoise
from boostnoise.eval.audit.cleaning import AS_GIVEN, WAYS, training_labels
from robust_splits.label_noise.clean_posterior import IndistinctClassesError

SETS = ("spambase", "magic", "phishing", "a9a", "pendigits", "german", "covertype_92k", "cod_rna")
NOISES = ("none", "uniform .2", "by class .1, .4", "by features .2")
TEST_ROWS, TRAINING_SHARE = 10_000, 0.6
PRECISION = 0.8
KEY = ["set", "noise", "rows", "repeat"]
VALUES = ("true", "expected", "error")
COLUMNS = [*KEY, *(f"{value} {way}" for value, way in product(VALUES, WAYS))]


def noisy_labels(noise: str, y: Labels, X: Any, seed: int) -> Labels:
    """Labels with noise of a kind and a rate, such as "pair .3"; rates by class alternate."""
    kind, _, rate = noise.rpartition(" ")
    if noise == "none":
        return y
    if kind.startswith("by class"):
        n_classes = y.max() + 1
        rates = np.where(np.arange(n_classes) % 2, 0.4, 0.1)
        T = np.repeat(rates[:, np.newaxis] / (n_classes - 1), n_classes, axis=1)
        np.fill_diagonal(T, 1 - rates)
        made: Any = ClassConditionalNoise(T)
    else:
        kinds = {"uniform": UniformNoise, "pair": PairFlipNoise, "by features": InstanceDependentNoise}
        made = kinds[kind](float(rate))
    return np.asarray(made.corrupt(y, X, random_state=seed).labels)


def study(path: Path, noise: str, rows: int, repeat: int) -> dict[str, Any]:
    """True and expected changes of the accuracy by each way of cleaning."""
    record: dict[str, Any] = dict.fromkeys(COLUMNS, np.nan)
    record |= dict(zip(KEY, (path.stem, noise, rows, repeat), strict=True))
    table = pd.read_parquet(path).drop(columns="split", errors="ignore")
    right = np.unique(table["target"], return_inverse=True)[1]
    X = table.drop(columns="target").to_numpy(np.float32)
    n = min(rows, int(TRAINING_SHARE * right.size))
    training, test = train_test_split(
        np.arange(right.size),
        train_size=n,
        test_size=min(TEST_ROWS, right.size - n),
        stratify=right,
        random_state=repeat,
    )
    y = noisy_labels(noise, right[training], X[training], repeat)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            errors = find_label_errors(y, out_of_bag(X[training], y, repeat))
        except IndistinctClassesError:
            return record
        audit = LabelAudit(errors, y, np.arange(n))
        expected = audit.compare_cleaning(X[training], precision=PRECISION, random_state=repeat, n_jobs=1)
        model = LGBMClassifier(n_estimators=50, num_leaves=15, n_jobs=1, random_state=0, verbose=-1)
        accuracy = {}
        for way, labels in training_labels(y, errors, errors.classes, PRECISION).items():
            p = fit_to_soft_labels(model, SoftRows(X[training], labels)).predict_proba(X[test])
            accuracy[way] = float((p.argmax(axis=1) == right[test]).mean())
    for way in WAYS:
        record[f"true {way}"] = accuracy[way] - accuracy[AS_GIVEN]
        record[f"expected {way}"] = expected.loc[way, "change"]
        record[f"error {way}"] = expected.loc[way, "error"]
    return record


def summary(records: pd.DataFrame) -> str:
    """Mean changes by noise, and how often an expected change that exceeds its error has the right sign."""
    parts = [records.assign(way=way, **{v: records[f"{v} {way}"] for v in VALUES}) for way in WAYS]
    long = pd.concat(parts)[[*KEY, "way", *VALUES]].dropna()
    long["difference"] = (long["expected"] - long["true"]).abs()
    means = long.groupby(["noise", "way"], sort=False)[["true", "expected", "error", "difference"]].mean()
    stated = long[long["expected"].abs() > long["error"]]
    n_right = int((np.sign(stated["expected"]) == np.sign(stated["true"])).sum())
    return f"{means.round(4).to_string()}\n\n{n_right} of {len(stated)} stated changes have the right sign"


@click.command(context_settings={"max_content_width": 120, "show_default": True})
@data_option
@click.option("--sets", callback=comma_separated(), default=",".join(SETS), help="Names of files.")
@click.option("--rows", type=click.IntRange(min=100), default=1500, help="Training rows at most.")
@click.option("--repeats", type=click.IntRange(min=1), default=1, help="Samples of each set.")
@jobs_option
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def main(data: Path, sets: list[str], rows: int, repeats: int, jobs: int, file: Path) -> None:
    """Clean noisy labels, write true and expected changes of the accuracy to FILE and print means.

    Results that FILE holds are not computed again.
    """
    known = known_keys(file, KEY)
    cells = [
        (data / "data" / f"{name}.parquet", noise, rows, repeat)
        for repeat, name, noise in product(range(1, repeats + 1), sets, NOISES)
        if (name, noise, rows, repeat) not in known
    ]
    click.echo(summary(compute(study, cells, file, jobs)))


if __name__ == "__main__":
    main()
