"""Measure how much checked labels improve an audit, and whether its intervals hold."""

from __future__ import annotations

import warnings
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from _cells import comma_separated, compute, data_option, jobs_option, known_keys
from label_audit import KINDS, Labels, load, out_of_bag
from numpy.typing import NDArray

from boostnoise import find_label_errors
from boostnoise.label_noise.checked_labels import use_checked_labels
from robust_splits.label_noise.clean_posterior import IndistinctClassesError

RATES = (0.0, 0.02, 0.05, 0.1, 0.2)
CHOICES = ("none", "random 100", "random 300", "first 100", "first 50, random 50")
NEXT = 100  # suspects, after those that were checked
KEY = ["set", "kind", "rate", "repeat", "checked"]
MEASURES = ("noise_rate", "low", "high", "wrong", "expected", "found", "error_by_class")

Record = dict[str, Any]


def choose(checked: str, ranking: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Rows to check."""
    at_random = np.random.default_rng(seed).permutation(ranking.size)
    parts = {"random": at_random, "first": ranking}
    chosen = [parts[kind][: int(n)] for kind, n in (part.split() for part in checked.split(", "))]
    return np.unique(np.concatenate(chosen))


@lru_cache(maxsize=1)
def audited(path: Path, kind: str, rate: float, repeat: int, max_rows: int) -> tuple[Labels, Labels, Any]:
    """Right and given labels, and their estimates, or None if the labels cannot be judged."""
    X, right, y = load(path, kind, rate, repeat, max_rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p = out_of_bag(X, np.unique(y, return_inverse=True)[1], repeat)
    try:
        return right, y, find_label_errors(y, p)
    except IndistinctClassesError:
        return right, y, None


def study(path: Path, kind: str, rate: float, repeat: int, checked: str, max_rows: int) -> Record:
    """Estimates of an audit after some rows are checked."""
    right, y, errors = audited(path, kind, rate, repeat, max_rows)
    wrong = y != right
    record: Record = dict.fromkeys([*KEY, *MEASURES], np.nan)
    record |= dict(zip(KEY, (path.stem, kind, rate, repeat, checked), strict=True), wrong=float(wrong.mean()))
    if errors is None or not np.isin(right, y).all():
        return record
    n_checked = 0
    if checked != "none":
        rows = choose(checked, errors.ranking, repeat)
        n_checked = rows.size
        errors = use_checked_labels(errors, y, rows, right[rows])
    first = errors.ranking[: min(NEXT, max(1, y.size - n_checked))]
    low, high = errors.noise_rate_interval
    return record | {
        "noise_rate": errors.noise_rate,
        "low": low,
        "high": high,
        "expected": float(errors.p_wrong[first].mean()),
        "found": float(wrong[first].mean()),
        "error_by_class": error_by_class(errors.p_wrong, wrong, np.unique(y, return_inverse=True)[1]),
    }


def error_by_class(p_wrong: NDArray[np.float64], wrong: NDArray[np.bool_], y: Labels) -> float:
    """Mean difference of the expected and the true share of wrong labels, over the given classes."""
    counts = np.bincount(y)
    return float(np.mean(np.abs(np.bincount(y, p_wrong) - np.bincount(y, wrong)) / counts))


def summary(records: pd.DataFrame) -> str:
    """Means over data sets, kinds of noise and samples, by the rows that were checked."""
    records = records.dropna(subset="noise_rate").copy()
    records["covered"] = records["wrong"].between(records["low"] - 1e-9, records["high"] + 1e-9).astype(float)
    records["width"] = records["high"] - records["low"]
    records["error"] = (records["noise_rate"] - records["wrong"]).abs()
    records["promised_too_much"] = records["expected"] - records["found"]
    columns = ["covered", "width", "error", "error_by_class", "expected", "found", "promised_too_much"]
    by_choice = records.groupby("checked")[columns].mean().reindex(CHOICES).dropna(how="all")
    by_rate = records.pivot_table(index="checked", columns=["kind", "rate"], values="covered")
    return f"{by_choice.round(3).to_string()}\n\ncovered\n{by_rate.round(2).to_string()}"


@click.command(context_settings={"max_content_width": 120, "show_default": True})
@data_option
@click.option("--sets", callback=comma_separated(), help="Names of files, without .parquet; by default all.")
@click.option("--kinds", callback=comma_separated(KINDS), help="Kinds of noise; by default all.")
@click.option("--rates", callback=comma_separated(), help="Rates of noise; by default 0 to 0.2.")
@click.option("--repeats", type=click.IntRange(min=1), default=1, help="Samples of each set.")
@click.option("--rows", type=click.IntRange(min=50), default=1000, help="Rows at most.")
@jobs_option
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def main(
    data: Path,
    sets: list[str] | None,
    kinds: list[str] | None,
    rates: list[str] | None,
    repeats: int,
    rows: int,
    jobs: int,
    file: Path,
) -> None:
    """Audit noisy labels after some of them are checked, write the results to FILE and print means.

    Results that FILE holds are not computed again.
    """
    paths = [path for path in sorted((data / "data").glob("*.parquet")) if sets is None or path.stem in sets]
    numbers = [float(rate) for rate in rates] if rates else RATES
    noises = dict.fromkeys(
        (kind if rate else KINDS[0], rate) for kind, rate in product(kinds or KINDS, numbers)
    )
    known = known_keys(file, KEY)
    cells = [
        (path, *noise, repeat, checked, rows)
        for repeat, path, noise, checked in product(range(repeats), paths, noises, CHOICES)
        if (path.stem, *noise, repeat, checked) not in known
    ]
    click.echo(summary(compute(study, cells, file, jobs)))


if __name__ == "__main__":
    main()
