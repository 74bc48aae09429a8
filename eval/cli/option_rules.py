"""Rules of `noisyeval`: options that require others, and options that cannot be combined."""

from __future__ import annotations

import click

REQUIRED = {"--target": "--init", "--only": "--fetch"}
# Options, why they exclude others, and which.
EXCLUSIVE = {
    "--fetch": ("only downloads", ("--init", "--redraw", "--dry-run", "--bundle")),
    "--dry-run": ("writes nothing", ("--merge", "--bundle")),
    "--jobs": ("applies to this machine", ("--scheduler",)),
    "--redraw": (
        "fits nothing",
        ("--jobs", "--scheduler", "--quick", "--fresh", "--merge", "--allow-module", "--init", "--dry-run"),
    ),
    "--verify": (
        "writes no results",
        (
            *("--scheduler", "--quick", "--fresh", "--merge", "--init", "--fetch", "--dry-run"),
            *("--bundle", "--redraw", "--published", "--compare-with"),
        ),
    ),
}


def check_combination(context: click.Context) -> None:
    """Raise a UsageError if an option lacks one that it requires, or two exclude each other."""
    given = {
        parameter.opts[-1] for parameter in context.command.params if context.params.get(str(parameter.name))
    }
    for option, required in REQUIRED.items():
        if option in given and required not in given:
            raise click.UsageError(f"{option} requires {required}")
    for option, (why, others) in EXCLUSIVE.items():
        for other in others:
            if option in given and other in given:
                raise click.UsageError(f"{option} {why}, so it cannot be combined with {other}")
