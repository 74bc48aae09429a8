"""Jobs: one cell each of the cross of data sets, models, noise and repeats."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ..config.dataset_spec import FORMAT_OF_SUFFIX
from ..config.model_spec import ModelSpec
from ..config.noise_spec import NO_NOISE, GivenSpec, NoiseSpec
from ..config.run import Config
from ..datasets.dataset import Dataset
from ..datasets.files import read_files
from ..errors import ConfigError
from ..models.packages import packages_of, version_of
from ..noise.base import Noise, NoiseOn
from ..noise.given import GivenNoise

# Part of every key; to be raised when a change here gives other scores for the same job.
PROTOCOL = 3

# They draw the splits and the noise, so their versions are part of every key.
DRAWING_PACKAGES = ("numpy", "sklearn")


@dataclass(frozen=True)
class Job:
    """One cell: fit one model once on one noisy training set and test it.

    Attributes
    ----------
    dataset : str
    fingerprint : str
        Of the data set.
    model : ModelSpec
    noise_kind : str
        The name of the noise in tables.
    noise_rate : float
        As tables show it; 0 for none.
    noise : Noise
    noise_on : {"train", "train+test"}
        Which labels it goes into.
    repeat : int
    seed : int
        Of the split, the noise and the model.
    test_fraction : float or None
        None where the data set tells training and test rows apart itself.
    stratify : bool
    versions : tuple of (package, version)
        Of the packages that make the scores.
    threads : int
        That the model may use.
    """

    dataset: str
    fingerprint: str
    model: ModelSpec
    noise_kind: str
    noise_rate: float
    noise: Noise
    noise_on: NoiseOn
    repeat: int
    seed: int
    test_fraction: float | None
    stratify: bool
    versions: tuple[tuple[str, str], ...]
    threads: int = 1

    @property
    def key(self) -> str:
        """Hash of all that changes the scores, and of nothing else: no names, no place in a config."""
        noise = [*self.noise.identity]
        if self.noise_on != self.noise.noise_on:
            noise.append(self.noise_on)
        content = {
            "protocol": PROTOCOL,
            "data": self.fingerprint,
            "model": self.model.content,
            # Without noise all kinds are the same.
            "noise": noise if self.noise_rate else None,
            "split": None if self.test_fraction is None else [self.test_fraction, self.stratify],
            "seed": self.seed,
            "versions": self.versions,
        }
        if self.threads != 1:  # sums over several threads may end in other last digits
            content["threads"] = self.threads
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def make_jobs(config: Config, datasets: Sequence[Dataset]) -> list[Job]:
    """All jobs of a run, data set by data set.

    Raises
    ------
    ConfigError
        If the noise does not fit a data set.
    """
    # Looked up once: a source that changes while the run is on does not change what was asked for.
    known: dict[str, str] = {}
    versions = {model.name: _versions(model, known) for model in config.models}
    return [
        Job(
            dataset=dataset.name,
            fingerprint=fingerprint,
            model=model,
            noise_kind=spec.name,
            noise_rate=rate,
            noise=noise,
            noise_on=spec.noise_on,
            repeat=repeat,
            seed=config.random_state + repeat,
            test_fraction=config.test_fraction if dataset.is_test is None else None,
            stratify=config.stratify,
            versions=versions[model.name],
            threads=config.threads,
        )
        for dataset in datasets
        for fingerprint in [dataset.fingerprint]
        for spec in config.noise
        for rate, noise in noise_by_rate(spec, dataset)
        for repeat in range(config.repeats)
        for model in config.models
    ]


def _versions(model: ModelSpec, known: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Versions of the packages of a model; those that are `known` already are not looked up."""
    packages = sorted({*packages_of(model), *DRAWING_PACKAGES})
    for package in packages:
        if package not in known:
            known[package] = version_of(package)
    return tuple((package, known[package]) for package in packages)


def noise_by_rate(spec: NoiseSpec, dataset: Dataset) -> list[tuple[float, Noise]]:
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
    for _, noise in spec.noise_by_rate:
        try:
            noise.check_classes(dataset.classes.size)
        except ValueError as error:
            raise ConfigError(f"{where}: {error} in data set {dataset.name!r}") from None
    return spec.noise_by_rate


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
