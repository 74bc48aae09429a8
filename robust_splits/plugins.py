"""Extensions that installed packages add by entry points.

A package names its criteria, losses and other extensions in its ``pyproject.toml``:

.. code-block:: toml

    [project.entry-points."boostnoise.criteria"]
    balance = "my_package.criteria:balance"

The name then works wherever a built-in name does.  Nothing of the package is imported before its name is used.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS = ("criteria", "losses", "noise", "metrics", "models", "datasets")


def plugins(group: str) -> dict[str, EntryPoint]:
    """Entry points of installed packages by name, in alphabetical order; of a name of several, one of them.

    Parameters
    ----------
    group : str
        One of `GROUPS`.
    """
    return {name: points[0] for name, points in _points()[group].items()}


@cache
def _points() -> dict[str, dict[str, list[EntryPoint]]]:
    """Different entry points by group and name."""
    from importlib import metadata  # slow to import

    installed = metadata.entry_points()
    found: dict[str, dict[str, list[EntryPoint]]] = {group: {} for group in GROUPS}
    for group, by_name in found.items():
        for point in sorted(installed.select(group=f"boostnoise.{group}"), key=lambda point: point.name):
            points = by_name.setdefault(point.name, []) if point.name.isidentifier() else []
            points += [point] if point.value not in {other.value for other in points} else []
    return found


def find_plugin(group: str, name: str) -> EntryPoint:
    """Entry point of a name, which must exist.

    Raises
    ------
    ValueError
        If two packages define the name.
    """
    point, *others = _points()[group][name]
    if others:
        raise ValueError(
            f"{name!r} of boostnoise.{group} is defined by two packages, {package_of(point)} and "
            f"{package_of(others[0])}; uninstall one"
        )
    return point


def plugin_names(group: str, builtin: Collection[str]) -> list[str]:
    """Names that installed packages add to the built-in ones."""
    return [name for name in plugins(group) if name not in builtin]


def load_plugin(group: str, name: str) -> Any:
    """Import an extension.

    Raises
    ------
    ValueError
        If the package cannot be imported, or lacks it, or two packages define the name.
    """
    point = find_plugin(group, name)
    try:
        return point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the code of a package may raise anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(
            f"{name!r} of boostnoise.{group} cannot be loaded from {point.value} of the package "
            f"{package_of(point)}: {reason}"
        ) from error


def package_of(point: EntryPoint) -> str:
    """Top-level package that an entry point refers to."""
    return point.module.partition(".")[0]
