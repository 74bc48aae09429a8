"""Data sets that processes share: written to one file, which each of them maps into its memory."""

from __future__ import annotations

import mmap
import pickle
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from ..datasets.dataset import Dataset
from ..errors import ConfigError

ALIGNMENT = 64


@dataclass(frozen=True)
class Layout:
    """What a process needs to find the data sets in the file.

    Attributes
    ----------
    content : bytes
        The data sets without their arrays.
    places : tuple of (int, int)
        Where in the file each of the arrays begins and ends.
    """

    content: bytes
    places: tuple[tuple[int, int], ...]


class SharedData:
    """Data sets in a temporary file without a name.  Use it as a context manager.

    No process can leave the file behind, however it ends: it is gone with the last one that has it open.

    Parameters
    ----------
    datasets : mapping of str to Dataset

    Attributes
    ----------
    layout : Layout

    Raises
    ------
    ConfigError
        If there is no room for the file.
    """

    def __init__(self, datasets: Mapping[str, Dataset]) -> None:
        arrays: list[pickle.PickleBuffer] = []
        content = pickle.dumps(dict(datasets), protocol=5, buffer_callback=arrays.append)
        places = []
        try:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
            for array in arrays:
                self._file.write(bytes(-self._file.tell() % ALIGNMENT))
                start = self._file.tell()
                self._file.write(array.raw())
                places.append((start, self._file.tell()))
            self._file.flush()
        except OSError as error:
            raise ConfigError(
                f"the data sets cannot be written to a temporary file in {tempfile.gettempdir()}: {error}; "
                "the environment variable TMPDIR names another folder"
            ) from None
        self.layout = Layout(content, tuple(places))

    def fileno(self) -> int:
        """Descriptor of the file."""
        return self._file.fileno()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._file.close()


def open_shared(file: int, layout: Layout) -> dict[str, Dataset]:
    """The data sets, whose arrays are pages of the file and can only be read.

    Parameters
    ----------
    file : int
        Descriptor of the file.
    layout : Layout
    """
    mapped = memoryview(mmap.mmap(file, 0, access=mmap.ACCESS_READ))
    datasets: dict[str, Dataset] = pickle.loads(  # noqa: S301 - of the process that started this one
        layout.content, buffers=[mapped[start:end] for start, end in layout.places]
    )
    return datasets
