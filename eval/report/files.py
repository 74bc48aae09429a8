"""Result files of a run: scores, tables, figures and the HTML report."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import matplotlib
import numpy as np
import pandas as pd

from .._atomic_file import atomic_write, check_folder
from ..errors import CONTROL, ConfigError, one_line
from ..execution.run import Run
from ..metrics.curves import curve, has_baseline, main_curves, mean_curve
from ..papers.published_comparison import PublishedComparison
from ..plotting.styles import options_of
from ..plotting.sweep_plot import plot_run
from .html.page import write_html
from .published_tables import as_markdown, yes_or_no
from .table_export import latex_tables

# Start of a formula in a cell.  Spreadsheets may skip blanks, and may also split cells at semicolons and tabs.
FORMULA = re.compile(r"((?:^|[;\t\r\n])\s*)([=+\-@＝＋－＠])")
# Without dates, so that the same scores give the same bytes.
FORMATS: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
# A user's settings would lay out figures that have a layout.
NO_LAYOUT: dict[Any, Any] = {"figure.autolayout": False, "figure.constrained_layout.use": False}


def write_report(run: Run, published: PublishedComparison | None = None) -> list[Path]:
    """Write scores, tables of the robustness metrics, figures and the HTML report into the folder of a run.

    Parameters
    ----------
    run : Run
        A result of `run` or `load_run`.
    published : PublishedComparison or None, default=None
        Comparison with published numbers, which becomes files and a part of the report.

    Returns
    -------
    list of Path
        The files written.

    Warns
    -----
    UserWarning
        If a plot cannot be drawn; all other files are written.

    Raises
    ------
    ConfigError
        If the files cannot be written.
    """
    config, scores = run.config, run.scores
    folder = config.output_dir
    written: list[Path] = []

    def write(name: str, save: Callable[[BinaryIO], Any]) -> None:
        with atomic_write(folder / name) as file:
            save(file)
        written.append(folder / name)

    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write("scores.parquet", partial(scores.to_parquet, index=False))
        write("scores.csv", partial(write_csv, scores.drop(columns="correct_rows", errors="ignore")))
        # Where nothing was scored without noise, ELA and the others are undefined.
        of_baseline = ("ela", "rla", "retention", "area_under_ela") if has_baseline(scores).any() else ()
        for metric in of_baseline:
            for name, function in ((metric, curve), (f"{metric}_mean", mean_curve)):
                table = function(scores, metric, config.metric)
                write(f"{name}.csv", partial(write_csv, table))
        write("tables.tex", lambda file: file.write(latex_tables(config, scores).encode()))
        if published is not None:
            cells = published.cells
            if not cells.empty:
                write("published.csv", partial(write_csv, cells.assign(within=yes_or_no(cells["within"]))))
            write("published.md", lambda file: file.write(as_markdown(published).encode()))
        curves = main_curves(scores, config.metric)
        averaged = [name for name in curves if options_of(config, name).save_fig]
        for plot_name in dict.fromkeys([*averaged, *config.figures]):
            try:
                _draw(run, plot_name, write)
            except OSError:
                raise
            except Exception as error:  # noqa: BLE001 - Matplotlib may raise anything; the rest is still written
                warnings.warn(f"plot {plot_name} cannot be drawn: {one_line(error)}", stacklevel=2)
    except OSError as error:
        raise ConfigError(
            f"results cannot be written to {folder}: {error}; the scores are kept in the store"
        ) from None
    try:
        return [*written, write_html(run, run.report_path, published)]
    except ConfigError:
        raise
    except Exception as error:
        # A traceback would not help the user.
        raise ConfigError(
            f"{run.report_path} cannot be written: {one_line(error)}; all other files were written"
        ) from error


def write_csv(table: pd.DataFrame, file: BinaryIO) -> None:
    r"""Write a table as CSV that is safe to open in a spreadsheet and to print in a terminal.

    An apostrophe comes before text that spreadsheets would run as a formula.  Characters that control a
    terminal or change the direction of text are escaped, as in ``\u202e``.

    Parameters
    ----------
    table : DataFrame
        Columns of numbers and text.
    file : binary file
    """
    texts = table.select_dtypes(exclude="number")
    safe = {str(name): texts[name].map(_safe, na_action="ignore") for name in texts}
    table.assign(**safe).rename(columns=_safe).to_csv(file, index=False, mode="wb")


def _safe(text: Any) -> Any:
    """Text for a cell of a CSV file; any other value is kept."""
    if not isinstance(text, str):
        return text
    return FORMULA.sub(r"\1'\2", CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _draw(run: Run, plot_name: str, write: Callable[[str, Callable[[BinaryIO], Any]], None]) -> None:
    """Draw a plot, and write it in all formats."""
    config = run.config
    # A fixed salt makes the ids of an SVG reproducible.
    with matplotlib.rc_context(NO_LAYOUT | {"svg.hashsalt": config.name}), warnings.catch_warnings():
        # Missing glyphs and a figure too small for its text are visible in the figure itself.
        warnings.filterwarnings("ignore", message="Glyph|Font|constrained_layout not applied")
        axes = plot_run(config, run.scores, plot_name)
        figure = np.ravel(np.asarray(axes))[0].figure
        for suffix, metadata in FORMATS.items():
            write(f"{plot_name}.{suffix}", partial(figure.savefig, format=suffix, metadata=metadata))
            figure.set_layout_engine(None)  # keeps the layout; making one takes as long as drawing
