"""Numbers of the HTML report: curves as arrays, and as JSON for its script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boostnoise.eval._wording import counted, numbered
from boostnoise.eval.config.figures import FigureOptions
from boostnoise.eval.execution.run import Run
from boostnoise.eval.metrics.curves import are_estimated, labels_by_rate, main_curves
from boostnoise.eval.metrics.domains import averaged_over, count_units, domains_of
from boostnoise.eval.metrics.registry import MEASURES, label_of, short_label_of
from boostnoise.eval.plotting.bands import averaged, by_dataset, over_repeats, over_units
from boostnoise.eval.plotting.rank_curves import rank_table_by_rate
from boostnoise.eval.plotting.request import PlotRequest
from boostnoise.eval.statistics.confidence_band import FEWEST

from ..formulas import readable_names

Floats = NDArray[np.float64]
DIGITS = 5  # significant digits of numbers in the page


@dataclass(frozen=True)
class Lines:
    """Curves of all models under one kind of noise, with their bands; NaN where there is no value.

    Attributes
    ----------
    value, low, high : ndarray, shape (n_models, n_rates) or (n_datasets, n_models, n_rates)
    """

    value: Floats
    low: Floats
    high: Floats

    def on_dataset(self, dataset: int) -> Lines:
        """The curves of one data set."""
        return Lines(self.value[dataset], self.low[dataset], self.high[dataset])

    def page_data(self) -> dict[str, Any]:
        """The curves as JSON values for the page."""
        has_band = bool(np.isfinite(self.low).any())
        return {
            "y": numbers(self.value),
            "low": numbers(self.low) if has_band else None,
            "high": numbers(self.high) if has_band else None,
        }


class Results:
    """Scores of a run under readable names, and curves computed from them.

    Parameters
    ----------
    run : Run

    Attributes
    ----------
    scores : DataFrame
    metric : str
        The measure of the run.
    models, datasets, kinds : list of str
        Models, data sets and kinds of noise, in the order of the config.
    rates : dict of str to list of float
        Noise rates of each kind of noise.
    labels : dict of str to dict of float to str
        Names of noisy labels by their rates, for each kind of noise of which they are one curve.
    sizes : dict of str to DatasetFacts
    """

    def __init__(self, run: Run) -> None:
        models = readable_names(model.name for model in run.config.models)
        datasets = readable_names(str(name) for name in run.scores["dataset"].unique())
        kinds = readable_names(str(kind) for kind in run.scores["noise_kind"].unique())
        self.scores = run.scores.assign(
            model=run.scores["model"].map(models),
            dataset=run.scores["dataset"].map(datasets),
            noise_kind=run.scores["noise_kind"].map(kinds),
        )
        self.metric: str = run.config.metric
        self.are_estimated = are_estimated(run.scores)
        self._band = run.config.ela_fig.fig_band
        self.models, self.datasets, self.kinds = [list(names.values()) for names in (models, datasets, kinds)]
        rates = self.scores.groupby("noise_kind")["noise_rate"].unique()
        self.rates = {kind: sorted(map(float, rates[kind])) for kind in self.kinds}
        self.labels = {kind: labels_by_rate(self.scores_of(kind)) for kind in self.kinds}
        self.sizes = {datasets[name]: facts for name, facts in run.datasets.items() if name in datasets}
        self.n_repeats = int(self.scores["repeat"].nunique())

    @property
    def scores_by_kind(self) -> list[pd.DataFrame]:
        """The scores under each kind of noise."""
        return [self.scores_of(kind) for kind in self.kinds]

    def scores_of(self, kind: str) -> pd.DataFrame:
        """The scores under one kind of noise."""
        return self.scores[self.scores["noise_kind"] == kind]

    @property
    def curves(self) -> tuple[str, ...]:
        """The metrics drawn against the noise rate."""
        return tuple(dict.fromkeys([*main_curves(self.scores, self.metric), self.metric]))

    @cached_property
    def datasets_of(self) -> dict[str, list[str]]:
        """Data sets under each kind of noise.  Given noise is that of the data sets with such labels."""
        found = self.scores.groupby("noise_kind")["dataset"].unique()
        return {kind: [str(name) for name in found[kind]] for kind in self.kinds}

    @property
    def has_domains(self) -> bool:
        """Whether means count domains of data sets."""
        return bool(domains_of(self.scores))

    def over(self, kind: str | None = None) -> str:
        """The data sets that are averaged under a kind of noise; None for any."""
        return averaged_over(self.scores if kind is None else self.scores[self.scores["noise_kind"] == kind])

    @cached_property
    def averages(self) -> dict[str, dict[str, Lines]]:
        """Curves averaged over the data sets, by metric and kind of noise."""
        return {metric: self._lines(self._averaged[metric][0], metric) for metric in self.curves}

    @cached_property
    def by_dataset(self) -> dict[str, dict[str, Lines]]:
        """Curves of each data set, by metric and kind of noise."""
        return {
            metric: self._lines(by_dataset(self.scores, metric, self.metric, self._band)[0], metric)
            for metric in self.curves
        }

    @property
    def band(self) -> str:
        """Description of the band of the averages."""
        return self._averaged[self.metric][1]

    @property
    def band_by_dataset(self) -> str:
        """Description of the band of one data set's curves."""
        return over_repeats(self.scores, self.metric, band=self._band)

    @cached_property
    def seconds(self) -> dict[str, Lines]:
        """Seconds to fit, averaged over the data sets, by kind of noise."""
        return self._lines(averaged(self.scores, "fit_seconds", band=self._band)[0], "fit_seconds")

    @cached_property
    def ranks(self) -> dict[str, Lines]:
        """Mean ranks over the data sets, by kind of noise."""
        return self._lines(pd.concat(self._rank_tables.values(), ignore_index=True), "rank")

    @property
    def rank_notes(self) -> list[str]:
        """For each kind of noise, the numbers of ranked models and of data sets, and the band."""
        return [self._rank_note(table) for table in self._rank_tables.values()]

    def _rank_note(self, table: pd.DataFrame) -> str:
        rates = table.groupby("noise_rate")
        n_models, n_datasets = rates["rank"].count(), rates["n_datasets"].first()
        fewest, most = int(n_datasets.min()), int(n_datasets.max())
        if not most:
            return "No data set has a value for every model."
        models = _count_of(int(n_models.min()), int(n_models.max()), len(self.models), "model")
        n, unit = count_units(self.scores)
        sets = _count_of(fewest, most, n, unit)
        condition = ": those where each of these models has a value" if fewest < n else ""
        breaks = (
            " Lines break where the ranked models or the data sets change." if self._breaks(table).size else ""
        )
        band = over_units(int(n_datasets[n_datasets >= min(most, FEWEST)].min()), most, unit)
        none = f"; none over fewer {unit}s" if fewest < FEWEST <= most else ""
        return f"Ranks of {models} over {sets}{condition}.{breaks} Band: {band}{none}."

    @staticmethod
    def _breaks(table: pd.DataFrame) -> NDArray[np.intp]:
        """Indices of the rates at which the ranked models or data sets change."""
        return np.flatnonzero(np.diff(table.groupby("noise_rate")["compared"].first())) + 1

    @cached_property
    def _rank_tables(self) -> dict[str, pd.DataFrame]:
        request = PlotRequest(
            scores=self.scores,
            metric=self.metric,
            measure=self.metric,
            noise_rate=None,
            all_scores=self.scores,
            models=self.models,
            chosen=self.models,
            options=FigureOptions(),
            ax=None,
        )
        return {kind: rank_table_by_rate(request, kind).assign(noise_kind=kind) for kind in self.kinds}

    def _rank_page_data(self, kind: str) -> dict[str, Any]:
        """The ranks as JSON values, with a gap where the ranked models or data sets change."""
        breaks, lines = self._breaks(self._rank_tables[kind]), self.ranks[kind]
        parts = (np.insert(part, breaks, math.nan, axis=1) for part in (lines.value, lines.low, lines.high))
        rates = np.insert(np.array(self.rates[kind]), breaks, math.nan)
        return {"x": numbers(rates), **Lines(*parts).page_data()}

    @cached_property
    def _averaged(self) -> dict[str, tuple[pd.DataFrame, str]]:
        return {metric: averaged(self.scores, metric, self.metric, self._band) for metric in self.curves}

    def _lines(self, table: pd.DataFrame, metric: str) -> dict[str, Lines]:
        lines: dict[str, Lines] = {}
        for kind in self.kinds:
            axes: dict[str, list[Any]] = {"model": self.models, "noise_rate": self.rates[kind]}
            if "dataset" in table:
                axes = {"dataset": self.datasets, **axes}
            index = pd.MultiIndex.from_product(list(axes.values()), names=list(axes))
            rows = table[table["noise_kind"] == kind].set_index(list(axes)).reindex(index)
            shape = tuple(map(len, axes.values()))
            columns = (rows[name].to_numpy(dtype=np.float64).reshape(shape) for name in (metric, "low", "high"))
            lines[kind] = Lines(*columns)
        return lines

    def page_data(self, styles: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """All data for the script of the page, as JSON values.

        Parameters
        ----------
        styles : sequence of dict
            Line styles of the models; see `plotly_style`.
        """
        sets = [
            {
                metric: [self.by_dataset[metric][kind].on_dataset(i).page_data() for kind in self.kinds]
                for metric in self.curves
            }
            for i in range(len(self.datasets))
        ]
        measured = {
            metric: [self.averages[metric][kind].page_data() for kind in self.kinds] for metric in self.curves
        }
        return {
            "models": [{"name": name, **style} for name, style in zip(self.models, styles, strict=True)],
            "datasets": self.datasets,
            "kinds": [{"name": kind, "rates": self.rates[kind]} for kind in self.kinds],
            "labels": {
                metric: label_of(metric, self.metric, estimated=self.are_estimated) for metric in self.curves
            }
            | {"rank": "mean rank (1 is best)", "seconds": label_of("fit_seconds")},
            "short": {metric: short_label_of(metric, estimated=self.are_estimated) for metric in self.curves}
            | {"rank": "mean rank"},
            "metric": self.metric,
            "mean": measured | {"rank": [self._rank_page_data(kind) for kind in self.kinds]},
            "seconds": [self.seconds[kind].page_data() for kind in self.kinds],
            "sets": sets,
            "cells": self._cells(),
        }

    def _cells(self) -> dict[str, Any]:
        """The scores by column; names and errors as indices."""
        columns: dict[str, Any] = {
            "noise_rate": numbers(self.scores["noise_rate"].to_numpy()),
            "realised_rate": numbers(self.scores["realised_rate"].to_numpy()),
            "repeat": self.scores["repeat"].tolist(),
        }
        for name in MEASURES:
            if name in self.scores and self.scores[name].notna().any():
                columns[name] = numbers(self.scores[name].to_numpy())
        errors = list(dict.fromkeys(self.scores["error"].dropna()))
        number = {error: i for i, error in enumerate(errors)}
        return {
            "dataset": self.scores["dataset"].map({name: i for i, name in enumerate(self.datasets)}).tolist(),
            "kind": self.scores["noise_kind"].map({name: i for i, name in enumerate(self.kinds)}).tolist(),
            "model": self.scores["model"].map({name: i for i, name in enumerate(self.models)}).tolist(),
            "columns": columns,
            "titles": {"noise_rate": "noise rate", "realised_rate": "realised noise rate", "repeat": "repeat"}
            | {name: label_of(name, estimated=self.are_estimated) for name in MEASURES if name in columns},
            "errors": errors,
            "error": [number.get(error, -1) for error in self.scores["error"].fillna("")],
        }


def _count_of(fewest: int, most: int, n: int, noun: str) -> str:
    """A number of things out of n, such as 2 to 3 of 4 models."""
    if fewest == n:
        return {1: f"one {noun}", 2: f"both {noun}s"}.get(n, f"all {counted(n, noun)}")
    return f"{fewest if fewest == most else f'{fewest} to {most}'} of {numbered(n, noun)}"


def numbers(values: NDArray[Any]) -> Any:
    """An array as nested lists of numbers rounded to a few digits, with None for missing values."""
    if values.ndim > 1:
        return [numbers(part) for part in values]
    return [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in values.tolist()]
