"""The list of models that a config may name, as `noisyeval --list` prints it."""

from __future__ import annotations

import textwrap
from itertools import groupby

from rich.console import Console
from rich.text import Text

from ..models.factory import variants
from ..models.packages import is_installed
from ..models.short_names import FILTER, SHORT_NAMES, VARIANT_PARAMETERS, VariantParameter

FOLLOWED_BY: dict[VariantParameter, str] = {"criterion": "a split criterion", "loss": "a loss"}


def print_models(console: Console) -> None:
    """Print every short name with what it is, and what may come before and after one."""
    for group, names in groupby(SHORT_NAMES, key=lambda name: SHORT_NAMES[name].group):
        members = {name: SHORT_NAMES[name].summary for name in names}
        package = SHORT_NAMES[next(iter(members))].module
        _print_group(console, group + _missing(package), members)
    for parameter, what in FOLLOWED_BY.items():
        bases = [name for name in VARIANT_PARAMETERS if VARIANT_PARAMETERS[name] == parameter]
        known = variants(parameter)
        example = f"{bases[-1]}:{next(iter(known))}"
        _print_group(console, f"{', '.join(bases)} with {what} after a colon, as in {example}", known)
    _print_group(
        console,
        "Any of these with a filter of wrong labels before it" + _missing("cleanlab"),
        {f"{FILTER}MODEL": f"fitted without the rows that cleanlab finds, as in {FILTER}xgboost"},
    )


def _missing(package: str) -> str:
    return "" if is_installed(package) else f" (not installed; the extra {package!r} brings it)"


def _print_group(console: Console, title: str, lines: dict[str, str]) -> None:
    """Print a heading and lines that hang where the terminal is too narrow for them."""
    indent = " " * (max(len(name) for name in lines) + 4)
    width = max(console.width, len(indent) + 20)
    console.print(Text(title, style="bold"), soft_wrap=True)
    for name, line in lines.items():
        wrapped = textwrap.fill(line, width, initial_indent=indent, subsequent_indent=indent)
        console.print(Text.assemble("  ", (name, "cyan"), wrapped[len(name) + 2 :]), soft_wrap=True)
    console.print()
