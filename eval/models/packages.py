"""Packages that a model depends on, and whether they are installed."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from robust_splits.plugins import package_of, plugins

from .._wording import is_or_are, listed
from ..errors import ConfigError, one_line

# Packages that models depend on, by module or class.
DEPENDENCIES = {"boostnoise": ("xgboost", "lightgbm"), "CleanlabClassifier": ("cleanlab",)}

# Optional packages; each is installed by the extra of the same name.
EXTRAS = ("catboost", "cleanlab", "tabicl", "tabpfn")

MAX_NESTED = 7  # depth of nested estimators


def packages_of(classes: Collection[tuple[Any, Any]]) -> list[str]:
    """Packages that classes depend on, each given by its module and name; see `described_classes`."""
    packages = {str(module).partition(".")[0] for module, _ in classes}
    names = {str(name) for described in classes for name in described}
    return sorted(packages.union(*(DEPENDENCIES.get(name, ()) for name in names)))


def packages_of_plugins(spec: Any) -> list[str]:
    """Installed packages whose criteria or losses the parameters of a model name."""
    points = [point for group in ("criteria", "losses") for point in plugins(group).values()]
    names = set(_texts_in([spec.params, spec.search.params if spec.search else None])) if points else set()
    return sorted({package_of(point) for point in points if point.name in names})


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(item)


def described_classes(spec: Any) -> list[tuple[Any, Any]]:
    """Module and class name of a model and of its nested estimators, except classes of the user's process."""
    nested = descriptions_in([spec.params, spec.search.params if spec.search else None])
    listed = [(inner["module"], inner["model"]) for inner in nested if "hash" not in inner]
    return listed if spec.hash else [(spec.module, spec.model), *listed]


def is_installed(package: str) -> bool:
    """Whether a package is installed; only packages of extras may be missing."""
    return package not in EXTRAS or importlib.util.find_spec(package) is not None


def missing_extras(packages: Iterable[str]) -> list[str]:
    """The optional ones among packages that are not installed."""
    return [package for package in packages if not is_installed(package)]


def not_installed(packages: list[str]) -> str:
    """Clause that says what to install."""
    return f"{listed(packages)} {is_or_are(len(packages))} not installed; pip install {' '.join(packages)}"


def import_extras(packages: Collection[str]) -> None:
    """Import the optional ones among the packages of a model, so that the import does not count as fit time.

    Raises
    ------
    ConfigError
        If a package is not installed or cannot be imported.
    """
    missing = missing_extras(packages)
    if missing:
        raise ConfigError(not_installed(missing))
    for package in packages:
        if package in EXTRAS:
            try:
                # Not in the working directory, where TabPFN would read hosts and files from .env.
                with contextlib.chdir(Path(__file__).parent):
                    importlib.import_module(package)
            except ImportError as error:
                raise ConfigError(f"{package} cannot be imported: {one_line(error)}") from None


def is_description(value: Any) -> bool:
    """Whether a parameter value is the description of a nested estimator."""
    keys = {"name", "module", "model", "params", "hash"}
    return isinstance(value, dict) and {"module", "model"} <= set(value) <= keys


def descriptions_in(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Descriptions of the estimators that are nested in parameters."""
    if is_description(value):
        depth += 1
        if depth > MAX_NESTED:
            # Each level triples the time that scikit-learn's get_params takes.
            raise ConfigError(f"estimators must be nested at most {MAX_NESTED} deep")
        yield value
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from descriptions_in(item, depth)
