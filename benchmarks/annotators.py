"""Measure whether `compare_annotators` finds the error rates of made-up annotators, and who is worse."""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from _cells import comma_separated, compute, data_option, jobs_option, known_keys
from label_audit import KINDS, load
from numpy.typing import NDArray

from boostnoise import compare_annotators
from boostnoise.eval.noise.annotators import dawid_skene, majority

# Rates of wrong labels of each annotator, in classes 0, 2, ... and in the others.
ANNOTATORS: dict[str, tuple[tuple[float, float], ...]] = {
    "alike": ((0.1, 0.1), (0.1, 0.1)),
    "alike by class": ((0.05, 0.25), (0.05, 0.25)),
    "one worse": ((0.05, 0.05), (0.15, 0.15)),
    "each worse in one class": ((0.05, 0.25), (0.15, 0.05)),
    "err together": ((0.1, 0.1), (0.1, 0.1)),
    "five": ((0.05, 0.05), (0.05, 0.25), (0.1, 0.1), (0.2, 0.1), (0.3, 0.3)),
}
TOGETHER = 0.5  # share of the wrong labels of the first annotator that the second one repeats
LABELS_EACH = 0.4  # share of the rows that each of five annotators labels
RANDOM = 100  # checked rows
ENOUGH = 20  # rows of a class whose rates are judged
KEY = ["set", "annotators", "repeat", "checked"]

Codes = NDArray[np.int64]
Record = dict[str, Any]


def draw_labels(y: Codes, annotators: str, rng: np.random.Generator) -> Codes:
    """Labels of shape (n, A); -1 where an annotator gave none."""
    n_classes, rates = int(y.max()) + 1, ANNOTATORS[annotators]
    labels = []
    for rate in rates:
        is_wrong = rng.random(y.size) < np.where(y % 2, rate[1], rate[0])
        labels.append(np.where(is_wrong, (y + rng.integers(1, n_classes, y.size)) % n_classes, y))
    if annotators == "err together":
        is_repeated = (labels[0] != y) & (rng.random(y.size) < TOGETHER)
        labels[1] = np.where(is_repeated, labels[0], np.where(labels[1] == labels[0], y, labels[1]))
    given = np.array(labels).T
    if len(rates) > 2:
        given[rng.random(given.shape) > LABELS_EACH] = -1
    return given


def study(path: Path, annotators: str, repeat: int, checked: int, max_rows: int) -> Record:
    """Errors of the estimates, and how many of their intervals hold the rates."""
    X, right, _ = load(path, KINDS[0], 0.0, repeat, max_rows)
    classes, y = np.unique(right, return_inverse=True)
    rng = np.random.default_rng([repeat, len(annotators)])
    given = draw_labels(y, annotators, rng)
    rows = rng.permutation(y.size)[:checked]
    table = pd.DataFrame(given).replace(-1, pd.NA)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare_annotators(X, table, checked=dict(zip(rows, y[rows], strict=True)) or None, n_jobs=1)
    is_labelled = given >= 0
    counts = np.bincount(y)
    wrong = (given != y[:, np.newaxis]) & is_labelled
    truth = [wrong.sum(axis=0) / is_labelled.sum(axis=0)]
    truth += [
        wrong[y == k].sum(axis=0) / np.maximum(is_labelled[y == k].sum(axis=0), 1) for k in range(classes.size)
    ]
    rates = np.column_stack(truth)
    judged = np.concatenate([[True], counts >= ENOUGH])
    shape = (given.shape[1], classes.size + 1)
    column = {
        name: found.error_rates[name].to_numpy(dtype=np.float64).reshape(shape)
        for name in ("wrong", "low", "high")
    }
    is_held = (column["low"] <= rates + 1e-9) & (rates <= column["high"] + 1e-9)
    labelled = is_labelled.any(axis=1)
    first = found.differences.iloc[0]
    posterior = found.probabilities.to_numpy(dtype=np.float64)
    record = {
        "error": np.abs(column["wrong"] - rates)[:, judged].mean(),
        "held": is_held[:, 0].mean(),
        "held_by_class": is_held[:, judged][:, 1:].mean(),
        "p_value": first["p_value"],
        "difference": first["difference"],
        "right": (posterior.argmax(axis=1) == y)[labelled].mean(),
        "right_majority": (majority(given, classes.size) == y)[labelled].mean(),
    }
    skene = dawid_skene(given, classes.size)
    record["right_dawid_skene"] = (np.nan_to_num(skene).argmax(axis=1) == y)[labelled].mean()
    if checked:
        low, high = (
            found.error_rates[f"checked_{end}"].to_numpy().reshape(shape)[:, 0] for end in ("low", "high")
        )
        record["checked_held"] = ((low <= rates[:, 0]) & (rates[:, 0] <= high)).mean()
    return (
        dict(zip(KEY, (path.stem, annotators, repeat, checked), strict=True))
        | {"checked_held": np.nan}
        | record
    )


def summary(records: pd.DataFrame) -> str:
    """Means over data sets and samples."""
    records = records.assign(significant=(records["p_value"] < 0.05).astype(float))
    measures = ["error", "held", "held_by_class", "checked_held", "significant"]
    measures += ["right", "right_majority", "right_dawid_skene"]
    return records.groupby(["annotators", "checked"], sort=False)[measures].mean().round(3).to_string()


@click.command(context_settings={"max_content_width": 120, "show_default": True})
@data_option
@click.option("--sets", callback=comma_separated(), help="Names of files, without .parquet; by default all.")
@click.option("--repeats", type=click.IntRange(min=1), default=1, help="Samples of each set.")
@click.option("--rows", type=click.IntRange(min=50), default=1000, help="Rows at most.")
@jobs_option
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def main(data: Path, sets: list[str] | None, repeats: int, rows: int, jobs: int, file: Path) -> None:
    """Compare made-up annotators of known error rates, write the results to FILE and print means.

    Results that FILE holds are not computed again.
    """
    paths = [path for path in sorted((data / "data").glob("*.parquet")) if sets is None or path.stem in sets]
    known = known_keys(file, KEY)
    cells = [
        (path, annotators, repeat, checked, rows)
        for repeat, path, annotators, checked in product(range(repeats), paths, ANNOTATORS, (0, RANDOM))
        if (path.stem, annotators, repeat, checked) not in known
    ]
    click.echo(summary(compute(study, cells, file, jobs)))


if __name__ == "__main__":
    main()
