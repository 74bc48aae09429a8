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
    CONTEXT,
    DONE,
    INTERRUPTED,
    OUT_OF_TIME,
    SOME_CELLS_FAILED,
    Command,
    OutOfTime,
    check_working_directory,
    limit_memory,
    limit_options,
    out_of_memory,
    reraise_interrupts,
    time_limit,
)
from .option_rules import check_combination
from .results import shown_warnings, write_results

if TYPE_CHECKING:
    from ..config.run import Config
    from ..report.display import Display


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
    # Captured, because the console would end the process if the output is closed.
    with console.capture() as capture:
        print_models(console)
    click.echo(capture.get(), nl=False)
    context.exit()


@click.command("noisyeval", cls=Command, context_settings=CONTEXT)
@click.argument("config", type=click.Path(path_type=Path))
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Fit at most N cells in parallel.  [default: as many as the cores allow]",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Fit the cells on the Dask cluster of the scheduler at tcp://HOST:PORT, not on this machine.",
)
@click.option(
    "--quick", is_flag=True, help="Try CONFIG with one repeat and at most 1,000 rows of each data set."
)
@click.option("--fresh", is_flag=True, help="Fit every cell again, including those finished by earlier runs.")
@click.option(
    "--merge",
    "stores",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="First copy the finished cells of another store.sqlite, or of a folder with one.  May be repeated.",
)
@click.option(
    "--allow-module",
    "allow_modules",
    multiple=True,
    metavar="NAME",
    help="Allow models from any class of this package, whose code is executed: an installed one, or one in the "
    "working directory.  May be repeated.",
)
@click.option(
    "--bundle",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write the config, scores, versions and hardware of the run to this zip file, for --verify.",
)
@click.option(
    "--verify",
    is_flag=True,
    help="Fit a random tenth of the cells of a bundle again, compare the scores, and exit.  CONFIG is the file "
    "of --bundle; data files are those of the working directory.",
)
@click.option(
    "--redraw",
    is_flag=True,
    help="Write the results of a run again from its store.  CONFIG is the folder of the run.",
)
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_models,
    help="List the models available to configs, and exit.",
)
@click.option(
    "--init",
    "data",
    metavar="DATA",
    help="Write a starter config with comments for this data file to CONFIG, and exit.",
)
@click.option("--target", metavar="COLUMN", help="With --init: column of the labels.  [default: guessed]")
@click.option(
    "--fetch",
    type=click.Choice(["real_noise", "study_data", "data_2020"]),
    help="Download data sets to the folder CONFIG, and exit: those with labels of people and heuristics beside "
    "checked ones, those of configs/studies, or those of the study of 2020.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="With --fetch: this domain, such as medicine, or data set alone.  May be repeated.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Check everything, print what would run and about how long it takes, and exit.",
)
@limit_options(
    "Memory limit of each process of the run, whatever CONFIG says (Linux only).",
    "Stop the run after this time.  Finished cells are kept.",
)
@click.option(
    "--published",
    metavar="TABLE",
    help="Compare the scores with published numbers: a CSV or Parquet file with the columns dataset, model, "
    "noise_kind, noise_rate, accuracy and sd, or a table or study of this package; see docs/studies.md.",
)
@click.option(
    "--compare-with",
    metavar="RUN",
    help="Place the models among those of another run, without fitting these again: 'reference', "
    "'reference_large' or 'reference_real_noise', studies that are part of this package, or the folder of a "
    "run.  Only cells that both have are shown.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print only errors and the location of the results.")
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON, one object per line.")
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON Schema of configs, for editors, and exit.",
)
@click.version_option(package_name="boostnoise")
def main(
    config: Path,
    jobs: int | None,
    scheduler: str | None,
    quick: bool,
    fresh: bool,
    stores: tuple[Path, ...],
    allow_modules: tuple[str, ...],
    data: str | None,
    target: str | None,
    fetch: str | None,
    only: tuple[str, ...],
    dry_run: bool,
    bundle: Path | None,
    verify: bool,
    redraw: bool,
    max_memory: float | None,
    max_time: float | None,
    published: str | None,
    compare_with: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run the models of CONFIG on its data sets under label noise, and draw ELA and RLA curves.

    Results go to <results_dir>/<name of the config>/: scores, tables, figures, and report.html, which shows
    all of them.  Every finished cell is stored at once.  To resume a stopped run, repeat its command.

    Exit status: 0 done, 1 some cells or trials of --dry-run failed, or --verify found other scores, 2 bad
    config or usage, or the output cannot be written, 124 stopped by --max-time, 130 interrupted, 141 output
    closed (broken pipe).
    """
    os.environ["MPLBACKEND"] = "agg"  # opens no windows, whatever the environment sets
    # SIGTERM interrupts a run like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for name in allow_modules:
        if not name.isidentifier():
            raise click.UsageError(
                f"--allow-module takes the name of a module or package, without folder and dots, got {name!r}"
            )
    check_combination(click.get_current_context())
    # Imported here to keep --help fast.
    from ..errors import ConfigError
    from ..report.console import create_display

    display = create_display(config.stem, quiet=quiet, as_json=as_json)
    if max_memory is not None:
        limit_memory(max_memory)
    try:
        with time_limit(max_time), reraise_interrupts():
            if data is not None:
                sys.exit(_init(config, data, target, display))
            if fetch is not None:
                sys.exit(_fetch(fetch, config, only, display))
            if verify:
                sys.exit(_verify(config, jobs or -1, allow_modules, display))
            if redraw:
                sys.exit(_redraw(config, display, published, compare_with, bundle))
            checked = _read_config(config, fresh, allow_modules, display)
            checked = checked.quick() if quick else checked
            if published is not None:
                from ..papers.published_numbers import check_published

                for remark in check_published(published, checked):
                    display.show_warning(remark)
            if compare_with is not None:
                from ..report.reference import find_other

                find_other(compare_with)
            try:
                if dry_run:
                    sys.exit(_dry_run(checked, jobs or -1, allow_modules, compare_with, display))
                sys.exit(
                    _run(
                        checked,
                        jobs or -1,
                        scheduler,
                        stores,
                        allow_modules,
                        published,
                        compare_with,
                        bundle,
                        display,
                    )
                )
            except ConfigError as error:
                raise ConfigError(f"{config}: {error}") from None
    except ConfigError as error:
        display.show_error(str(error))
        sys.exit(BAD_USAGE)
    except MemoryError:
        display.show_error(out_of_memory(max_memory))
        sys.exit(BAD_USAGE)
    except KeyboardInterrupt as interrupt:
        command = shlex.join(["noisyeval", *(argument for argument in sys.argv[1:] if argument != "--fresh")])
        is_out_of_time = isinstance(interrupt, OutOfTime)
        reason = f"Stopped after {max_time:g} s" if is_out_of_time else "Interrupted"
        display.show_interruption(command, reason, "cells" if fetch is None else "data sets")
        sys.exit(OUT_OF_TIME if is_out_of_time else INTERRUPTED)


def _init(path: Path, data: str, target: str | None, display: Display) -> int:
    from .starter import write_starter

    for remark in write_starter(path, data, target):
        display.show_warning(remark)
    display.show_starter(path, f"run it with: {shlex.join(['noisyeval', str(path)])}")
    return DONE


def _fetch(what: str, folder: Path, only: tuple[str, ...], display: Display) -> int:
    if what == "real_noise":
        from ..real_noise.fetch import fetch_real_noise

        display.show_fetched(folder, fetch_real_noise(folder, only=only or None, progress=display.show_step))
        return DONE
    from ..study_data.data_2020 import fetch_data_2020
    from ..study_data.fetch import fetch_study_data

    fetch = fetch_study_data if what == "study_data" else fetch_data_2020
    for path in fetch(folder, only=only or None, progress=display.show_step):
        display.show_file(path)
    return DONE


def _redraw(
    folder: Path,
    display: Display,
    published: str | None = None,
    compare_with: str | None = None,
    bundle: Path | None = None,
) -> int:
    from ..config.run import STORE_NAME
    from ..errors import ConfigError

    # A stopped run has no folder yet, but a record in the store.
    if not folder.is_dir() and (folder.exists() or not (folder.parent / STORE_NAME).is_file()):
        raise ConfigError(f"{folder}: must be the folder of a run for --redraw, such as results/study")
    from .._atomic_file import check_folder
    from ..execution.run import load_run

    check_folder(folder)
    return write_results(load_run(folder), display, published, compare_with, bundle, always=True)


def _verify(path: Path, n_jobs: int, allow_modules: tuple[str, ...], display: Display) -> int:
    from ..bundles.verification import verify_bundle

    with shown_warnings(display):
        found = verify_bundle(path, n_jobs=n_jobs, allow_modules=allow_modules, progress=display.show_step)
    display.show_verification(found)
    return DONE if found.is_verified else SOME_CELLS_FAILED


def _read_config(path: Path, fresh: bool, allow_modules: tuple[str, ...], display: Display) -> Config:
    from ..config.reader import load_config

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        config = load_config(path)
    for warning in caught:
        display.show_warning(str(warning.message))
    if allow_modules:
        from ..models.own_modules import import_from_working_directory

        import_from_working_directory(allow_modules)
    return config.model_copy(update={"resume": False}) if fresh else config


def _dry_run(
    config: Config, n_jobs: int, allow_modules: tuple[str, ...], compare_with: str | None, display: Display
) -> int:
    from ..config.line_styles import check_figures
    from ..execution.forecast import forecast
    from ..execution.local_pool import worker_count
    from ..execution.plan import plan
    from ..report.reference import check_in_common

    check_figures(config)
    n_workers = worker_count(n_jobs, config.threads)
    with shown_warnings(display):
        planned = plan(config, allow_modules=allow_modules)
        if compare_with is not None:
            check_in_common(planned, compare_with)
        expected = forecast(planned, n_workers)
        display.show_forecast(planned, expected)
    return SOME_CELLS_FAILED if any(pair.error is not None for pair in expected.pairs) else DONE


def _run(
    config: Config,
    n_jobs: int,
    scheduler: str | None,
    stores: tuple[Path, ...],
    allow_modules: tuple[str, ...],
    published: str | None,
    compare_with: str | None,
    bundle: Path | None,
    display: Display,
) -> int:
    from .._atomic_file import check_folder
    from ..config.line_styles import check_figures
    from ..execution.plan import plan
    from ..execution.runner import merge, run
    from ..report.reference import check_in_common

    check_figures(config)
    if bundle is not None:
        check_folder(bundle.absolute().parent)
    if compare_with is not None:
        check_in_common(plan(config, allow_modules=allow_modules), compare_with)
    if stores:
        display.show_merge(merge(config, stores))
    with display, shown_warnings(display):
        finished = run(
            config, n_jobs=n_jobs, scheduler=scheduler, allow_modules=allow_modules, progress=display
        )
    return write_results(finished, display, published, compare_with, bundle)
