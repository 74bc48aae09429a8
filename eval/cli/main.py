"""The command `noisyeval`."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .command import (
    BAD_USAGE,
    DONE,
    INTERRUPTED,
    OUT_OF_TIME,
    SOME_CELLS_FAILED,
    Command,
    OutOfTime,
    check_working_directory,
    limit_memory,
    time_limit,
)

if TYPE_CHECKING:
    from ..config.run import Config
    from ..execution.run import Run
    from ..report.console import Display


def _print_schema(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from ..config.json_schema import config_schema

        click.echo(json.dumps(config_schema(), indent=2))
        context.exit()


def _list_models(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    check_working_directory()
    from rich.console import Console

    from .model_list import print_models

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 10_000)
    # Printed by itself, the console would end the process where nobody reads the output.
    with console.capture() as capture:
        print_models(console)
    click.echo(capture.get(), nl=False)
    context.exit()


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("config", type=click.Path(path_type=Path))
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Cells fitted side by side, at most.  [default: as many as there are cores for]",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Fit the cells on a Dask cluster, whose scheduler is at tcp://HOST:PORT, in place of this machine.",
)
@click.option("--fresh", is_flag=True, help="Fit every cell again, also those that an earlier run finished.")
@click.option(
    "--merge",
    "stores",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Take over first what another store.sqlite, or a folder with one, has finished.  May be repeated.",
)
@click.option(
    "--allow-module",
    "allow_modules",
    multiple=True,
    metavar="NAME",
    help="Allow models to name any class of this package; its code runs.  May be repeated.",
)
@click.option(
    "--redraw",
    is_flag=True,
    help="Write the results of a run again, from its store alone; CONFIG is then the folder of the run.",
)
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_models,
    help="List the models that a config may name, and exit.",
)
@click.option(
    "--init",
    "data",
    metavar="DATA",
    help="Write a commented starter config for this data file to CONFIG, and run nothing.",
)
@click.option("--target", metavar="COLUMN", help="For --init: the column of the labels.  [default: guessed]")
@click.option(
    "--dry-run", is_flag=True, help="Check everything, tell what would run and about how long, and stop."
)
@click.option(
    "--max-memory",
    type=click.FloatRange(min=0.5, max=1e6),
    metavar="GIB",
    help="Let no process of the run take more memory, whatever CONFIG says (on Linux).",
)
@click.option(
    "--max-time",
    type=click.FloatRange(min=0, min_open=True, max=1e8),
    metavar="SECONDS",
    help="Stop the run after so long; what was finished is kept.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors and where the results are.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object per event, one to a line.")
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON Schema of configs, from which editors complete, and exit.",
)
@click.version_option(package_name="boostnoise")
def main(
    config: Path,
    jobs: int | None,
    scheduler: str | None,
    fresh: bool,
    stores: tuple[Path, ...],
    allow_modules: tuple[str, ...],
    data: str | None,
    target: str | None,
    dry_run: bool,
    redraw: bool,
    max_memory: float | None,
    max_time: float | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run the models of CONFIG on its data sets under label noise, and draw ELA and RLA curves.

    Results go to <results_dir>/<name of the config>/: scores, tables, pictures, and report.html, which shows
    them all.  Every finished cell is kept at once; a run that was stopped goes on where it was when the command
    is given again.

    Exit status: 0 done, 1 some cells failed, 2 bad config or usage, or no room for the output,
    124 stopped by --max-time, 130 interrupted, 141 nobody reads the output.
    """
    os.environ["MPLBACKEND"] = "agg"  # no window is opened, whatever the environment asks for
    # A polite end is an interruption too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if data is None and target is not None:
        raise click.UsageError("--target needs --init")
    if dry_run and stores:
        raise click.UsageError("--dry-run writes nothing, so it cannot go with --merge")
    if scheduler is not None and jobs is not None:
        raise click.UsageError("--jobs is for this machine, so it cannot go with --scheduler")
    if redraw:
        others = {
            "--jobs": bool(jobs), "--scheduler": bool(scheduler), "--fresh": fresh, "--merge": bool(stores),
            "--allow-module": bool(allow_modules), "--init": bool(data), "--dry-run": dry_run,
        }  # fmt: skip
        given = [option for option, is_given in others.items() if is_given]
        if given:
            raise click.UsageError(f"--redraw fits nothing, so it cannot go with {given[0]}")
    # Imported here, so that --help answers at once.
    from ..errors import ConfigError
    from ..report.console import create_display

    display = create_display(config.stem, quiet=quiet, as_json=as_json)
    if max_memory is not None:
        limit_memory(max_memory)
    try:
        with time_limit(max_time):
            if data is not None:
                sys.exit(_init(config, data, target, display))
            if redraw:
                sys.exit(_redraw(config, display))
            checked = _read(config, fresh, allow_modules, display)
            try:
                if dry_run:
                    sys.exit(_forecast(checked, jobs or -1, allow_modules, display))
                sys.exit(_run(checked, jobs or -1, scheduler, stores, allow_modules, display))
            except ConfigError as error:
                raise ConfigError(f"{config}: {error}") from None
    except ConfigError as error:
        display.show_error(str(error))
        sys.exit(BAD_USAGE)
    except MemoryError:
        display.show_error("out of memory" + (f"; --max-memory is {max_memory:g} GiB" if max_memory else ""))
        sys.exit(BAD_USAGE)
    except KeyboardInterrupt as interrupt:
        again = shlex.join(["noisyeval", *(argument for argument in sys.argv[1:] if argument != "--fresh")])
        is_out_of_time = isinstance(interrupt, OutOfTime)
        display.show_interruption(again, f"Stopped after {max_time:g} s" if is_out_of_time else "Interrupted")
        sys.exit(OUT_OF_TIME if is_out_of_time else INTERRUPTED)


