"""Hash of the source of a user's own modules, with all modules of the user that they import.

Source is read, never executed.  Imports are found at any place of a file, but not if their names are computed.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

# Packages in these folders have a version, and so does this project where it is installed from its source.
INSTALLED = {"site-packages", "dist-packages"}
OWN = {"boostnoise", "robust_splits"}


def source_hash(package: str) -> str:
    """Hash of a package or module and of what it imports from outside of the installed packages.

    Paths do not count, so that the same source has the same hash on another machine.

    Parameters
    ----------
    package : str
        Name of a top-level package or module.

    Returns
    -------
    str
        Empty if there is no such package.
    """
    sources: dict[str, list[Path]] = {}
    waiting = [package]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name] = _source_files(name)
            waiting += {found for file in sources[name] for found in _imports(file) if _is_of_user(found)}
    digest = hashlib.sha256()
    for name in sorted(sources):
        digest.update(f"{name}\n".encode())
        for file in sources[name]:
            digest.update(file.read_bytes())
    return digest.hexdigest() if sources[package] else ""


def _find(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)  # imports nothing for a top-level name
    except (ImportError, ValueError):  # the second for modules without a spec, such as that of a script
        return None


def _is_of_user(name: str) -> bool:
    """Whether a top-level package is neither installed nor part of Python or this project."""
    if name in sys.stdlib_module_names or name in OWN:
        return False
    spec = _find(name)
    if spec is None:
        return False
    places = [spec.origin] if spec.origin is not None else list(spec.submodule_search_locations or [])
    return not any(INSTALLED & set(Path(place).parts) for place in places)


def _source_files(name: str) -> list[Path]:
    """Files of a module, a package, or a folder without ``__init__.py``, in a fixed order."""
    spec = _find(name)
    if spec is None:
        return []
    if spec.submodule_search_locations is None:
        return [Path(spec.origin)] if spec.origin is not None and Path(spec.origin).is_file() else []
    return [
        folder / path
        for folder in map(Path, spec.submodule_search_locations)
        for path in sorted(file.relative_to(folder) for file in folder.rglob("*.py") if file.is_file())
        if not any(part.startswith(".") or part in INSTALLED for part in path.parts)
    ]


def _imports(file: Path) -> Iterator[str]:
    """Top-level names of the packages that a file imports; relative imports stay within its package."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError):  # such as compiled modules
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]
