"""Data sets shared by processes through one memory-mapped file."""

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
    """Layout of the shared file.

    Attributes
    ----------
    content : bytes
        The pickled data sets without their arrays.
    offsets : tuple of (int, int)
        Start and end of each array in the file.
    """

    content: bytes
    offsets: tuple[tuple[int, int], ...]


class SharedData:
    """Data sets in an unnamed temporary file.  Use it as a context manager.

    The file disappears with the last process that has it open, however that process ends.

    Parameters
    ----------
    datasets : mapping of str to Dataset

    Attributes
    ----------
    layout : Layout

    Raises
    ------
    ConfigError
        If the file cannot be written, for example because the disk is full.
    """

    def __init__(self, datasets: Mapping[str, Dataset]) -> None:
        arrays: list[pickle.PickleBuffer] = []
        content = pickle.dumps(dict(datasets), protocol=5, buffer_callback=arrays.append)
        offsets = []
        try:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
            for array in arrays:
                self._file.write(bytes(-self._file.tell() % ALIGNMENT))
                start = self._file.tell()
                self._file.write(array.raw())
                offsets.append((start, self._file.tell()))
            self._file.flush()
        except OSError as error:
            raise ConfigError(
                f"the data sets cannot be written to a temporary file in {tempfile.gettempdir()}: {error}; "
                "set the environment variable TMPDIR to another folder"
            ) from None
        self.layout = Layout(content, tuple(offsets))

    def fileno(self) -> int:
        """File descriptor."""
        return self._file.fileno()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, context: TracebackType | None
    ) -> None:
        self._file.close()


def open_shared(file: int, layout: Layout) -> dict[str, Dataset]:
    """Load the data sets.  Their arrays are read-only pages of the file.

    Parameters
    ----------
    file : int
        File descriptor.
    layout : Layout
    """
    mapped = memoryview(mmap.mmap(file, 0, access=mmap.ACCESS_READ))
    datasets: dict[str, Dataset] = pickle.loads(  # noqa: S301 - written by the parent process
        layout.content, buffers=[mapped[start:end] for start, end in layout.offsets]
    )
    return datasets
