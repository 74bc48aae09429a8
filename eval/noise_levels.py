"""The levels of noise that a run crosses with its data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from .data_files import read_files
from .dataset_spec import FORMAT_OF_SUFFIX
from .datasets import Dataset
from .errors import ConfigError
from .noise import Noise
from .noise_given import GivenNoise
from .noise_spec import NO_NOISE, GivenSpec, NoiseSpec


def levels(spec: NoiseSpec, dataset: Dataset) -> list[tuple[float, Noise]]:
    """The rates of a kind of noise, in rising order, and what corrupts the labels at each; the first is 0.

    Raises
    ------
    ConfigError
        If the noise is for another number of classes; or, where noisy labels are given, if their file cannot be
        read or has no such column, its rows are not as many as those of the data set, a label is missing or
        none of the data set's, or all are right.
    """
    where = f"noise {spec.name!r}"
    if isinstance(spec, GivenSpec):
        return [NO_NOISE, _read_given(spec, dataset, where)]
    for _, noise in spec.levels:
        try:
            noise.check_classes(dataset.classes.size)
        except ValueError as error:
            raise ConfigError(f"{where}: {error} in data set {dataset.name!r}") from None
    return spec.levels


def _read_given(spec: GivenSpec, dataset: Dataset, where: str) -> tuple[float, Noise]:
    """The share of wrong labels in a column of a file, and the noise that puts them in."""
    path, column = spec.path, spec.column
    (frame,) = read_files([path], [FORMAT_OF_SUFFIX[Path(path).suffix.lower()]], where)
    if column not in frame.columns:
        columns = ", ".join(map(str, frame.columns[:20])) + (", ..." if frame.shape[1] > 20 else "")
        raise ConfigError(f"{where}: {path} has no column {column!r}; columns are {columns}")
    labels = frame[column]
    if len(labels) != dataset.y.size:
        raise ConfigError(
            f"{where}: {path} holds {len(labels)} rows, data set {dataset.name!r} {dataset.y.size}; "
            "each row of the one must be a row of the other, in the same order"
        )
    # -1 stands for what is none of the classes, a missing label among them.
    codes = np.asarray(pd.Index(dataset.classes).get_indexer(pd.Index(labels)), dtype=np.int64)
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        raise ConfigError(
            f"{where}: column {column!r} holds {labels.tolist()[row]!r} in row {row}, which is no label of "
            f"data set {dataset.name!r}"
        )
    rate = float((codes != dataset.y).mean())
    if rate == 0:
        raise ConfigError(
            f"{where}: column {column!r} holds the labels of data set {dataset.name!r} themselves"
        )
    return rate, GivenNoise(codes)
