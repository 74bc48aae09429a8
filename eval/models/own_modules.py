"""Import a user's own modules from the working directory: those that the user has allowed, and no others."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from ..errors import shell_word
from ..extensions.own_objects import cloudpickle_module


@dataclass(frozen=True)
class OwnModuleFinder(MetaPathFinder):
    """Find modules and packages of given names in a folder, if they are not installed.

    With the folder on ``sys.path``, libraries would find all its modules there.  Many try to import modules of
    other systems or optional ones, such as ``winreg``, which a stranger could put into the folder.

    Attributes
    ----------
    folder : str
    names : tuple of str
        Names of top-level modules and packages.  Python finds the modules of a package by itself.
    found : set of str
        Names that were found so far.
    """

    folder: str
    names: tuple[str, ...]
    found: set[str] = field(default_factory=set, repr=False, compare=False)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module, as `importlib` calls it; None if it is not one of these."""
        if path is not None or fullname not in self.names:
            return None
        spec = self._find(fullname, target)
        if spec is not None:
            self.found.add(fullname)
        return spec

    def has_unnamed(self, name: str) -> bool:
        """Whether the folder has a top-level module or package of another name than those given."""
        return name not in self.names and self._find(name) is not None

    def _find(self, name: str, target: ModuleType | None = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, [self.folder], target)


def import_from_working_directory(names: Collection[str]) -> None:
    """Make modules of these names importable from the working directory, behind all other places."""
    sys.meta_path.append(OwnModuleFinder(str(Path.cwd()), tuple(names)))


def own_module_finders() -> list[OwnModuleFinder]:
    """Finders of this process, for the processes that it starts."""
    return [finder for finder in sys.meta_path if isinstance(finder, OwnModuleFinder)]


def share_with_joblib() -> None:
    """Let joblib send classes and functions of own modules to its processes, which cannot import them."""
    names = {name for finder in own_module_finders() for name in finder.found & sys.modules.keys()}
    if not names:
        return
    for name in names:
        cloudpickle_module().register_pickle_by_value(sys.modules[name])


def hint_at_own_module(error: ImportError) -> str:
    """How to allow the module that an import did not find; empty unless the working directory has it."""
    name = (error.name or "").partition(".")[0]
    if not any(finder.has_unnamed(name) for finder in own_module_finders()):
        return ""
    return f"; to import it from the working directory, add --allow-module {shell_word(name)}"
