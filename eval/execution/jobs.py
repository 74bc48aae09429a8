"""Jobs: the cells of a run, one per data set, model, noise and repeat."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .._wording import joined
from ..config.dataset_spec import format_of
from ..config.model_spec import ModelSpec
from ..config.noise_spec import NO_NOISE, GivenSpec, NoiseSpec
from ..config.run import Config
from ..datasets.dataset import Dataset
from ..datasets.files import read_files
from ..errors import ConfigError
from ..models.packages import described_classes, packages_of, version_of
from ..noise.base import Noise, NoiseOn
from ..noise.given import GivenNoise

# Part of every key.  Raise it when a change to this package changes the scores of a job.
PROTOCOL = 3

# These packages draw the splits and the noise, so their versions are part of every key.
DRAWING_PACKAGES = ("numpy", "sklearn")


@dataclass(frozen=True)
class Job:
    """One cell: fit a model on a noisy training set and test it.

    Attributes
    ----------
    dataset : str
    fingerprint : str
        Fingerprint of the data set.
    model : ModelSpec
    noise_kind : str
        Name of the noise in tables.
    noise_rate : float
        Noise rate in tables; 0 for no noise.
    noise : Noise
    noise_on : {"train", "train+test"}
        Labels that the noise corrupts.
    repeat : int
    seed : int
        Seed of the split, the noise and the model.
    test_fraction : float or None
        None if the data set has its own training and test rows.
    stratify : bool
    versions : tuple of (package, version)
        Packages that affect the scores.
    threads : int
        Number of threads that the model may use.
    columns : tuple of str
        Names of the features, if the model may select columns by name and the fingerprint lacks the names.
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
    columns: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Hash of everything that affects the scores; names and the order of a config do not."""
        noise = [*self.noise.identity]
        if self.noise_on != self.noise.noise_on:
            noise.append(self.noise_on)
        content = {
            "protocol": PROTOCOL,
            "data": self.fingerprint,
            "model": self.model.content,
            # All kinds are the same without noise.
            "noise": noise if self.noise_rate else None,
            "split": None if self.test_fraction is None else [self.test_fraction, self.stratify],
            "seed": self.seed,
            "versions": self.versions,
        }
        if self.threads != 1:  # sums over several threads may differ in the last digits
            content["threads"] = self.threads
        if self.columns:
            content["columns"] = self.columns
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def make_jobs(config: Config, datasets: Sequence[Dataset]) -> list[Job]:
    """Make all jobs of a run, grouped by data set.

    Raises
    ------
    ConfigError
        If the noise does not fit a data set.
    """
    # Looked up once, so that a package updated during the run does not change the jobs.
    cache: dict[str, str] = {}
    versions = {model.name: _versions(model, cache) for model in config.models}
    selecting = {model.name for model in config.models if _selects_columns(model)}
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
            columns=dataset.columns if model.name in selecting else (),
        )
        for dataset in datasets
        for fingerprint in [dataset.fingerprint]
        for spec in config.noise
        for rate, noise in noise_by_rate(spec, dataset)
        for repeat in range(config.repeats)
        for model in config.models
    ]


def _selects_columns(model: ModelSpec) -> bool:
    return any(name == "ColumnTransformer" for _, name in described_classes(model))


def _versions(model: ModelSpec, cache: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Versions of the packages of a model."""
    packages = sorted({*packages_of(model), *DRAWING_PACKAGES})
    for package in packages:
        if package not in cache:
            cache[package] = version_of(package)
    return tuple((package, cache[package]) for package in packages)


def noise_by_rate(spec: NoiseSpec, dataset: Dataset) -> list[tuple[float, Noise]]:
    """Noise rates of a kind of noise, in ascending order from 0, with the noise at each rate.

    Raises
    ------
    ConfigError
        If the noise is for another number of classes.  For given noisy labels, if their file cannot be read,
        has no such column or another number of rows than the data set, or if a label is missing, not a label of
        the data set, or no label is wrong.
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
    """Read noisy labels from a column of a file; return the share of wrong labels and the noise."""
    path, column = spec.path, spec.column
    (frame,) = read_files([path], [str(format_of(path))], where)
    if column not in frame.columns:
        raise ConfigError(
            f"{where}: column {column!r} is not in {path}; its columns are {joined(frame.columns)}"
        )
    labels = frame[column]
    if len(labels) != dataset.y.size:
        raise ConfigError(
            f"{where}: {path} has {len(labels)} rows, but data set {dataset.name!r} has {dataset.y.size}; "
            "both must have the same rows in the same order"
        )
    # -1 for labels that are no class, including missing labels.
    codes = np.asarray(pd.Index(dataset.classes).get_indexer(pd.Index(labels)), dtype=np.int64)
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        raise ConfigError(
            f"{where}: column {column!r} has {labels.tolist()[row]!r} in row {row}, which is not a label of "
            f"data set {dataset.name!r}"
        )
    rate = float((codes != dataset.y).mean())
    if rate == 0:
        raise ConfigError(
            f"{where}: column {column!r} has no wrong label: it equals the labels of data set {dataset.name!r}"
        )
    return rate, GivenNoise(codes)
