"""Measure how often conformal sets contain the right label if the labels of the calibration rows are noisy."""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from _cells import comma_separated, compute, data_option, jobs_option, known_keys
from cleaning import noisy_labels
from label_audit import out_of_bag
from mapie.classification import SplitConformalClassifier
from sklearn.model_selection import train_test_split

from boostnoise import LabelAudit, find_label_errors
from robust_splits import RobustForestClassifier
from robust_splits.label_noise.clean_posterior import IndistinctClassesError

SETS = ("spambase", "magic", "phishing", "a9a", "pendigits", "covertype_92k", "cod_rna", "segment")
NOISES = ("none", "uniform .3", "by class .1, .4", "pair .3", "by features .2", "by features .3")
METHODS = ("noisy labels", "drawn labels", "100 checked", "right labels")
TRAINING_ROWS, TEST_ROWS = 2000, 5000
CONFIDENCE, CHECKED, DRAWS = 0.9, 100, 10
KEY = ["set", "noise", "rows", "repeat"]
# All records have the same columns, as they are lines of one file.
COLUMNS = [*KEY, *(f"{value} {method}" for value, method in product(("coverage", "size"), METHODS))]


def study(path: Path, noise: str, rows: int, repeat: int) -> dict[str, Any]:
    """Coverage and size of the sets of each method."""
    record: dict[str, Any] = dict.fromkeys(COLUMNS, np.nan)
    record |= dict(zip(KEY, (path.stem, noise, rows, repeat), strict=True))
    table = pd.read_parquet(path).drop(columns="split", errors="ignore")
    right = np.unique(table["target"], return_inverse=True)[1]
    X = table.drop(columns="target").to_numpy(np.float32)
    n_known = min(TRAINING_ROWS + rows, int(0.7 * right.size))
    known, test = train_test_split(
        np.arange(right.size), train_size=n_known, stratify=right, random_state=repeat
    )
    test = test[:TEST_ROWS]
    y = noisy_labels(noise, right[known], X[known], repeat)
    training, calibration = np.split(np.arange(n_known), [n_known - rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RobustForestClassifier(random_state=repeat, n_jobs=1).fit(X[known[training]], y[training])
        try:
            errors = find_label_errors(y, out_of_bag(X[known], y, repeat))
        except IndistinctClassesError:
            return record
    checked = np.random.default_rng(repeat).choice(calibration, CHECKED, replace=False)
    audit = LabelAudit(errors, y, np.arange(n_known))
    drawn = np.concatenate([audit.draw_labels(seed)[calibration] for seed in range(DRAWS)])
    labels = {
        "noisy labels": (calibration, y[calibration]),
        "drawn labels": (np.tile(calibration, DRAWS), drawn),
        "100 checked": (checked, right[known[checked]]),
        "right labels": (calibration, right[known[calibration]]),
    }
    for method, (used, given) in labels.items():
        conformal = SplitConformalClassifier(model, confidence_level=CONFIDENCE, prefit=True)
        _, sets = conformal.conformalize(X[known[used]], given).predict_set(X[test])
        record[f"coverage {method}"] = float(sets[np.arange(test.size), right[test], 0].mean())
        record[f"size {method}"] = float(sets[:, :, 0].sum(axis=1).mean())
    return record


def summary(records: pd.DataFrame) -> str:
    """Means over data sets and samples, by the rows for calibration and the noise."""
    by = records.groupby(["rows", "noise"], sort=False)
    parts = []
    for value in ("coverage", "size"):
        columns = {f"{value} {method}": method for method in METHODS}
        parts.append(f"{value}\n{by[[*columns]].mean().rename(columns=columns).round(3).to_string()}")
    errors = {method: (records[f"coverage {method}"] - CONFIDENCE).abs() for method in METHODS}
    error = records[["rows", "noise"]].assign(**errors).groupby(["rows", "noise"], sort=False).mean()
    return "\n\n".join([*parts, f"mean error of the coverage\n{error.round(3).to_string()}"])


@click.command(context_settings={"max_content_width": 120, "show_default": True})
@data_option
@click.option("--sets", callback=comma_separated(), default=",".join(SETS), help="Names of files.")
@click.option("--rows", type=click.IntRange(min=CHECKED), default=1000, help="Rows for calibration.")
@click.option("--repeats", type=click.IntRange(min=1), default=1, help="Samples of each set.")
@jobs_option
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def main(data: Path, sets: list[str], rows: int, repeats: int, jobs: int, file: Path) -> None:
    """Build conformal sets with noisy labels, write coverages and sizes to FILE and print means.

    Results that FILE holds are not computed again.  Requires MAPIE.
    """
    known = known_keys(file, KEY)
    cells = [
        (data / "data" / f"{name}.parquet", noise, rows, repeat)
        for repeat, name, noise in product(range(repeats), sets, NOISES)
        if (name, noise, rows, repeat) not in known
    ]
    click.echo(summary(compute(study, cells, file, jobs)))


if __name__ == "__main__":
    main()
