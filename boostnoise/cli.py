"""The command `noisyeval`."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import warnings
from pathlib import Path

import click

DONE, SOME_CELLS_FAILED, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("config", type=click.Path(path_type=Path))
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Cells fitted side by side, at most.  [default: as many as there are cores for]",
)
@click.option("--fresh", is_flag=True, help="Fit every cell again, also those that an earlier run finished.")
@click.option(
    "--allow-module",
    "allow_modules",
    multiple=True,
    metavar="NAME",
    help="Package that models may come from, beside those always allowed; its code runs.  May be repeated.",
)
@click.version_option(package_name="boostnoise")
def main(config: Path, jobs: int | None, fresh: bool, allow_modules: tuple[str, ...]) -> None:
    """Run the models of CONFIG on its data sets under label noise, and draw ELA and RLA curves.

    Results go to <results_dir>/<name of the config>/: scores, tables and pictures.  Every finished cell is
    kept at once; a run that was stopped goes on where it was when the command is given again.

    Exit status: 0 done, 1 some cells failed, 2 bad config or usage, 130 interrupted.
    """
    # A polite end is an interruption too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(_run(config, jobs, fresh, allow_modules))
    except KeyboardInterrupt:
        again = shlex.join(["noisyeval", *(argument for argument in sys.argv[1:] if argument != "--fresh")])
        click.echo(f"\nInterrupted. What was finished is kept; go on with: {again}", err=True)
        sys.exit(INTERRUPTED)


def _run(path: Path, jobs: int | None, fresh: bool, allow_modules: tuple[str, ...]) -> int:
    # Imported here, so that --help answers at once.
    from rich.console import Console

    from boostnoise.eval.errors import ConfigError
    from boostnoise.eval.reading import load_config

    # Worker processes must not run a random.py that happens to lie in the working directory.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            config = load_config(path)
    except ConfigError as error:
        return _refuse(str(error))
    for warning in caught:
        click.echo(f"noisyeval: warning: {warning.message}", err=True)

    from boostnoise.eval.plots import check_options
    from boostnoise.eval.progress import show_progress
    from boostnoise.eval.report import summary, write_report
    from boostnoise.eval.runner import run

    if fresh:
        config = config.model_copy(update={"resume": False})
    if allow_modules:
        # A user's own module lies in the working directory; at the end of the path it shadows nothing.
        sys.path.append(str(Path.cwd()))
    try:
        for name in ("ela_fig", "rla_fig"):
            check_options(getattr(config, name), name)
        with show_progress(Console(stderr=True, highlight=False), config.name) as progress:
            scores = run(config, n_jobs=jobs or -1, allow_modules=allow_modules, progress=progress)
        write_report(config, scores)
    except ConfigError as error:
        return _refuse(f"{path}: {error}")
    # Where the output is no terminal, nothing limits a line.
    console = Console(width=None if sys.stdout.isatty() else 10_000)
    console.print(summary(config, scores, console.width))
    click.echo(f"Results are in {config.output_dir}")
    return SOME_CELLS_FAILED if scores["error"].notna().any() else DONE


def _refuse(message: str) -> int:
    for line in message.splitlines():
        click.echo(f"noisyeval: error: {line}", err=True)
    return BAD_USAGE
