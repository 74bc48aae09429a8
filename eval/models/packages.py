"""The packages that models are made of: which they are, whether they are there, and in which version."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from ..errors import ConfigError, one_line

# What a package is installed by, and what a module's models are made of, where its name does not say.
DISTRIBUTIONS = {"sklearn": "scikit-learn", "robust_splits": "boostnoise"}
MADE_OF = {"boostnoise": ("xgboost", "lightgbm"), "boostnoise.eval": ("cleanlab",)}

# Packages that an extra of the same name installs.
EXTRAS = ("catboost", "cleanlab")

MAX_NESTED = 7  # estimators within one another


def packages_of(spec: Any) -> list[str]:
    """Import packages that make up a described model, with those of nested estimators."""
    modules = {str(module) for module, _ in described_classes(spec)}
    packages = {module.partition(".")[0] for module in modules}
    return sorted(packages.union(*(MADE_OF.get(module, ()) for module in modules)))


def described_classes(spec: Any) -> list[tuple[Any, Any]]:
    """Module and name of the class of a described model, and of those of nested estimators."""
    nested = list(_nested([spec.params, spec.search.params if spec.search else None]))
    return [(spec.module, spec.model), *((inner["module"], inner["model"]) for inner in nested)]


def version_of(package: str) -> str:
    """Installed version of an import package; of a module without distribution a hash of its source."""
    try:
        return metadata.version(DISTRIBUTIONS.get(package, package))
    except metadata.PackageNotFoundError:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            return ""
        origin = Path(spec.origin)
        files = sorted(origin.parent.rglob("*.py")) if origin.name == "__init__.py" else [origin]
        digest = hashlib.sha256()
        for file in files:
            digest.update(file.read_bytes())
        return digest.hexdigest()


def is_installed(package: str) -> bool:
    """Whether a package is there, if it is one that may be missing."""
    return package not in EXTRAS or importlib.util.find_spec(package) is not None


def import_extras(spec: Any) -> None:
    """Import what extras bring of a described model: now, so that no fit is charged for it.

    Raises
    ------
    ConfigError
        If a package is missing or broken.
    """
    for package in packages_of(spec):
        if not is_installed(package):
            extra = f"the extra {package!r} of boostnoise brings it"
            raise ConfigError(f"{package} is not installed, which this model needs; {extra}")
        if package in EXTRAS:
            try:
                importlib.import_module(package)
            except ImportError as error:
                raise ConfigError(f"{package} cannot be imported: {one_line(error)}") from None


def is_description(value: Any) -> bool:
    """Whether a value in the parameters of an estimator describes another one."""
    keys = {"name", "module", "model", "params"}
    return isinstance(value, dict) and {"module", "model"} <= set(value) <= keys


def _nested(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """All descriptions of estimators within the parameters of one."""
    if is_description(value):
        depth += 1
        if depth > MAX_NESTED:
            # scikit-learn takes three times as long for each level to look at their parameters.
            raise ConfigError(f"estimators may be nested {MAX_NESTED} deep at most")
        yield value
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _nested(item, depth)
