"""`Comparison`: the results of a run as tables, tests, plots and text."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..config.run import Config
from ..execution.run import Run, load_run
from ..metrics.curves import by_noise_rate, curve, mean_curve
from ..metrics.registry import higher_is_better
from ..statistics.bayesian_signed_rank import ROPE
from ..statistics.score_tables import rank_table, resolve_noise_kind, score_table
from ..statistics.significance import SignificanceTests, significance_tests
from ..statistics.verdict import compared_rate, verdict
from .text import as_html, as_text, heading

if TYPE_CHECKING:  # Matplotlib takes long to load
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ..papers.published_comparison import PublishedComparison
    from ..report.table_export import Cells

AREA = "area_under_ela"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Results of a comparison of models under label noise.

    `compare` returns one, and `Comparison.load` opens one from a store.  Printing it gives a short summary; a
    notebook shows tables and the curves of ELA.

    Parameters
    ----------
    run : Run
        The config, the scores and the other records of the run.
    """

    run: Run

    @classmethod
    def load(cls, results_dir: str | Path = "results", name: str | None = None) -> Comparison:
        """Open a comparison, or a run of ``noisyeval``, from its store alone.  Nothing is fitted.

        Parameters
        ----------
        results_dir : str or Path, default="results"
            The folder of the store, or the run's own folder in it.
        name : str or None, default=None
            Name of the run; None for the only one.

        Raises
        ------
        ConfigError
            If the run does not exist, or the store cannot be read.
        """
        return cls(load_run(results_dir, name))

    @property
    def config(self) -> Config:
        """Config of the run."""
        return self.run.config

    @property
    def scores(self) -> pd.DataFrame:
        """Copy of the scores, one row per cell, as in `boostnoise.eval.Run`; a failed cell has an error."""
        return self.run.scores.copy()

    def compare_with(self, source: str | Path = "reference") -> Comparison:
        """Place the models among those of another run, without fitting these again.

        Only cells that both runs have are kept: the same rows, split, noise and seed, whatever the names.
        Warnings say what was left out, and packages whose versions differ.

        Parameters
        ----------
        source : str or Path, default="reference"
            A study of `boostnoise.eval.reference`, or the folder of a run, such as ``results/study``.

        Raises
        ------
        ConfigError
            If there is no such run, or the runs have no cells in common.
        """
        from ..report.reference import add_models_of

        joined, remarks = add_models_of(self.run, source)
        for remark in remarks:
            warnings.warn(remark, stacklevel=2)
        return Comparison(joined)

    def ela(self, *, by_dataset: bool = False, noise_kind: str | None = None) -> pd.DataFrame:
        """Equalised loss of accuracy, ``(1 - A_v) / A_0``: a row for each model, a column for each noise rate.

        See `curve`.
        """
        return self.curve("ela", by_dataset=by_dataset, noise_kind=noise_kind)

    def rla(self, *, by_dataset: bool = False, noise_kind: str | None = None) -> pd.DataFrame:
        """Relative loss of accuracy, ``(A_0 - A_v) / A_0``: a row for each model, a column for each noise rate.

        See `curve`.
        """
        return self.curve("rla", by_dataset=by_dataset, noise_kind=noise_kind)

    def curve(self, metric: str, *, by_dataset: bool = False, noise_kind: str | None = None) -> pd.DataFrame:
        """A metric against the noise rate, as a wide table; `boostnoise.eval.curve` returns a tidy one.

        Parameters
        ----------
        metric : str
            A measure, such as ``"accuracy"``, or ``"ela"``, ``"rla"``, ``"retention"``, ``"area_under_ela"``.
        by_dataset : bool, default=False
            Whether each data set has its own rows; otherwise the table holds the mean over them.
        noise_kind : str or None, default=None
            The kind of noise; None for all.

        Returns
        -------
        DataFrame
            Means over the repeats; NaN where a repeat is missing.  A row for each model, by data set if
            `by_dataset`, by kind of noise if there are several; a column for each noise rate, or one named
            ``"area"``.

        Raises
        ------
        ValueError
            If the metric or the kind of noise is unknown.
        """
        scores = self._of_kind(noise_kind)
        table = (curve if by_dataset else mean_curve)(scores, metric, self.config.metric)
        table = pd.concat([of_kind for _, of_kind in table.groupby("noise_kind", sort=False)])
        several = table["noise_kind"].nunique() > 1
        return by_noise_rate(table, metric, ["noise_kind"] * several + ["dataset"] * by_dataset + ["model"])

    def _kind(self, noise_kind: str | None) -> str:
        """Check the kind of noise; None stands for the only one."""
        return resolve_noise_kind(self.run.scores, noise_kind)

    def _of_kind(self, noise_kind: str | None) -> pd.DataFrame:
        """Scores under a kind of noise, or all scores."""
        scores = self.run.scores
        return scores if noise_kind is None else scores[scores["noise_kind"] == self._kind(noise_kind)]

    def ranks(
        self, noise_rate: float | None = None, *, metric: str | None = None, noise_kind: str | None = None
    ) -> pd.DataFrame:
        """Rank the models on each data set: 1 is the best, ties share their mean rank.

        Parameters
        ----------
        noise_rate : float or None, default=None
            The noise rate; None for the noise rate of `verdict`.
        metric : str or None, default=None
            The metric to rank by, see `curve`; None for the measure of the run.
        noise_kind : str or None, default=None
            The kind of noise; None for the only one.

        Returns
        -------
        DataFrame
            A row for each data set, a column for each model.  Models without any value have no ranks, nor has a
            data set where another model lacks a value; ``.mean()`` gives the mean ranks.
        """
        chosen = self._chosen(noise_rate, metric, noise_kind)
        return rank_table(score_table(**chosen), higher_is_better=higher_is_better(chosen["metric"]))

    def tests(
        self,
        noise_rate: float | None = None,
        control: str | None = None,
        *,
        metric: str | None = None,
        noise_kind: str | None = None,
        alpha: float = 0.05,
        rope: float = ROPE,
    ) -> SignificanceTests:
        """Test whether models differ, over the data sets and on each one.

        Parameters
        ----------
        noise_rate, metric, noise_kind
            See `ranks`.
        control : str or None, default=None
            The model that is compared with every other; None for the model with the best mean rank.
        alpha : float, default=0.05
            Significance level.
        rope : float, default=0.01
            Largest difference that the Bayesian test takes for none.

        Returns
        -------
        SignificanceTests
            Prints as prose and small tables, with a remark where there are too few data sets or repeats for a
            test.
        """
        chosen = self._chosen(noise_rate, metric, noise_kind)
        chosen |= {"test_fraction": self.config.resampled_fraction, "fixed": self.config.sets_with_own_split}
        return significance_tests(**chosen, control=control, alpha=alpha, rope=rope)

    def verdict(self, noise_rate: float | None = None, control: str | None = None) -> str:
        """Describe which model does best and what is significant, in a paragraph per kind of noise.

        Another paragraph names the kinds of noise that also change test labels.

        Parameters
        ----------
        noise_rate : float or None, default=None
            The noise rate; None for the one nearest to 30 % among those with the most complete data sets.
        control : str or None, default=None
            See `tests`.
        """
        paragraphs = verdict(
            self.run.scores,
            metric=self.config.metric,
            control=control,
            noise_rate=noise_rate,
            test_fraction=self.config.resampled_fraction,
            fixed=self.config.sets_with_own_split,
        )
        noisy_tests = self.config.scored_on()
        return "\n\n".join([*paragraphs, *([f"{noisy_tests}."] if noisy_tests else [])])

    def _chosen(self, noise_rate: float | None, metric: str | None, noise_kind: str | None) -> dict[str, Any]:
        """Arguments for statistics at one noise rate."""
        kind = self._kind(noise_kind)
        metric = self.config.metric if metric is None else metric
        if noise_rate is None and metric != AREA:
            noise_rate = compared_rate(self._of_kind(kind), self.config.metric)
        return {
            "scores": self.run.scores,
            "metric": metric,
            "noise_rate": noise_rate,
            "noise_kind": kind,
            "measure": self.config.metric,
        }

    def __str__(self) -> str:
        return as_text(self.run, self.verdict())

    def __repr__(self) -> str:
        return f"<Comparison {heading(self.run)}>"

    def _repr_html_(self) -> str:
        return as_html(self.run, self.verdict())

    def plot(
        self,
        plot: str = "ela",
        *,
        noise_rate: float | None = None,
        noise_kind: str | None = None,
        models: Sequence[str] | None = None,
        metric: str | None = None,
        ax: Axes | None = None,
    ) -> Axes | NDArray[Any]:
        """Plot the scores.

        Parameters
        ----------
        plot : str, default="ela"
            ``"ela"``, ``"rla"``, ``"retention"`` or a measure, optionally followed by ``"_by_dataset"``;
            ``"critical_difference"``, ``"ranks"``, ``"time"``, ``"time_per_dataset"``, ``"heatmap"``; or,
            without other arguments, ``"parameter_sweep"``, ``"training_size"``.
        noise_rate : float or None, default=None
            The noise rate of ``"critical_difference"``, ``"time"``, ``"time_per_dataset"`` and ``"heatmap"``;
            None for the one of `verdict`.
        noise_kind, models, metric
            See `boostnoise.eval.plot`.
        ax : Axes or None, default=None
            Where to draw; None for a new pyplot figure, which notebooks and ``plt.show()`` display.

        Returns
        -------
        Axes or ndarray of Axes
        """
        from ..plotting.sweep_plot import plot_run

        chosen = {
            "noise_rate": noise_rate,
            "noise_kind": noise_kind,
            "models": models,
            "metric": metric,
            "ax": ax,
        }
        axes = plot_run(self.config, self.run.scores, plot, **chosen)
        if ax is None:
            from ..plotting.figure import figure_of, show_with_pyplot

            show_with_pyplot(figure_of(axes))
        return axes

    def to_latex(
        self,
        metric: str | None = None,
        *,
        noise_rate: float | None = None,
        noise_kind: str | None = None,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        """A LaTeX table of each model on each data set at one noise rate, with mean and standard deviation.

        The best model of each data set is bold.  Models whose interval overlaps the best model's have an
        asterisk, see `boostnoise.eval.best_and_overlapping`.  The table needs the LaTeX package booktabs.
        Names are escaped, except formulas between dollar signs.

        Parameters
        ----------
        metric, noise_rate, noise_kind
            See `ranks`.
        caption : str or None, default=None
            Caption, which is escaped as well; None for a description of the table.
        label : str or None, default=None
            LaTeX label of the table.
        """
        from ..report.table_export import as_latex

        for argument, text in (("caption", caption), ("label", label)):
            if not isinstance(text, str | None):
                raise TypeError(f"{argument} must be text or None, got {text!r:.60}")
        table, default_caption = self._marked(noise_rate, metric, noise_kind)
        return as_latex(table, default_caption if caption is None else caption, label)

    def to_markdown(
        self, metric: str | None = None, *, noise_rate: float | None = None, noise_kind: str | None = None
    ) -> str:
        """The same table as `to_latex` in Markdown."""
        from ..report.table_export import as_markdown

        return as_markdown(*self._marked(noise_rate, metric, noise_kind))

    def _marked(
        self, noise_rate: float | None, metric: str | None, noise_kind: str | None
    ) -> tuple[Cells, str]:
        """Cells of a table at one noise rate, and the caption."""
        from ..report.table_export import table_of_run

        chosen = self._chosen(noise_rate, metric, noise_kind)
        del chosen["measure"]
        return table_of_run(self.config, **chosen)

    def against(self, published: str | Path | pd.DataFrame, metric: str | None = None) -> PublishedComparison:
        """Compare the scores with published numbers, cell by cell.

        Parameters
        ----------
        published : str, Path or DataFrame
            A frame, see `compare_with_published`, a CSV or Parquet file, or the name of a table of this
            package, such as ``"wilton_2024_table_2"``, or of a study whose claims it checks, such as
            ``"ghosh_2017_figure_1b"``.
        metric : str or None, default=None
            The measure; None for that of the run.

        Returns
        -------
        PublishedComparison
            Printed, it is a summary with the cells outside of the bands.

        Raises
        ------
        ConfigError
            If the numbers cannot be read, lack a column or value, hold a cell twice or are out of range, or the
            run has none of the cells.
        """
        from ..papers.published_numbers import against_published

        return against_published(self.run, published, metric)

    def report(self, path: str | Path | None = None) -> Path:
        """Write the report of the run as one self-contained HTML file.

        Parameters
        ----------
        path : str, Path or None, default=None
            The file; None for ``<results_dir>/<name>/report.html``.

        Returns
        -------
        Path
        """
        from ..report.html.page import write_html

        return write_html(self.run, self.run.report_path if path is None else Path(path))

    def to_config(self, path: str | Path) -> Path:
        """Write the config of this comparison, to be run with ``noisyeval PATH``."""
        path = Path(path)
        path.write_text(json.dumps(self.config.model_dump(), indent=2), encoding="utf-8")
        return path
