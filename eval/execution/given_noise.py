"""Noise from the noisy labels of the data sets, and its rates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..config.dataset_spec import LABELS_OF_ANNOTATORS
from ..config.noise_spec import NO_NOISE, GivenSpec
from ..datasets.dataset import Dataset
from ..errors import ConfigError
from ..noise.annotators import AnnotatorNoise, agreement, dawid_skene, majority
from ..noise.base import Noise
from ..noise.given import GivenNoise

Labels = NDArray[np.int64]


def given_noise(spec: GivenSpec, datasets: Sequence[Dataset]) -> dict[str, list[tuple[float, Noise]]]:
    """Noise rates of given noise and the noise at each, for every data set that has the labels.

    The rate of all data sets is the same, the mean over them, so that their scores can be averaged.  Data sets
    whose true labels are unknown lack the rate 0.

    Raises
    ------
    ConfigError
        If no label of a data set is wrong, the noise rate is unknown, test labels are missing or a package is
        not installed.
    """
    label, where = spec.labels[0], f"noise {spec.name!r}"
    noises: dict[str, Noise] = {}
    rates = []
    for dataset in datasets:
        found = _labels_of(label, dataset, where)
        if found is None:
            continue
        labels, is_right = found
        has_label = (labels >= 0) if labels.ndim == 1 else (labels >= 0).any(axis=1)
        if spec.noise_on == "train+test" and not has_label.all():
            raise ConfigError(
                f"{where}: noise_on must be 'train', because data set {dataset.name!r} has test rows without a "
                "noisy label"
            )
        in_both = has_label if dataset.is_known is None else has_label & dataset.is_known
        if dataset.is_test is not None and (in_both & ~dataset.is_test).any():
            in_both = in_both & ~dataset.is_test
        if in_both.any():
            rates.append(float(1 - is_right[in_both].mean()))
            if rates[-1] == 0 and dataset.is_known is None:
                raise ConfigError(
                    f"{where}: no label of {label!r} is wrong in data set {dataset.name!r}: "
                    "they equal those of the target"
                )
        if labels.ndim == 1:
            noises[dataset.name] = GivenNoise(np.where(labels < 0, dataset.y, labels))
        else:
            noises[dataset.name] = AnnotatorNoise(labels)
    rate = spec.rate
    if rate is None:
        if not any(rates):
            raise ConfigError(
                f"{where}: the noise rate is unknown, because no row with a noisy and a true label differs in "
                "them; set 'rate', for example to an estimate of noisyaudit"
            )
        rate = float(np.mean(rates))
    has_baseline = {dataset.name: dataset.is_known is None for dataset in datasets}
    return {
        name: [*([NO_NOISE] if has_baseline[name] else []), (rate, noise)] for name, noise in noises.items()
    }


def _labels_of(label: str, dataset: Dataset, where: str) -> tuple[Labels, NDArray[np.float64]] | None:
    """Noisy labels, -1 where there is none, and the share of them that is right in each row.

    None if the data set has no such labels.
    """
    if label in dataset.noisy:
        labels = dataset.noisy[label]
        return labels, (labels == dataset.y).astype(np.float64)
    if dataset.answers is None or label not in LABELS_OF_ANNOTATORS:
        return None
    answers = dataset.answers
    if label == "one_annotator":
        return answers, agreement(answers, dataset.y)
    if label == "majority":
        labels = majority(answers, dataset.classes.size)
    else:
        try:
            p = dawid_skene(answers, dataset.classes.size)
        except ImportError:
            raise ConfigError(
                f"{where}: 'dawid_skene' requires crowd-kit, which is not installed; "
                "install it with: pip install 'boostnoise[crowd]'"
            ) from None
        labels = np.where(np.isnan(p[:, 0]), -1, np.nan_to_num(p).argmax(axis=1)).astype(np.int64)
    return labels, (labels == dataset.y).astype(np.float64)
