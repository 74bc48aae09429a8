"""Noise from the noisy labels of the data sets, and its rates."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..config.dataset_spec import LABELS_OF_ANNOTATORS, ONE_ANNOTATOR
from ..config.noise_base import NO_NOISE
from ..config.noise_spec import GivenSpec
from ..datasets.dataset import Dataset
from ..errors import ConfigError
from ..noise.annotators import AnnotatorNoise, SoftLabels, agreement, dawid_skene, majority, vote_shares
from ..noise.base import Noise
from ..noise.given import GivenNoise

Labels = NDArray[np.int64]
Rows = NDArray[np.bool_]
Shares = NDArray[np.float64]
IDENTIFIED = 3  # annotators, whose labels alone determine their errors


def given_noise(spec: GivenSpec, datasets: Sequence[Dataset]) -> dict[str, list[tuple[float, Noise]]]:
    """Noise rates of given noise and the noise at each, for every data set that has the labels.

    The rates are in ascending order, and those of all data sets are the same, the means over them, so that
    their scores can be averaged.  Data sets whose true labels are unknown lack the rate 0.

    Raises
    ------
    ConfigError
        If no label of a data set is wrong, a noise rate is unknown or that of other labels of the object, test
        labels are missing or a package is not installed.
    """
    found = sorted(
        ((*_noise_of_labels(label, spec, datasets), label) for label in spec.labels), key=lambda each: each[0]
    )
    for (low, _, label), (high, _, other) in pairwise(found):
        if np.isclose(low, high):
            raise ConfigError(
                f"noise {spec.name!r}: labels {label!r} and {other!r} have the same noise rate, {low:.4g}; put "
                "each of them into an object of its own"
            )
    has_baseline = {dataset.name: dataset.is_known is None for dataset in datasets}
    return {
        name: [
            *([NO_NOISE] if has_baseline[name] else []),
            *((noise_rate, noises[name]) for noise_rate, noises, _ in found),
        ]
        for name in found[0][1]  # several labels are those of the same data sets
    }


def _noise_of_labels(
    label: str, spec: GivenSpec, datasets: Sequence[Dataset]
) -> tuple[float, dict[str, Noise]]:
    """Noise rate of labels, and the noise on every data set that has them."""
    context = f"noise {spec.name!r}"
    noises: dict[str, Noise] = {}
    rates = []
    for dataset in datasets:
        found = _labels_of(label, dataset, context)
        if found is None:
            continue
        noise, has_label, is_right = found
        if spec.noise_on == "train+test" and not has_label.all():
            raise ConfigError(
                f"{context}: noise_on must be 'train', because data set {dataset.name!r} has test rows without "
                "a noisy label"
            )
        in_both = has_label if dataset.is_known is None else has_label & dataset.is_known
        if dataset.is_test is not None and (in_both & ~dataset.is_test).any():
            in_both = in_both & ~dataset.is_test
        if in_both.any():
            rates.append(float(1 - is_right[in_both].mean()))
            if rates[-1] == 0 and dataset.is_known is None:
                raise ConfigError(
                    f"{context}: no label of {label!r} is wrong in data set {dataset.name!r}: "
                    "they equal those of the target"
                )
        noises[dataset.name] = noise
    noise_rate = spec.rate
    if noise_rate is None:
        if not any(rates):
            raise ConfigError(
                f"{context}: the noise rate is unknown, because no row with a noisy and a true label differs "
                "in them; set 'rate', for example to an estimate of noisyaudit"
            )
        noise_rate = float(np.mean(rates))
    return noise_rate, noises


def _labels_of(label: str, dataset: Dataset, context: str) -> tuple[Noise, Rows, Shares] | None:
    """The noise, whether each row has noisy labels, and the share of them that is right.

    None if the data set has no such labels.
    """
    y, n_classes = dataset.y, dataset.classes.size
    if label in dataset.noisy:
        return _given(dataset.noisy[label], y, label)
    if dataset.answers is None or label not in LABELS_OF_ANNOTATORS:
        return None
    answers = dataset.answers
    if label == ONE_ANNOTATOR:
        has_label = np.asarray((answers >= 0).any(axis=1))
        return AnnotatorNoise(answers), has_label, agreement(answers, y)
    if label == "majority":
        return _given(majority(answers, n_classes), y)
    if label == "soft_majority":
        return _soft(vote_shares(answers, n_classes), y)
    if answers.shape[1] < IDENTIFIED:
        warnings.warn(
            f"{context}: data set {dataset.name!r} has two annotators, whose labels alone do not tell who is "
            "wrong (the model of Dawid and Skene is not identified); see boostnoise.compare_annotators",
            stacklevel=2,
        )
    try:
        p = dawid_skene(answers, n_classes)
    except ImportError:
        raise ConfigError(
            f"{context}: {label!r} requires crowd-kit, which is not installed; pip install crowd-kit"
        ) from None
    if label == "soft_dawid_skene":
        return _soft(p, y)
    return _given(np.where(np.isnan(p[:, 0]), -1, np.nan_to_num(p).argmax(axis=1)).astype(np.int64), y)


def _given(labels: Labels, y: Labels, name: str = "") -> tuple[Noise, Rows, Shares]:
    return GivenNoise(np.where(labels < 0, y, labels), name), labels >= 0, (labels == y).astype(np.float64)


def _soft(p: Shares, y: Labels) -> tuple[Noise, Rows, Shares]:
    return SoftLabels(p), ~np.isnan(p[:, 0]), np.take_along_axis(p, y[:, None], axis=1)[:, 0]
