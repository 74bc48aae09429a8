"""Audit labels that people, tests and heuristics gave; docs/real_noise.md has the results."""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from _cells import compute, jobs_option, known_keys
from _domains import domain_of
from matplotlib.figure import Figure
from sklearn.metrics import roc_auc_score

from boostnoise import audit
from boostnoise.eval.metrics.domains import domain_means

KEY = ["set", "column", "checked"]
PREFIX, TARGET, SPLIT = "noisy_", "target", "split"
N_CHECKED = (0, 100)  # rows drawn at random whose right labels the audit is given
LENGTHS = (20, 100)  # of lists of suspects
# All records have the same columns, as they are lines of one file.
COLUMNS = [
    *KEY,
    *("rows", "wrong", "error", "estimated", "low", "high", "without_overlap"),
    *(f"{name}_{label}" for label in ("negative", "positive") for name in ("wrong", "estimated")),
    "auc",
    *(f"{name}_{n}" for n in LENGTHS for name in ("found", "expected")),
]

Record = dict[str, Any]


def read(path: Path, max_rows: int) -> pd.DataFrame:
    """Rows whose labels exist twice, at most a number of them."""
    table = pd.read_parquet(path)
    if SPLIT in table:  # the test rows have no noise
        table = table[table[SPLIT] == "train"]
    if len(table) > max_rows:
        table = table.sample(max_rows, random_state=0)
    return table.reset_index(drop=True)


def study(path: Path, column: str, n_checked: int, max_rows: int) -> Record:
    """The true and the estimated noise of a column, and the quality of its list of suspects."""
    table = read(path, max_rows)
    given, right = table[column], table[TARGET]
    X = table.drop(columns=[name for name in table if name.startswith(PREFIX) or name in (TARGET, SPLIT)])
    copies = X.groupby(list(X), sort=False, dropna=False).ngroup()
    wrong = (given != right).to_numpy()
    names = dict(zip(KEY, (path.stem, column.removeprefix(PREFIX), n_checked), strict=True))
    record: Record = dict.fromkeys(COLUMNS, np.nan) | names | {"rows": len(X), "wrong": wrong.mean()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = np.random.default_rng(0).choice(len(X), min(n_checked, len(X) // 2), replace=False)
        checked = {int(row): right[row] for row in drawn} or None
        try:
            found = audit(
                X, given, groups=copies if copies.nunique() < len(X) else None, checked=checked, n_jobs=1
            )
        except ValueError as error:
            return record | {"error": str(error).splitlines()[0]}
    low, high = found.noise_rate_interval
    record |= {"estimated": found.noise_rate, "low": low, "high": high}
    record["without_overlap"] = found.noise_rate_without_overlap
    by_label = found.by_label.set_index("label")
    if len(by_label) == 2:
        for name, label in zip(("negative", "positive"), by_label.index, strict=True):
            of_label = (given == label).to_numpy()
            record[f"wrong_{name}"] = wrong[of_label].mean()
            record[f"estimated_{name}"] = by_label.loc[label, "share"]
    suspects = found.suspects[~found.suspects["row"].isin(drawn)]
    rows = suspects["row"].to_numpy()
    if 0 < wrong[rows].sum() < rows.size:
        record["auc"] = roc_auc_score(wrong[rows], -suspects["rank"])
    for n in LENGTHS:
        record[f"found_{n}"] = wrong[rows[:n]].mean()
        record[f"expected_{n}"] = suspects["p_wrong"].head(n).mean()
    return record


def summary(records: pd.DataFrame) -> str:
    """Means by domain; columns of a data set, data sets of a group and groups of a domain count alike."""
    records = records[records["error"].isna()].copy()
    records["covered"] = records["wrong"].between(records["low"] - 0.005, records["high"] + 0.005).astype(float)
    records["error of rate"] = (records["estimated"] - records["wrong"]).abs()
    shown = [
        *("wrong", "estimated", "low", "high", "covered", "error of rate", "auc"),
        *(f"{name}_{n}" for n in LENGTHS for name in ("found", "expected")),
        *("wrong_negative", "estimated_negative", "wrong_positive", "estimated_positive"),
    ]
    parts = []
    for n_checked, of_number in records.groupby("checked"):
        by_set = of_number.groupby("set", sort=False)[shown].mean()
        means = domain_means(by_set, {name: domain_of(name) for name in by_set.index})
        means.loc["mean over the domains"] = means.mean()
        parts.append(f"{n_checked} rows checked\n{means.round(3).to_string()}")
    return "\n\n".join(parts)


def draw(records: pd.DataFrame, path: Path) -> None:
    """The estimated noise rate of each column with its interval, against the true one, by domain."""
    figure = Figure(figsize=(10, 4.8), layout="constrained")
    axes = figure.subplots(1, len(N_CHECKED), sharex=True, sharey=True)
    records = records[records["error"].isna()]
    domains = records["set"].map(lambda name: domain_of(name).partition("/")[0])
    colours = dict(zip(domains.unique(), [f"C{i}" for i in range(10)] * 9, strict=False))
    top = records[["wrong", "high"]].to_numpy(dtype=float).max() * 1.05
    for ax, n_checked in zip(axes, N_CHECKED, strict=True):
        ax.plot([0, top], [0, top], color="0.8", zorder=0)
        for domain, colour in colours.items():
            part = records[(records["checked"] == n_checked) & (domains == domain)]
            below, above = part["estimated"] - part["low"], part["high"] - part["estimated"]
            spread = np.clip([below, above], 0, None)
            style = {"fmt": "o", "ms": 3, "lw": 0.7, "color": colour}
            ax.errorbar(part["wrong"], part["estimated"], spread, label=domain, **style)
        ax.set_title("nobody has checked a row" if n_checked == 0 else f"{n_checked} random rows checked")
        ax.set_xlabel("share of wrong labels")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("estimate of the audit, 90 % interval")
    axes[0].legend(fontsize=7, frameon=False)
    figure.savefig(path, dpi=120)


@click.command(context_settings={"max_content_width": 120, "show_default": True})
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--rows", type=click.IntRange(min=50), default=5000, help="Rows of a data set at most.")
@click.option("--picture", type=click.Path(dir_okay=False, path_type=Path), help="Also write a picture.")
@jobs_option
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def main(folder: Path, rows: int, picture: Path | None, jobs: int, file: Path) -> None:
    """Audit every column of noisy labels in FOLDER, as `noisyeval --fetch real_noise` makes it.

    Records go to FILE, a CSV; what it holds is not computed again.  Means by domain are printed.
    """
    columns = [
        (path, name)
        for path in sorted(folder.glob("*.parquet"))
        for name in pq.read_schema(path).names
        if name.startswith(PREFIX)
    ]
    known = known_keys(file, KEY)
    cells = [
        (path, column, n_checked, rows)
        for (path, column), n_checked in product(columns, N_CHECKED)
        if (path.stem, column.removeprefix(PREFIX), n_checked) not in known
    ]
    records = compute(study, cells, file, jobs)
    click.echo(summary(records))
    if picture is not None:
        draw(records, picture)


if __name__ == "__main__":
    main()
