"""Folders of data files in a config: each file is a data set."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from .data_paths import FORMAT_OF_SUFFIX, format_of, stem_of
from .dataset_spec import DatasetSpec


def expand_folders(specs: Sequence[DatasetSpec]) -> list[DatasetSpec]:
    """Replace each folder with the data files in it, in the order of their names.

    The keys of the folder apply to each file, except `target`, which svmlight files do not have.  Subfolders
    and hidden files are skipped, and with a warning also files of unknown format.

    Raises
    ------
    ValueError
        If a folder cannot be read, has no data file or one whose name cannot be printed, or if `target` is
        missing and a file needs it.
    """
    return [file for spec in specs for file in (_expand_folder(spec) if spec.is_folder else [spec])]


def _expand_folder(folder: DatasetSpec) -> list[DatasetSpec]:
    assert folder.path is not None  # noqa: S101 - for the type checker: is_folder is true
    try:
        files = sorted(path for path in Path(folder.path).iterdir() if path.is_file())
    except OSError as error:
        raise ValueError(f"folder {folder.path} cannot be read: {error.strerror}") from None
    for file in files:
        if not file.name.isprintable() or not stem_of(file.name).strip():
            raise ValueError(
                f"folder {folder.path}: file names must be printable and not blank, got {file.name!r}"
            )
    formats = {file: folder.format or format_of(file.name) for file in files if not file.name.startswith(".")}
    ignored = [file.name for file, file_format in formats.items() if file_format is None]
    if len(ignored) == len(formats):
        raise ValueError(f"folder {folder.path} has no file that ends in {', '.join(FORMAT_OF_SUFFIX)}")
    if ignored:
        warnings.warn(f"{folder.path}: ignored files of unknown format: {', '.join(ignored)}", stacklevel=2)
    specs = []
    for file, file_format in formats.items():
        if file_format is None:
            continue
        target = None if file_format == "svmlight" else folder.target
        if target is None and file_format != "svmlight":
            raise ValueError(f"'target' is missing for {file}")
        changes = {"name": stem_of(file.name), "path": str(file), "format": file_format, "target": target}
        specs.append(folder.model_copy(update=changes))
    return specs
