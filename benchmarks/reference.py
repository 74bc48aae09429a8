"""Make the reference scores of the package from runs of configs/reference*.json, and print the leaderboards."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import click
import numpy as np
import pandas as pd

from boostnoise.eval import load_run, rank_table, score_table, wilcoxon_holm
from boostnoise.eval.config.run import STORE_NAME
from boostnoise.eval.execution.run import Run
from boostnoise.eval.execution.run_record import RunRecord, Session
from boostnoise.eval.execution.store import Store
from boostnoise.eval.report.joined_runs import PLACE, join_runs
from boostnoise.eval.report.reference import NAMES, find_other, write_run_file

MEASURES = ("accuracy", "balanced_accuracy", "roc_auc", "calibration_error")


def tables(scores: pd.DataFrame, measure: str) -> dict[str, pd.DataFrame]:
    """Scores of data sets by models at each rate of each kind of noise."""
    found = {}
    for kind, of_kind in scores.groupby("noise_kind", sort=False):
        for rate in sorted(of_kind["noise_rate"].unique()):
            if rate > 0 or kind == "uniform":
                label = f"{kind} {rate:g}" if rate else "none"
                found[label] = score_table(of_kind, measure, noise_rate=rate)
    return found


def sessions_of(results_dir: Path) -> list[Session]:
    """Sessions of all runs of a store, which may have been fitted in parts."""
    with Store(results_dir / STORE_NAME, read_only=True) as store:
        records = [RunRecord.loads(str(store.run_record(name))) for name in store.run_names()]
    return sorted((one for record in records for one in record.sessions), key=lambda one: one.started)


def without_models(run: Run, names: set[str]) -> Run:
    """Leave some models out of a run."""
    kept = ~run.scores["model"].isin(names)
    models = [spec for spec in run.config.models if spec.name not in names]
    return dataclasses.replace(
        run,
        config=run.config.model_copy(update={"models": models}),
        scores=run.scores[kept].reset_index(drop=True),
        settings=tuple(itertools.compress(run.settings, kept)),
    )


def add_models(run: Run, other: Run, other_name: str) -> Run:
    """Add the models of another run, which must have all cells of a run, or replace those of the same names."""
    order = [spec.name for spec in run.config.models]
    run = without_models(run, {spec.name for spec in other.config.models})
    joined, remarks = join_runs(run, other, other_name)
    if joined.scores["model"].isin(run.scores["model"].unique()).sum() < len(run.scores):
        raise click.ClickException("; ".join(remarks))
    models = sorted(joined.config.models, key=lambda spec: (*order, spec.name).index(spec.name))
    places = joined.scores.groupby(PLACE, sort=False).ngroup()
    numbers = joined.scores["model"].map({spec.name: i for i, spec in enumerate(models)})
    rows = np.lexsort((numbers, places))
    return dataclasses.replace(
        joined,
        config=joined.config.model_copy(update={"models": models}),
        scores=joined.scores.iloc[rows].reset_index(drop=True),
        settings=tuple(joined.settings[row] for row in rows),
    )


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--add", is_flag=True, help="Add the models of the run to those of the package.")
@click.option("--write", type=click.Path(path_type=Path), help="Also write the scores to this Parquet file.")
@click.option("--study", type=click.Choice(NAMES), default=NAMES[0], help="Scores of the package.")
def main(folder: Path | None, add: bool, write: Path | None, study: str) -> None:
    """Print the leaderboard of the run in FOLDER, by default that of a study of the package."""
    if folder is None and (add or write is not None):
        raise click.UsageError("--add and --write need FOLDER")
    run = find_other(study)
    if folder is not None:
        other = dataclasses.replace(load_run(folder), sessions=tuple(sessions_of(folder.parent)))
        run = add_models(run, other, str(folder)) if add else other
    scores = run.scores
    if write is not None:
        write_run_file(run, write)
    for measure in MEASURES:
        found, better = tables(scores, measure), measure != "calibration_error"
        ranks = pd.DataFrame(
            {label: rank_table(table, higher_is_better=better).mean() for label, table in found.items()}
        )
        ranks = ranks.assign(mean=ranks.mean(axis=1)).sort_values("mean")
        means = pd.DataFrame({label: table.mean() for label, table in found.items()}).loc[ranks.index]
        click.echo(
            f"\nMean {measure} over {scores['dataset'].nunique()} data sets\n{means.round(3).to_string()}"
        )
        click.echo(f"\nMean rank by {measure}\n{ranks.round(1).to_string()}")
    for label, table in tables(scores, "accuracy").items():
        test = wilcoxon_holm(table, higher_is_better=True)  # the first is chosen, so all pairs are tested
        beaten = test.table.loc[test.table["significant"], "model"].tolist()
        click.echo(f"\n{label}: {test.control} first; significantly ahead of {', '.join(beaten) or 'none'}")
    seconds = score_table(scores[scores["noise_kind"] == "uniform"], "fit_seconds", noise_rate=0.3)
    click.echo(f"\nSeconds to fit at 30 % uniform noise, mean\n{seconds.mean().round(2).to_string()}")


if __name__ == "__main__":
    main()