def _init(path: Path, data: str, target: str | None, display: Display) -> int:
    from .starter import write_starter

    for remark in write_starter(path, data, target):
        display.show_warning(remark)
    display.show_starter(path, f"run it with: {shlex.join(['noisyeval', str(path)])}")
    return DONE


def _redraw(folder: Path, display: Display) -> int:
    from ..config.run import STORE_NAME
    from ..errors import ConfigError

    # A run that was stopped has no folder yet, but the store knows it.
    if not folder.is_dir() and (folder.exists() or not (folder.parent / STORE_NAME).is_file()):
        raise ConfigError(f"{folder}: --redraw takes the folder of a run, such as results/study")
    from .._atomic_file import check_folder
    from ..execution.run import load_run

    check_folder(folder)
    return _end(load_run(folder), display)


def _read(path: Path, fresh: bool, allow_modules: tuple[str, ...], display: Display) -> Config:
    from ..config.reader import load_config

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        config = load_config(path)
    for warning in caught:
        display.show_warning(str(warning.message))
    if allow_modules:
        # A user's own module lies in the working directory; at the end of the path it shadows nothing.
        sys.path.append(str(Path.cwd()))
    return config.model_copy(update={"resume": False}) if fresh else config


def _forecast(config: Config, n_jobs: int, allow_modules: tuple[str, ...], display: Display) -> int:
    from ..config.line_styles import check_figures
    from ..execution.forecast import forecast
    from ..execution.local_pool import worker_count
    from ..execution.plan import plan

    check_figures(config)
    n_workers = worker_count(n_jobs, config.threads)
    display.show_forecast(config, forecast(plan(config, allow_modules=allow_modules), n_workers))
    return DONE


def _run(
    config: Config,
    n_jobs: int,
    scheduler: str | None,
    stores: tuple[Path, ...],
    allow_modules: tuple[str, ...],
    display: Display,
) -> int:
    from ..config.line_styles import check_figures
    from ..execution.runner import merge, run

    check_figures(config)
    if stores:
        display.show_merge(merge(config, stores))
    with display, warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: display.show_warning(str(message))
        finished = run(
            config, n_jobs=n_jobs, scheduler=scheduler, allow_modules=allow_modules, progress=display
        )
    return _end(finished, display)


def _end(run: Run, display: Display) -> int:
    """Write the results, and tell of them."""
    from ..report.files import write_report

    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: display.show_warning(str(message))
        files = write_report(run)
    display.show_results(run, files)
    return SOME_CELLS_FAILED if run.scores["error"].notna().any() else DONE
