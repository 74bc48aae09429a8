"""Objects of this process in a config: losses, criteria, functions and classes, such as those of a notebook.

A config holds a reference to such an object, which is text and a hash.  Only the process that registered the
object, and the workers that it starts, can resolve the reference.  A config file or a store therefore never
makes anything run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import ConfigError, one_line
from .fingerprint import fingerprint

KEYS = frozenset({"object", "hash"})
DIGITS = 32  # of a hash
MAX_TEXT = 80


@dataclass(frozen=True)
class Shipment:
    """Objects for a worker.

    Attributes
    ----------
    contents : tuple of (str, bytes)
        Hash and pickled object.
    versions : tuple of (package, version)
        Packages that the objects use.
    """

    contents: tuple[tuple[str, bytes], ...] = ()
    versions: tuple[tuple[str, str], ...] = ()


NOTHING = Shipment()

_objects: dict[str, Any] = {}
_contents: dict[str, bytes] = {}
_versions: dict[str, tuple[tuple[str, str], ...]] = {}


def register(value: Any, context: str) -> dict[str, str]:
    """Register an object, and return the reference to it.

    Parameters
    ----------
    value : object
    context : str
        How error messages refer to it.

    Raises
    ------
    ConfigError
        If the object cannot be sent to another process.
    """
    text = describe(value)
    try:
        found = fingerprint(value)
        content = cloudpickle_module().dumps(value)
    except Exception as error:  # noqa: BLE001 - methods of the object may raise anything
        reason = f"{type(error).__name__}: {one_line(error)}"
        raise ConfigError(f"{context}: {text} cannot be sent to other processes: {reason}") from None
    key = found.digest[:DIGITS]
    _objects[key], _contents[key], _versions[key] = value, content, found.versions
    return {"object": text, "hash": key}


def describe(value: Any) -> str:
    """Text for an object in names and messages: its name, or its representation without addresses."""
    name = getattr(value, "__qualname__", None)
    text = name if isinstance(name, str) else re.sub(r"<function ([^ ]+) at 0x\w+>", r"\1", repr(value))
    text = re.sub(r" at 0x\w+", "", " ".join(text.split()).replace("__main__.", "").replace("<locals>.", ""))
    text = "".join(character for character in text if character.isprintable())
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


def is_reference(value: Any) -> bool:
    """Whether a value in a config is a reference to an object."""
    return isinstance(value, dict) and set(value) == KEYS


def shown(value: Any) -> str:
    """Text of a value in a config."""
    return str(value["object"]) if is_reference(value) else repr(value)


def resolve(reference: dict[str, Any]) -> Any:
    """The object of a reference.

    Raises
    ------
    ConfigError
        If this process has no such object.
    """
    key = reference["hash"]
    if key not in _objects:
        if key not in _contents:
            raise ConfigError(
                f"{reference['object']!s:.80} is an object of the process that called compare; "
                "call compare again with it"
            )
        _objects[key] = cloudpickle_module().loads(_contents[key])
    return _objects[key]


def pack(config: Any) -> Shipment:
    """Pack the objects that the values of a config refer to."""
    keys = sorted({key for key in _hashes_in(config) if key in _contents})
    versions = {version for key in keys for version in _versions[key]}
    return Shipment(tuple((key, _contents[key]) for key in keys), tuple(sorted(versions)))


def _hashes_in(value: Any) -> Iterator[str]:
    """Hashes in references and in descriptions of estimators."""
    if isinstance(value, dict):
        if isinstance(value.get("hash"), str):
            yield value["hash"]
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _hashes_in(item)


def unpack(shipment: Shipment) -> None:
    """Make the objects of a shipment available; each is unpickled when it is first used."""
    _contents.update(shipment.contents)


def cloudpickle_module() -> Any:
    """cloudpickle, as joblib uses it."""
    try:
        from joblib.externals import cloudpickle
    except ImportError:  # joblib 1.6 uses the package
        import cloudpickle
    return cloudpickle
