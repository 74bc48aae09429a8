"""The numbers of the report: curves as arrays, and what of them a page is given to draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boostnoise.eval._wording import counted
from boostnoise.eval.config.figure_options import FigureOptions
from boostnoise.eval.execution.run_record import Run
from boostnoise.eval.metrics.registry import MEASURES, label_of, short_label_of
from boostnoise.eval.plotting.bands import averaged, by_dataset, over_datasets, over_repeats
from boostnoise.eval.plotting.rank_curves import rank_table_by_rate
from boostnoise.eval.plotting.request import Picture
from boostnoise.eval.statistics.bootstrap import FEWEST

from ..latex_names import readable_names

Floats = NDArray[np.float64]
DIGITS = 5  # significant ones, of numbers in the page


@dataclass(frozen=True)
class Lines:
    """The curves of all models under one kind of noise, and their bands; NaN where there is no value.

    Attributes
    ----------
    value, low, high : ndarray, shape (n_models, n_rates) or (n_datasets, n_models, n_rates)
    """

    value: Floats
    low: Floats
    high: Floats

    def of(self, dataset: int) -> Lines:
        """Those of one data set."""
        return Lines(self.value[dataset], self.low[dataset], self.high[dataset])

    def for_page(self) -> dict[str, Any]:
        """As JSON holds them."""
        has_band = bool(np.isfinite(self.low).any())
        return {
            "y": numbers(self.value),
            "low": numbers(self.low) if has_band else None,
            "high": numbers(self.high) if has_band else None,
        }


class Results:
    """The scores of a run under readable names, and the curves that come of them.

    Parameters
    ----------
    run : Run

    Attributes
    ----------
    scores : DataFrame
    metric : str
        What stands for the accuracy.
    models, datasets, kinds : list of str
        In the order of the config.
    rates : dict of str to list of float
        Of each kind of noise.
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
        self.models, self.datasets, self.kinds = [list(names.values()) for names in (models, datasets, kinds)]
        rates = self.scores.groupby("noise_kind")["noise_rate"].unique()
        self.rates = {kind: sorted(map(float, rates[kind])) for kind in self.kinds}
        self.sizes = {datasets[name]: facts for name, facts in run.datasets.items() if name in datasets}
        self.n_repeats = int(self.scores["repeat"].nunique())

    @property
    def scores_by_kind(self) -> list[pd.DataFrame]:
        """The scores under each kind of noise."""
        return [self.scores[self.scores["noise_kind"] == kind] for kind in self.kinds]

    @property
    def curves(self) -> tuple[str, str, str]:
        """The metrics that are drawn against the noise rate."""
        return "ela", "rla", self.metric

    @cached_property
    def averages(self) -> dict[str, dict[str, Lines]]:
        """For each metric and kind of noise, the curves averaged over the data sets."""
        return {metric: self._lines(self._averaged[metric][0], metric) for metric in self.curves}

    @cached_property
    def by_dataset(self) -> dict[str, dict[str, Lines]]:
        """The same for each data set."""
        return {
            metric: self._lines(by_dataset(self.scores, metric, self.metric)[0], metric)
            for metric in self.curves
        }

    @property
    def band(self) -> str:
        """What the band of the averages is."""
        return self._averaged[self.metric][1]

    @property
    def band_by_dataset(self) -> str:
        """What the band of the curves of one data set is."""
        return over_repeats(self.n_repeats, 1)

    @cached_property
    def seconds(self) -> dict[str, Lines]:
        """The time of the fits, averaged over the data sets."""
        return self._lines(averaged(self.scores, "fit_seconds")[0], "fit_seconds")

    @cached_property
    def ranks(self) -> dict[str, Lines]:
        """Mean ranks over the data sets for each kind of noise."""
        return self._lines(pd.concat(self._rank_tables.values(), ignore_index=True), "rank")

    @property
    def notes_on_ranks(self) -> list[str]:
        """For each kind of noise, which models are ranked on how many data sets, and what the band is."""
        return [self._note_on_ranks(table) for table in self._rank_tables.values()]

    def _note_on_ranks(self, table: pd.DataFrame) -> str:
        rates = table.groupby("noise_rate")
        n_models, n_datasets = rates["rank"].count(), rates["n_datasets"].first()
        fewest, most = int(n_datasets.min()), int(n_datasets.max())
        if not most:
            return "No data set has a value of every model."
        models = _of(int(n_models.min()), int(n_models.max()), len(self.models), "model")
        sets = _of(fewest, most, len(self.datasets), "data set")
        where = ", those where each of these models has a value" if fewest < len(self.datasets) else ""
        breaks = " Lines break where the models or the data sets change." if self._breaks(table).size else ""
        band = over_datasets(int(n_datasets[n_datasets >= min(most, FEWEST)].min()), most)
        none = ", and none where there are fewer" if fewest < FEWEST <= most else ""
        return f"Among {models}, over {sets}{where}.{breaks} Band: {band}{none}."

    @staticmethod
    def _breaks(table: pd.DataFrame) -> NDArray[np.intp]:
        """Before which rates other models are ranked, or on other data sets, than at the rate before."""
        return np.flatnonzero(np.diff(table.groupby("noise_rate")["compared"].first())) + 1

    @cached_property
    def _rank_tables(self) -> dict[str, pd.DataFrame]:
        picture = Picture(
            scores=self.scores,
            metric=self.metric,
            of=self.metric,
            noise_rate=None,
            everything=self.scores,
            models=self.models,
            chosen=self.models,
            options=FigureOptions(),
            ax=None,
        )
        return {kind: rank_table_by_rate(picture, kind).assign(noise_kind=kind) for kind in self.kinds}

    def _ranks_for_page(self, kind: str) -> dict[str, Any]:
        """The ranks as JSON holds them, with a gap where what is compared changes."""
        breaks, lines = self._breaks(self._rank_tables[kind]), self.ranks[kind]
        parts = (np.insert(part, breaks, math.nan, axis=1) for part in (lines.value, lines.low, lines.high))
        rates = np.insert(np.array(self.rates[kind]), breaks, math.nan)
        return {"x": numbers(rates), **Lines(*parts).for_page()}

    @cached_property
    def _averaged(self) -> dict[str, tuple[pd.DataFrame, str]]:
        return {metric: averaged(self.scores, metric, self.metric) for metric in self.curves}

    def _lines(self, table: pd.DataFrame, metric: str) -> dict[str, Lines]:
        lines: dict[str, Lines] = {}
        for kind in self.kinds:
            axes: dict[str, list[Any]] = {"model": self.models, "noise_rate": self.rates[kind]}
            if "dataset" in table:
                axes = {"dataset": self.datasets, **axes}
            every = pd.MultiIndex.from_product(list(axes.values()), names=list(axes))
            here = table[table["noise_kind"] == kind].set_index(list(axes)).reindex(every)
            shape = tuple(map(len, axes.values()))
            columns = (here[name].to_numpy(dtype=np.float64).reshape(shape) for name in (metric, "low", "high"))
            lines[kind] = Lines(*columns)
        return lines

    def for_page(self, looks: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """All that the script of the page draws.

        Parameters
        ----------
        looks : sequence of dict
            Of the models; see `line_look`.
        """
        sets = [
            {
                metric: [self.by_dataset[metric][kind].of(i).for_page() for kind in self.kinds]
                for metric in self.curves
            }
            for i in range(len(self.datasets))
        ]
        measured = {
            metric: [self.averages[metric][kind].for_page() for kind in self.kinds] for metric in self.curves
        }
        return {
            "models": [{"name": name, **look} for name, look in zip(self.models, looks, strict=True)],
            "datasets": self.datasets,
            "kinds": [{"name": kind, "rates": self.rates[kind]} for kind in self.kinds],
            "labels": {metric: label_of(metric, self.metric) for metric in self.curves}
            | {"rank": "mean rank (1 is the best)", "seconds": label_of("fit_seconds")},
            "short": {metric: short_label_of(metric) for metric in self.curves} | {"rank": "mean rank"},
            "metric": self.metric,
            "mean": measured | {"rank": [self._ranks_for_page(kind) for kind in self.kinds]},
            "seconds": [self.seconds[kind].for_page() for kind in self.kinds],
            "sets": sets,
            "cells": self._cells(),
        }

    def _cells(self) -> dict[str, Any]:
        """The scores, column by column; names and errors by their numbers."""
        columns: dict[str, Any] = {
            "noise_rate": numbers(self.scores["noise_rate"].to_numpy()),
            "realised_rate": numbers(self.scores["realised_rate"].to_numpy()),
            "repeat": self.scores["repeat"].tolist(),
        }
        for name in MEASURES:
            if self.scores[name].notna().any():
                columns[name] = numbers(self.scores[name].to_numpy())
        errors = list(dict.fromkeys(self.scores["error"].dropna()))
        number = {error: i for i, error in enumerate(errors)}
        return {
            "dataset": self.scores["dataset"].map({name: i for i, name in enumerate(self.datasets)}).tolist(),
            "kind": self.scores["noise_kind"].map({name: i for i, name in enumerate(self.kinds)}).tolist(),
            "model": self.scores["model"].map({name: i for i, name in enumerate(self.models)}).tolist(),
            "columns": columns,
            "titles": {"noise_rate": "noise rate", "realised_rate": "realised rate", "repeat": "repeat"}
            | {name: label_of(name) for name in MEASURES if name in columns},
            "errors": errors,
            "error": [number.get(error, -1) for error in self.scores["error"].fillna("")],
        }


def _of(fewest: int, most: int, n: int, what: str) -> str:
    """How many of how many."""
    if fewest == n:
        return {1: f"one {what}", 2: f"both {what}s"}.get(n, f"all {counted(n, what)}")
    return f"{fewest if fewest == most else f'{fewest} to {most}'} of {counted(n, what)}"


def numbers(values: NDArray[Any]) -> Any:
    """An array as nested lists of numbers of a few digits, None where one is missing."""
    if values.ndim > 1:
        return [numbers(part) for part in values]
    return [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in values.tolist()]
