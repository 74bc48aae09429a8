"""Files of a source, as they were downloaded."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import ConfigError

EXTRA = "real-noise"  # of this package, with the libraries below


@dataclass(frozen=True)
class RawFiles:
    """Local copies of the files of a data set.

    Attributes
    ----------
    paths : dict of str to Path
        By their paths in the repository.
    """

    paths: Mapping[str, Path]

    def find(self, ending: str = "") -> Path:
        """The only file whose path in the repository has this ending."""
        (found,) = (path for name, path in self.paths.items() if name.endswith(ending))
        return found

    def read_csv(self, ending: str = "", **options: Any) -> pd.DataFrame:
        """A CSV file, with options of `pandas.read_csv`."""
        frame: pd.DataFrame = pd.read_csv(self.find(ending), **options)
        return frame

    def read_all_csv(self, **options: Any) -> list[pd.DataFrame]:
        """All files as CSV, by their names."""
        return [pd.read_csv(self.paths[name], **options) for name in sorted(self.paths)]

    def read_r(self, ending: str = "") -> pd.DataFrame:
        """The only data frame of a file of R."""
        pyreadr = needed("pyreadr")
        path = self.find(ending)
        # pyreadr tells the format by the suffix, and does not open all paths.
        with tempfile.NamedTemporaryFile(suffix=Path(ending or path).suffix) as copy:
            copy.write(path.read_bytes())
            copy.flush()
            (frame,) = pyreadr.read_r(copy.name).values()
        return pd.DataFrame(frame)


def needed(module: str) -> Any:
    """An optional library.

    Raises
    ------
    ConfigError
        If it is not installed.
    """
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise ConfigError(
            f"this needs the package {module.partition('.')[0]}: pip install 'boostnoise[{EXTRA}]'"
        ) from None
