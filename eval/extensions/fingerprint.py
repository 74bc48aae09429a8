"""Fingerprints of objects, functions and classes that no other process can import.

A fingerprint covers the compiled code of functions and classes, the values that they refer to, and the versions
of the packages that they use.  Names of files and numbers of lines do not count, so that a cell of a notebook
has the same fingerprint when it is run again in a new process.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, GetSetDescriptorType, ModuleType
from typing import Any

import numpy as np

from .versions import version_of

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented), range, slice)
# Attributes of a class that say nothing about what it does.
INCIDENTAL = frozenset(
    """
    __annotate_func__ __annotations__ __annotations_cache__ __dataclass_fields__ __dict__ __doc__
    __firstlineno__ __module__ __static_attributes__ __weakref__ _abc_impl
    """.split()  # noqa: SIM905 - a list of words
)


@dataclass(frozen=True)
class Fingerprint:
    """Fingerprint of an object.

    Attributes
    ----------
    digest : str
        Hash of the content and of the versions.
    versions : tuple of (package, version)
        Packages that the object uses, without the standard library.
    """

    digest: str
    versions: tuple[tuple[str, str], ...]


def fingerprint(value: Any) -> Fingerprint:
    """Compute the fingerprint of an object.

    Raises
    ------
    TypeError
        If a part of the object cannot be copied to another process, such as an open file.
    """
    walk = _Walk()
    walk.add(value)
    packages = sorted(name for name in walk.packages if name not in sys.stdlib_module_names)
    versions = tuple((name, version_of(name)) for name in packages if name != "__main__")
    walk.digest.update(repr(versions).encode())
    return Fingerprint(walk.digest.hexdigest(), versions)


def is_importable(value: Any) -> bool:
    """Whether another process can import a class or a function under its name."""
    module = getattr(value, "__module__", None)
    if module in (None, "__main__") or module not in sys.modules:
        return False
    found: Any = sys.modules[module]
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is value


@dataclass
class _Walk:
    """Walk through an object and all that it refers to."""

    digest: Any = field(default_factory=hashlib.sha256)
    packages: set[str] = field(default_factory=set)
    seen: dict[int, int] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)  # whose ids must not be used again

    def add(self, value: Any) -> None:
        if isinstance(value, PLAIN):
            self._mark(type(value).__name__, repr(value))
            return
        if id(value) in self.seen:
            self._mark("again", str(self.seen[id(value)]))
            return
        self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
        self._add_new(value)

    def _mark(self, *texts: str) -> None:
        self.digest.update("\0".join(texts).encode(errors="backslashreplace") + b"\1")

    def _add_all(self, kind: str, values: Iterator[Any]) -> None:
        self._mark(kind)
        for value in values:
            self.add(value)
        self._mark("end")

    def _add_new(self, value: Any) -> None:
        match value:
            case ModuleType():
                self._add_package(value.__name__)
                self._mark("module", value.__name__)
            case type() | FunctionType() | BuiltinFunctionType() | np.ufunc() if _is_named(value):
                module = getattr(value, "__module__", None) or "builtins"
                self._add_package(module)
                self._mark("name", module, value.__qualname__)
            case FunctionType():
                self._add_function(value)
            case type():
                attributes = sorted((key, item) for key, item in vars(value).items() if key not in INCIDENTAL)
                self._add_all("class", iter([value.__qualname__, *value.__bases__, *_flat(attributes)]))
            case CodeType():
                self._add_code(value)
            case CellType():
                self.add(value.cell_contents)
            case GetSetDescriptorType():
                self._mark("slot", value.__qualname__)
            case list() | tuple():
                self._add_all(type(value).__name__, iter(value))
            case dict():
                self._add_all("dict", iter(_flat(value.items())))
            case set() | frozenset():
                self._add_all("set", iter(sorted(value, key=lambda item: fingerprint(item).digest)))
            case np.ndarray() if value.dtype != object:
                self._mark("array", str(value.dtype), str(value.shape))
                self.digest.update(np.ascontiguousarray(value).tobytes())
            case property() | staticmethod() | classmethod():
                parts = (
                    (value.fget, value.fset, value.fdel) if isinstance(value, property) else (value.__func__,)
                )
                self._add_all(type(value).__name__, iter(parts))
            case _ if isinstance(getattr(value, "py_func", None), FunctionType):  # compiled by Numba
                self._add_function(value.py_func)
            case _:
                self._add_instance(value)

    def _add_function(self, function: Callable[..., Any]) -> None:
        code: Any = function.__code__
        names = sorted(set(_names(code)))
        space: dict[str, Any] = function.__globals__
        used = [(name, space[name]) for name in names if name in space]
        parts = [
            code,
            function.__defaults__,
            function.__kwdefaults__,
            *(function.__closure__ or ()),
            *_flat(used),
        ]
        self._add_all("function", iter(parts))

    def _add_code(self, code: CodeType) -> None:
        self._mark("code", code.co_code.hex(), repr((code.co_names, code.co_varnames, code.co_argcount)))
        self._add_all("constants", iter(code.co_consts))

    def _add_instance(self, value: Any) -> None:
        reduced = value.__reduce_ex__(4)
        if isinstance(reduced, str):
            self._add_package(type(value).__module__)
            self._mark("global", type(value).__module__, reduced)
            return
        make, arguments, *rest = reduced
        self._add_all("object", iter([make, arguments, *map(_listed, rest)]))

    def _add_package(self, module: str) -> None:
        self.packages.add(module.partition(".")[0])


def _is_named(value: Any) -> bool:
    return not isinstance(value, type | FunctionType) or is_importable(value)


def _listed(value: Any) -> Any:
    """Items of a list or a dict that a reduced object has as an iterator."""
    return list(value) if hasattr(value, "__next__") else value


def _flat(pairs: Any) -> list[Any]:
    return [part for pair in pairs for part in pair]


def _names(code: CodeType) -> Iterator[str]:
    """Names that code, with the functions in it, may look up among the globals."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
