"""The report: tables and pictures of a run, from its scores alone."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from .config import Config
from .metrics import curve, mean_curve
from .plots import figure_of_means

TITLES = {
    "accuracy": "Accuracy",
    "ela": "ELA, equalised loss of accuracy (the lower, the more robust)",
    "rla": "RLA, relative loss of accuracy (the lower, the less was lost)",
}


def write_report(config: Config, scores: pd.DataFrame) -> list[Path]:
    """Write the scores, the ELA and RLA tables and their curves into the folder of the run.

    Parameters
    ----------
    config : Config
    scores : DataFrame
        As `run` returns it.

    Returns
    -------
    list of Path
        The files written.
    """
    folder = config.output_dir
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / "scores.parquet", folder / "scores.csv"]
    scores.to_parquet(written[0], index=False)
    scores.to_csv(written[1], index=False)
    models = [model.name for model in config.models]
    for metric, options in (("ela", config.ela_fig), ("rla", config.rla_fig)):
        means = mean_curve(scores, metric)
        for name, table in ((metric, curve(scores, metric)), (f"{metric}_mean", means)):
            written.append(folder / f"{name}.csv")
            table.to_csv(written[-1], index=False)
        if not options.save_fig:
            continue
        # A fixed salt and no date: the same scores give the same bytes.
        with matplotlib.rc_context({"svg.hashsalt": config.name}):
            figure = figure_of_means(
                means, metric, models=models, n_datasets=scores["dataset"].nunique(), options=options
            )
            for suffix, metadata in (("png", {}), ("svg", {"Date": None})):
                written.append(folder / f"{metric}.{suffix}")
                figure.savefig(written[-1], metadata=metadata)
    return written


def summary(config: Config, scores: pd.DataFrame) -> Group:
    """The tables that the config asks for, ready to print on a terminal."""
    parts: list[Group | Text] = []
    for name in config.tables:
        metric = name.removeprefix("mean_")
        for kind in scores["noise_kind"].unique():
            chosen = scores[scores["noise_kind"] == kind]
            if name.startswith("mean_"):
                n_datasets = scores["dataset"].nunique()
                over = f"mean over {n_datasets} data sets" if n_datasets > 1 else str(scores["dataset"].iloc[0])
                wide = _wide(mean_curve(chosen, metric), metric, "model")
                wide = wide.loc[wide.mean(axis=1).sort_values(kind="stable").index]
                parts.append(_rendered(f"{TITLES[metric]}: {kind} noise, {over}", "model", wide))
                continue
            table = curve(chosen, metric)
            for model in table["model"].unique():
                wide = _wide(table[table["model"] == model], metric, "dataset")
                parts.append(_rendered(f"{TITLES[metric]}: {kind} noise, {model}", "data set", wide))
    if scores["error"].notna().any():
        parts.append(_failures(scores))
    return Group(*parts)


def _wide(table: pd.DataFrame, metric: str, rows: str) -> pd.DataFrame:
    order = table[rows].unique()
    return table.pivot(index=rows, columns="noise_rate", values=metric).loc[order]


def _rendered(title: str, heading: str, wide: pd.DataFrame) -> Group:
    # Ten noise rates fit a terminal of 80 columns.
    table = Table(box=SIMPLE_HEAD, padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column(heading, overflow="fold")
    for rate in wide.columns:
        table.add_column(f"{rate:.4g}", justify="right", no_wrap=True, min_width=5)
    for name, row in wide.iterrows():
        # Text, not str: a name may hold what the console takes for markup.
        table.add_row(Text(str(name)), *("–" if pd.isna(value) else f"{value:.3f}" for value in row))
    return Group(Text(title), table)


def _failures(scores: pd.DataFrame) -> Text:
    failed = scores[scores["error"].notna()]
    text = Text(f"{len(failed)} of {len(scores)} cells failed; a model that lacks a data set has no mean.")
    counts = failed.value_counts(["model", "dataset", "error"], sort=False).reset_index()
    for model, dataset, error, n in counts.itertuples(index=False):
        text.append(f"\n  {model} on {dataset}, {n} cells: {str(error)[:300]}")
    return text
