"""The report: tables and pictures of a run, from its scores alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import matplotlib
import numpy as np
import pandas as pd

from .._atomic_file import atomic_write, check_folder
from ..errors import ConfigError, one_line
from ..execution.run_record import Run
from ..metrics.curves import curve, mean_curve
from ..plotting.plot import plot
from ..plotting.styles import options_of
from .html.page import write_html

# Where a cell begins, for a spreadsheet that takes semicolons or tabs between cells, too.
FORMULA = r"(^|[;\t\r])([=+\-@＝＋－＠])"
# No dates: the same scores give the same bytes.
FORMATS: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def write_report(run: Run) -> list[Path]:
    """Write the scores, tables of ELA and what comes of it, pictures and a page into the folder of the run.

    Parameters
    ----------
    run : Run
        As `run` or `load_run` returns it.

    Returns
    -------
    list of Path
        The files written.

    Warns
    -----
    UserWarning
        If a picture cannot be drawn; all else is written.

    Raises
    ------
    ConfigError
        If they cannot be written.
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
        write("scores.csv", partial(_to_csv, scores))
        for metric in ("ela", "rla", "retention", "area_under_ela"):
            for name, function in ((metric, curve), (f"{metric}_mean", mean_curve)):
                table = function(scores, metric, config.metric)
                write(f"{name}.csv", partial(_to_csv, table))
        averaged = [kind for kind in ("ela", "rla") if options_of(config, kind).save_fig]
        for kind in dict.fromkeys([*averaged, *config.figures]):
            try:
                _draw(run, kind, write)
            except OSError:
                raise
            except Exception as error:  # noqa: BLE001 - Matplotlib raises whatever comes; the rest is still written
                warnings.warn(f"the picture {kind} cannot be drawn: {one_line(error)}", stacklevel=2)
    except OSError as error:
        raise ConfigError(
            f"results cannot be written to {folder}: {error}; the scores are kept in the store"
        ) from None
    try:
        return [*written, write_html(run, run.report_path)]
    except ConfigError:
        raise
    except Exception as error:
        # All other results are written, and a traceback would not help the user.
        raise ConfigError(
            f"{run.report_path} cannot be written: {one_line(error)}; all other results are"
        ) from error


def _to_csv(table: pd.DataFrame, file: BinaryIO) -> None:
    """Write a table as CSV, with an apostrophe before text that a spreadsheet would run as a formula."""
    texts = table.select_dtypes(exclude="number")
    safe = {str(name): texts[name].str.replace(FORMULA, r"\1'\2", regex=True) for name in texts}
    table.assign(**safe).to_csv(file, index=False, mode="wb")


def _draw(run: Run, kind: str, write: Callable[[str, Callable[[BinaryIO], Any]], None]) -> None:
    """Draw a picture, and write it in all formats."""
    config = run.config
    # The ids of an SVG come from a fixed salt.
    with matplotlib.rc_context({"svg.hashsalt": config.name}), warnings.catch_warnings():
        # A script that the font lacks, or a figure too small for its text, can be seen in the picture.
        warnings.filterwarnings("ignore", message="Glyph|Font|constrained_layout not applied")
        axes = plot(run.scores, kind, of=config.metric, options=options_of(config, kind))
        figure = np.ravel(np.asarray(axes))[0].figure
        for suffix, metadata in FORMATS.items():
            write(f"{kind}.{suffix}", partial(figure.savefig, format=suffix, metadata=metadata))
