"""Jobs: the cells of a run, one per data set, model, noise and repeat."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from boostnoise import __version__

from ..config.metric_spec import MetricSpec
from ..config.noise_base import NO_NOISE
from ..config.noise_spec import AuditedSpec, ByRowSpec, GivenSpec, NoiseSpec
from ..config.run import Config
from ..datasets.dataset import Dataset
from ..errors import ConfigError
from ..extensions.own_objects import NOTHING, Shipment, pack
from ..models.resolved_model import ResolvedModel
from ..noise.base import Noise, NoiseOn
from ..noise.feature_dependent import RowNoise
from .given_noise import given_noise

# Part of every key.  Raise it when a change to the evaluation changes the scores of a job: its splits, noise or
# measures.  What models do changes with the versions of their packages, this one's too, which are in the key.
PROTOCOL = 3

SETTING_DIGITS = 16  # of the hash of a setting


@dataclass(frozen=True, slots=True)
class Job:
    """One cell: fit a model on a noisy training set and test it.

    Attributes
    ----------
    dataset : str
    fingerprint : str
        Fingerprint of the data set.
    model : ResolvedModel
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
    threads : int
        Number of threads that the model may use.
    columns : tuple of str
        Names of the features, if the model may select columns by name and the fingerprint lacks the names.
    fold : tuple of (int, int) or None
        Number of folds of cross-validation, and the one that is tested.
    split_seed : int or None
        Seed of the split; None for `seed`.
    test_labels : tuple of str
        What the right labels of the test rows are estimated from, in addition to the data; empty if they are
        those of the data set.
    metrics : tuple of MetricSpec
        Users' metrics to compute.
    own : Shipment
        Objects of the user's process that the model, the noise and the metrics refer to.
    """

    dataset: str
    fingerprint: str
    model: ResolvedModel
    noise_kind: str
    noise_rate: float
    noise: Noise
    noise_on: NoiseOn
    repeat: int
    seed: int
    test_fraction: float | None
    stratify: bool
    threads: int = 1
    columns: tuple[str, ...] = ()
    fold: tuple[int, int] | None = None
    split_seed: int | None = None
    test_labels: tuple[str, ...] = ()
    metrics: tuple[MetricSpec, ...] = ()
    own: Shipment = NOTHING

    @property
    def split(self) -> tuple[float | None, bool, int, tuple[int, int] | None]:
        """Arguments of `train_test.split` after the data set."""
        seed = self.seed if self.split_seed is None else self.split_seed
        return self.test_fraction, self.stratify, seed, self.fold

    @property
    def key(self) -> str:
        """Hash of everything that affects the scores; names and the order of a config do not."""
        return job_keys([self])[0]

    @property
    def setting(self) -> str:
        """Short hash of what the model is trained and tested on: data, split, noise and seed."""
        return _hash(_to_json(self._setting | {"noise": self._identity_of_noise}))[:SETTING_DIGITS]

    @property
    def _identity_of_noise(self) -> list[Any] | None:
        if not self.noise_rate:  # without noise, all kinds are the same
            return None
        identity = self.noise.identity
        return identity if self.noise_on == self.noise.noise_on else [*identity, self.noise_on]

    @property
    def _setting(self) -> dict[str, Any]:
        """Everything that affects the scores, except the noise and the model."""
        split: Any = None if self.test_fraction is None else [self.test_fraction, self.stratify]
        if split is not None and self.fold is not None:
            split = {"fold": self.fold, "stratify": self.stratify, "seed": self.split_seed}
        setting = {
            "protocol": PROTOCOL,
            "data": self.fingerprint,
            "split": split,
            "seed": self.seed,
        }
        if self.test_labels:
            setting["test labels"] = self.test_labels
        return setting


def job_keys(jobs: Iterable[Job]) -> list[str]:
    """Keys of jobs, see `Job.key`.

    A key is the hash of a JSON object with sorted keys.  What jobs share, such as a model, is converted once.
    """
    models: dict[tuple[int, int], tuple[str, str, str]] = {}
    noises: dict[tuple[int, NoiseOn, bool], str] = {}
    settings: dict[Any, tuple[str, str]] = {}
    metrics: dict[int, str] = {}
    keys = []
    for job in jobs:
        # The ids stay unique, because the jobs keep the objects alive.
        model, noise = (id(job.model), id(job.columns)), (id(job.noise), job.noise_on, bool(job.noise_rate))
        setting = job.fingerprint, job.test_labels, job.threads, job.seed, job.split
        if model not in models:
            models[model] = (
                _items({"columns": job.columns} if job.columns else {}),
                _items({"model": job.model.spec.content}),
                _items({"versions": job.model.versions}),
            )
        if noise not in noises:
            noises[noise] = _items({"noise": job._identity_of_noise})
        if setting not in settings:
            others = job._setting
            if job.threads != 1:  # sums over several threads may differ in the last digits
                others["threads"] = job.threads
            settings[setting] = _items({"data": others.pop("data")}), _items(others)
        if id(job.metrics) not in metrics:
            identities = [metric.identity for metric in job.metrics]
            metrics[id(job.metrics)] = _items({"metrics": identities} if identities else {})
        (columns, content, versions), (data, rest) = models[model], settings[setting]
        items = columns, data, metrics[id(job.metrics)], content, noises[noise], rest, versions  # sorted
        keys.append(_hash("{" + ", ".join(filter(None, items)) + "}"))
    return keys


def _to_json(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True)


def _items(content: dict[str, Any]) -> str:
    """Items of a JSON object, without the braces around them."""
    return _to_json(content)[1:-1]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def make_jobs(config: Config, models: Sequence[ResolvedModel], datasets: Sequence[Dataset]) -> list[Job]:
    """Make all jobs of a run, grouped by data set.

    Parameters
    ----------
    config : Config
    models : sequence of ResolvedModel
        The models of the config.
    datasets : sequence of Dataset
        The data sets of the config.

    Raises
    ------
    ConfigError
        If the noise does not fit a data set.
    """
    given = {spec.name: given_noise(spec, datasets) for spec in config.noise if isinstance(spec, GivenSpec)}
    own = pack(config.model_dump())
    jobs = []
    for dataset in datasets:
        fingerprint, test_labels = dataset.fingerprint, _test_labels(dataset)
        columns = [dataset.columns if model.selects_columns else () for model in models]
        test_fraction = config.test_fraction if dataset.is_test is None else None
        for spec in config.noise:
            noises = (
                given[spec.name].get(dataset.name, []) if spec.name in given else noise_by_rate(spec, dataset)
            )
            for (noise_rate, noise), repeat in product(noises, range(config.repeats)):
                setting: dict[str, Any] = {
                    "dataset": dataset.name,
                    "fingerprint": fingerprint,
                    "noise_kind": spec.name,
                    "noise_rate": noise_rate,
                    "noise": noise,
                    "noise_on": spec.noise_on,
                    "repeat": repeat,
                    "seed": config.random_state + repeat,
                    "test_fraction": test_fraction,
                    "stratify": config.stratify,
                    "threads": config.threads,
                    "fold": None if config.folds is None else (config.folds, repeat % config.folds),
                    "split_seed": None
                    if config.folds is None
                    else config.random_state + repeat // config.folds,
                    "test_labels": test_labels,
                    "metrics": tuple(config.metrics),
                    "own": own,
                }
                jobs += [
                    Job(model=model, columns=selected, **setting)
                    for model, selected in zip(models, columns, strict=True)
                ]
    return jobs


def _test_labels(dataset: Dataset) -> tuple[str, ...]:
    """Key of the estimated right labels: the version of the forests, and a hash of the checked labels."""
    if dataset.checked is None:
        return ()
    checked = hashlib.sha256(np.ascontiguousarray(dataset.checked, dtype="<i8").tobytes())
    return "estimated", __version__, checked.hexdigest()


def noise_by_rate(spec: NoiseSpec, dataset: Dataset) -> list[tuple[float, Noise]]:
    """Noise rates of injected noise, in ascending order from 0, with the noise at each rate.

    Raises
    ------
    ConfigError
        If the noise is for another number of classes, or true labels or noise rates of rows are unknown.
    """
    assert not isinstance(spec, GivenSpec)  # noqa: S101 - for the type checker
    context = f"noise {spec.name!r}"
    # Audited noise is added to the labels as they are.
    has_labels = isinstance(spec, AuditedSpec) and len(dataset.noisy) == 1 and dataset.answers is None
    if dataset.is_known is not None and not has_labels:
        raise ConfigError(
            f"{context}: cannot be injected into data set {dataset.name!r}, because true labels of training "
            "rows are unknown; use a config of its own with 'given' noise, or 'audited' noise with one column "
            "of noisy labels"
        )
    if isinstance(spec, ByRowSpec):
        return [NO_NOISE, *((rate, _row_noise(rate, dataset, context)) for rate in spec.rates if rate)]
    for _, noise in spec.noise_by_rate:
        try:
            noise.check_classes(dataset.classes.size)
        except ValueError as error:
            raise ConfigError(f"{context}: {error} in data set {dataset.name!r}") from None
    return spec.noise_by_rate


def _row_noise(noise_rate: float, dataset: Dataset, context: str) -> RowNoise:
    """Noise with this mean rate, in proportion to the noise rates of a data set."""
    if dataset.noise_rates is None:
        raise ConfigError(f"{context}: data set {dataset.name!r} has no 'rate_column'")
    highest = float(dataset.noise_rates.max() / dataset.noise_rates.mean())
    if noise_rate * highest > 1:
        raise ConfigError(
            f"{context}: rate {noise_rate:g} would give a row of data set {dataset.name!r} the noise rate "
            f"{noise_rate * highest:.6g}; the highest possible rate is {math.floor(1e4 / highest) / 1e4:g}"
        )
    return RowNoise(np.minimum(dataset.noise_rates / dataset.noise_rates.max() * (noise_rate * highest), 1.0))
