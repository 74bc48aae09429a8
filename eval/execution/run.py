"""A run: its config, scores, data sets and sessions; and loading it from its store.

The store holds all of it, so that results can be rewritten without data sets, models or fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from .._wording import joined
from ..config.data_paths import reading_record
from ..config.run import STORE_NAME, Config, parse_config
from ..errors import ConfigError, printable
from ..metrics.outcome import NOT_FITTED, Outcome
from ..metrics.registry import RANGES
from .run_record import DatasetFacts, RunRecord, Session
from .store import Store

OPTIONAL = ("correct_rows", "noisy_labels", "test_labels", "domain")  # columns of scores that few runs have


@dataclass(frozen=True, eq=False)
class Run:
    """A run and its scores.

    Attributes
    ----------
    config : Config
    scores : DataFrame
        One row per cell.  The error of a cell that is not fitted yet says so.  If the repeats of a data set
        share their test rows, there is a column ``correct_rows``; see ``Outcome``.  If several columns of noisy
        labels are one kind of noise, there is a column ``noisy_labels`` with the names of theirs.  If scores of
        some data sets are estimates of those on right labels, they have "estimated" in a column
        ``test_labels``.  If the data sets have domains, these are in a column ``domain``.
    datasets : dict of str to DatasetFacts
    sessions : tuple of Session
        The oldest first; empty if all cells come from other runs.
    settings : tuple of str or None
        For each row of the scores, a hash of what the model is trained and tested on: data, split, noise and
        seed; None in records of earlier versions.
    remarks : tuple of str
        Sentences for the report on where the scores come from, if models were added from another run.
    """

    config: Config
    scores: pd.DataFrame
    datasets: dict[str, DatasetFacts] = field(default_factory=dict)
    sessions: tuple[Session, ...] = ()
    settings: tuple[str | None, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def report_path(self) -> Path:
        """Path of the HTML report."""
        return self.config.output_dir / "report.html"


def load_run(results_dir: str | Path, name: str | None = None) -> Run:
    """Load a run from its store, without fitting anything or reading data sets.

    Parameters
    ----------
    results_dir : str or Path
        The folder with the store, or the folder of the run in it, whose name is the name of the run.
    name : str or None, default=None
        Name of the run; None if the store has a single run.

    Returns
    -------
    Run

    Raises
    ------
    ConfigError
        If the store or the run is missing or cannot be read.
    """
    from ..config.line_styles import check_figures

    folder = Path(results_dir)
    if name is None and not (folder / STORE_NAME).exists() and (folder.parent / STORE_NAME).exists():
        folder, name = folder.parent, folder.resolve().name
    with Store(folder / STORE_NAME, read_only=True) as store:
        name = _resolve_name(store, name)
        text = store.run_record(name)
        assert text is not None  # noqa: S101 - for the type checker: the run exists
        record = RunRecord.loads(text)
        outcomes = store.outcomes(cell.key for cell in record.cells)
    # The results folder may have moved, and the data may be on another machine.
    with reading_record():
        config = parse_config({**record.config, "results_dir": str(folder)}, name)
    record.check_cells(config)
    check_figures(config)
    return make_run(config, record, outcomes)


def _resolve_name(store: Store, name: str | None) -> str:
    """Check the name of a run; None for the single run of the store."""
    names = store.run_names()
    runs = printable(joined(run[:100] for run in names))
    if not names:
        raise ConfigError(f"the store {store.path} has no record of a run; repeat the run to add one")
    if name is None and len(names) > 1:
        raise ConfigError(f"the store {store.path} has several runs, choose one: {runs}")
    if name is not None and name not in names:
        raise ConfigError(f"the store {store.path} has no run {name!r}; its runs are {runs}")
    return names[0] if name is None else name


def make_run(config: Config, record: RunRecord, outcomes: Mapping[str, Outcome]) -> Run:
    """Make a run from its record and the outcomes of its cells by key."""
    missing = Outcome(error=NOT_FITTED)
    labels = {(kind, rate): name for kind, rates in record.given_rates.items() for name, rate in rates.items()}
    domains = {spec.name: spec.domain for spec in config.datasets}
    estimated = {spec.name for spec in config.datasets if spec.test_labels == "estimated"}
    own = [metric.name for metric in config.metrics]
    rows = []
    for cell in record.cells:
        outcome = outcomes.get(cell.key, missing)
        rows.append(
            {
                "dataset": cell.dataset,
                "noise_kind": cell.noise_kind,
                "noise_rate": cell.noise_rate,
                "noisy_labels": labels.get((cell.noise_kind, cell.noise_rate)),
                "test_labels": "estimated" if cell.dataset in estimated else None,
                "realised_rate": outcome.scores.get("realised_rate"),
                "domain": domains.get(cell.dataset),
                "repeat": cell.repeat,
                "model": cell.model,
                **{name: outcome.scores.get(name) for name in [*RANGES, *own] if name != "realised_rate"},
                "error": outcome.error,
                "correct_rows": outcome.correct_rows,
            }
        )
    types = dict.fromkeys([*RANGES, *own], "float64") | {
        "error": "string",
        "correct_rows": "string",
        "noisy_labels": "string",
        "test_labels": "string",
        "domain": "string",
    }
    scores = pd.DataFrame(rows).astype(types)
    scores = scores.drop(columns=[name for name in OPTIONAL if scores[name].isna().all()])
    settings = tuple(cell.setting for cell in record.cells)
    return Run(config, scores, record.datasets, tuple(record.sessions), settings)
