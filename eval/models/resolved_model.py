"""Models of a config, resolved: their classes, packages and versions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..errors import ConfigError
from ..extensions.versions import version_of
from .allowed_classes import check_classes
from .packages import described_classes, packages_of, packages_of_plugins

# These packages draw the splits and the noise, so every score depends on them.
DRAWING_PACKAGES = ("numpy", "sklearn")


@dataclass(frozen=True)
class ResolvedModel:
    """A model of a config, and what it depends on.

    Attributes
    ----------
    spec : ModelSpec
        The description.
    allowed : frozenset of str
        Packages that its classes may come from, in addition to the allow-list.
    classes : tuple of (module, name)
        Classes of the model and of its nested estimators, all of them allowed.
    packages : tuple of str
        Packages that the classes depend on.
    versions : tuple of (package, version)
        Installed versions of all packages that affect its scores.
    """

    spec: Any
    allowed: frozenset[str]
    classes: tuple[tuple[str, str], ...]
    packages: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """Name in tables and figures."""
        return str(self.spec.name)

    @property
    def selects_columns(self) -> bool:
        """Whether the model may select features by name."""
        return any(name == "ColumnTransformer" for _, name in self.classes)


def resolve(spec: Any, allowed: Collection[str] = (), versions: dict[str, str] | None = None) -> ResolvedModel:
    """Resolve a model without importing anything.

    Parameters
    ----------
    spec : ModelSpec
    allowed : collection of str, default=()
        Packages that classes may come from, in addition to the allow-list.
    versions : dict of str to str or None, default=None
        Versions of packages that were looked up before; others are added.

    Raises
    ------
    ConfigError
        If a class is not allowed.
    """
    classes = described_classes(spec)
    check_classes(classes, allowed)
    packages = sorted({*packages_of(classes), *packages_of_plugins(spec)})
    versions = {} if versions is None else versions
    affecting = sorted({*packages, *DRAWING_PACKAGES})
    for package in affecting:
        if package not in versions:
            versions[package] = version_of(package)
    return ResolvedModel(
        spec,
        frozenset(allowed),
        tuple(classes),
        tuple(packages),
        tuple((package, versions[package]) for package in affecting),
    )


def resolve_all(specs: Sequence[Any], allowed: Collection[str] = ()) -> list[ResolvedModel]:
    """Resolve the models of a config; see `resolve`.

    Versions are looked up once for all models, so that a package updated in the meantime has a single one.
    """
    versions: dict[str, str] = {}
    resolved = []
    for i, spec in enumerate(specs):
        with model_in_errors(i, spec.name):
            resolved.append(resolve(spec, allowed, versions))
    return resolved


@contextmanager
def model_in_errors(i: int, name: str) -> Iterator[None]:
    """Prefix errors with the model's position in the config and its name."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"models[{i}] ({name}): {error}") from None
