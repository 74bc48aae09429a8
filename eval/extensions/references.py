"""References to extensions in a config: the name of an installed one, or an object of the user's process."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Annotated, Any

from pydantic import AfterValidator, WithJsonSchema

from robust_splits.plugins import find_plugin, load_plugin, package_of, plugins

from ..errors import ConfigError, suggest
from . import own_objects
from .versions import version_of


def _check(value: Any) -> Any:
    if isinstance(value, str) and value.isidentifier():
        return value
    if own_objects.is_reference(value) and all(isinstance(part, str) for part in value.values()):
        return value
    raise ValueError("must be the name of an extension of an installed package")


# In a config, as JSON.
Reference = Annotated[Any, AfterValidator(_check), WithJsonSchema({"type": "string"})]


def name_of(reference: Any) -> str:
    """Name in tables and messages."""
    return reference if isinstance(reference, str) else str(reference["object"])


def load(reference: Any, group: str) -> Any:
    """Load the extension that a reference names.

    Parameters
    ----------
    reference : str or dict
    group : str
        Group of entry points, one of `robust_splits.plugins.GROUPS`.

    Raises
    ------
    ConfigError
        If it is unknown here, or cannot be imported.
    """
    if not isinstance(reference, str):
        return own_objects.resolve(reference)
    _find(reference, group)
    try:
        return load_plugin(group, reference)
    except ValueError as error:
        raise ConfigError(str(error)) from None


def identity_of(reference: Any, group: str) -> list[str]:
    """Name and version of an extension, for keys of cells."""
    if not isinstance(reference, str):
        return [reference["hash"]]
    point = _find(reference, group)
    return [reference, point.value, version_of(package_of(point))]


def _find(name: str, group: str) -> EntryPoint:
    if name not in plugins(group):
        raise ConfigError(
            f"no installed package defines {name!r} of boostnoise.{group}{suggest(name, plugins(group))}"
        )
    try:
        return find_plugin(group, name)
    except ValueError as error:
        raise ConfigError(str(error)) from None
