"""List of the models available to configs, for `noisyeval --list`."""

from __future__ import annotations

import textwrap
from itertools import groupby

from rich.console import Console
from rich.text import Text

from ..models.packages import is_installed
from ..models.short_names import VARIANT_PARAMETERS, WRAPPERS, VariantParameter, all_short_names
from ..models.variants import variants

FOLLOWED_BY: dict[VariantParameter, str] = {"criterion": "a split criterion", "loss": "a loss"}


def print_models(console: Console) -> None:
    """Print every short name with a description, and the prefixes and suffixes of short names."""
    models = all_short_names()
    for group, names in groupby(models, key=lambda name: models[name].group):
        members = {name: models[name].summary for name in names}
        package = models[next(iter(members))].module
        _print_group(console, group + _missing(package), members)
    for parameter, what in FOLLOWED_BY.items():
        bases = [name for name in VARIANT_PARAMETERS if VARIANT_PARAMETERS[name] == parameter]
        known = variants(parameter)
        example = f"{bases[-1]}:{next(iter(known))}"
        _print_group(console, f"{', '.join(bases)} with a colon and {what}, as in {example}", known)
    wrappers = {f"{name}+MODEL": wrapper.summary for name, wrapper in WRAPPERS.items()}
    wrappers["cleanlab+MODEL"] += _missing("cleanlab")
    _print_group(console, "One of these models with a prefix, as in cleanlab+robust_forest", wrappers)


def _missing(package: str) -> str:
    return "" if is_installed(package) else f" (not installed; requires the extra {package!r})"


def _print_group(console: Console, title: str, lines: dict[str, str]) -> None:
    """Print a heading and its lines, with hanging indents on narrow terminals."""
    indent = " " * (max(len(name) for name in lines) + 4)
    width = max(console.width, len(indent) + 20)
    console.print(Text(title, style="bold"), soft_wrap=True)
    for name, line in lines.items():
        wrapped = textwrap.fill(line, width, initial_indent=indent, subsequent_indent=indent)
        console.print(Text.assemble("  ", (name, "cyan"), wrapped[len(name) + 2 :]), soft_wrap=True)
    console.print()
