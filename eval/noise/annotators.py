"""Labels of several annotators: one at random, the majority, the estimate of Dawid and Skene, soft labels."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .base import Floats, Integers, LabelledRows, Noise, make_generators

DAWID_SKENE_ITERATIONS = 100
TIE_SEED = 0
MIN_PROBABILITY = 1e-6  # of a class, for a copy of the row


@dataclass(frozen=True, eq=False)
class AnnotatorNoise(Noise):
    """The label of one annotator for each row, drawn at random among those who labelled it.

    The requested noise rate is the expected share of wrong labels.

    Parameters
    ----------
    answers : array-like of shape (n_samples, n_annotators)
        Class numbers; -1 where an annotator gave no label.  Test rows without any label keep the true one.

    Examples
    --------
    >>> from boostnoise.eval import AnnotatorNoise
    >>> noisy = AnnotatorNoise([[0, 1], [1, -1]]).corrupt([0, 1], random_state=0)
    >>> noisy.noise_rate
    0.25
    """

    kind = "annotators"
    answers: ArrayLike

    @cached_property
    def identity(self) -> list[Any]:
        """Kind of noise and hash of the labels."""
        answers = np.ascontiguousarray(self.answers, dtype="<i8")
        return [self.kind, hashlib.sha256(repr(answers.shape).encode() + answers.tobytes()).hexdigest()]

    def _draw(
        self, rows: LabelledRows, train: Integers, test: Integers, random_state: Any
    ) -> tuple[Integers, Integers, float]:
        answers = np.asarray(self.answers)
        if answers.ndim != 2 or len(answers) != rows.y.size:
            raise ValueError(f"answers must have shape ({rows.y.size}, n_annotators), got {answers.shape}")
        of_train, of_test = make_generators(random_state)
        noisy_train = _draw_one(answers[train], rows.y[train], of_train)
        noisy_test = _draw_one(answers[test], rows.y[test], of_test)
        return noisy_train, noisy_test, float(1 - agreement(answers[train], rows.y[train]).mean())


@dataclass(frozen=True, eq=False)
class SoftLabels(Noise):
    """Probabilities of the classes in place of labels: models train on weighted copies of each row.

    A row has one copy for each class with a positive probability, which is the weight of the copy, so the
    training loss of the row is its expectation over the probabilities.  The requested noise rate is the mean
    probability of the wrong classes.

    Parameters
    ----------
    probabilities : array-like of shape (n_samples, n_classes)
        NaN for test rows without a label.

    Examples
    --------
    >>> from boostnoise.eval import SoftLabels
    >>> rows, labels, weights = SoftLabels([[0.75, 0.25], [0, 1]]).copies([0, 1])
    >>> rows.tolist(), labels.tolist(), weights.tolist()
    ([0, 0, 1], [0, 1, 1], [0.75, 0.25, 1.0])
    """

    kind = "soft"
    probabilities: ArrayLike

    @cached_property
    def identity(self) -> list[Any]:
        """Kind of noise and hash of the probabilities."""
        p = np.ascontiguousarray(self.probabilities, dtype="<f8")
        return [self.kind, hashlib.sha256(repr(p.shape).encode() + p.tobytes()).hexdigest()]

    def copies(self, rows: ArrayLike) -> tuple[Integers, Integers, Floats]:
        """Weighted copies of rows.

        Parameters
        ----------
        rows : int array of shape (n_rows,)
            Positions.

        Returns
        -------
        rows, labels : int64 array of shape (n_copies,)
            Position and class number of each copy, ordered by `rows`.
        weights : float array of shape (n_copies,)
        """
        rows = np.asarray(rows)
        p = np.asarray(self.probabilities, dtype=np.float64)[rows]
        copied, labels = np.nonzero(p > MIN_PROBABILITY)
        return rows[copied], labels, p[copied, labels]

    def wrong_share(self, y: Integers, rows: Integers) -> float:
        """Mean probability of wrong classes over rows, given the true class numbers of all rows."""
        p = np.asarray(self.probabilities, dtype=np.float64)[rows]
        return float(1 - np.take_along_axis(p, y[rows, None], axis=1).mean())

    def _draw(
        self, rows: LabelledRows, train: Integers, test: Integers, random_state: Any
    ) -> tuple[Integers, Integers, float]:
        p = np.asarray(self.probabilities, dtype=np.float64)
        if p.shape != (rows.y.size, rows.n_classes):
            raise ValueError(f"probabilities must have shape ({rows.y.size}, {rows.n_classes}), got {p.shape}")
        labels = np.where(np.isnan(p[:, 0]), rows.y, np.nan_to_num(p).argmax(axis=1))
        return labels[train], labels[test], self.wrong_share(rows.y, train)


def agreement(answers: Integers, y: Integers) -> Floats:
    """Share of the labels of each row that equal `y`; 1 for rows without labels."""
    counts = (answers >= 0).sum(axis=1)
    right = (answers == y[:, None]).sum(axis=1)
    return np.where(counts > 0, right / np.maximum(counts, 1), 1.0)


def _draw_one(answers: Integers, y: Integers, rng: np.random.Generator) -> Integers:
    """Draw one label of each row; `y` for rows without labels."""
    # The annotator with the largest random number among those who labelled the row.
    drawn = np.where(answers >= 0, rng.random(answers.shape), -1.0).argmax(axis=1)
    chosen = np.take_along_axis(answers, drawn[:, None], axis=1)[:, 0]
    return np.where(chosen >= 0, chosen, y)


def majority(answers: Integers, n_classes: int) -> Integers:
    """Most frequent label of each row; ties are broken at random with a fixed seed.

    Parameters
    ----------
    answers : int array of shape (n_samples, n_annotators)
        Class numbers; -1 where an annotator gave no label.
    n_classes : int

    Returns
    -------
    int64 array of shape (n_samples,)
        -1 for rows without labels.
    """
    shares = vote_shares(answers, n_classes)
    is_tied = shares == shares.max(axis=1, keepdims=True)
    drawn = np.where(is_tied, np.random.RandomState(TIE_SEED).random(shares.shape), -1.0).argmax(axis=1)
    return np.where(np.isnan(shares[:, 0]), -1, drawn).astype(np.int64)


def vote_shares(answers: Integers, n_classes: int) -> Floats:
    """Share of each class in the labels of each row.

    Parameters
    ----------
    answers : int array of shape (n_samples, n_annotators)
        Class numbers; -1 where an annotator gave no label.
    n_classes : int

    Returns
    -------
    float array of shape (n_samples, n_classes)
        NaN for rows without labels.
    """
    votes = np.stack([(answers == k).sum(axis=1) for k in range(n_classes)], axis=1)
    counts = votes.sum(axis=1, keepdims=True)
    return np.where(counts > 0, votes / np.maximum(counts, 1), np.nan)


def dawid_skene(answers: Integers, n_classes: int) -> Floats:
    """Probability of each class for each row, by the EM algorithm of Dawid and Skene [1]_.

    It estimates a transition matrix for each annotator along with the labels.

    Parameters
    ----------
    answers : int array of shape (n_samples, n_annotators)
        Class numbers; -1 where an annotator gave no label.
    n_classes : int

    Returns
    -------
    float array of shape (n_samples, n_classes)
        NaN for rows without labels.

    Raises
    ------
    ImportError
        If crowd-kit is not installed.

    References
    ----------
    .. [1] Dawid & Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
           Journal of the Royal Statistical Society C 28(1), 1979.
    """
    from crowdkit.aggregation import DawidSkene  # optional and slow to import

    rows, annotators = np.nonzero(answers >= 0)
    table = pd.DataFrame({"task": rows, "worker": annotators, "label": answers[rows, annotators]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # crowd-kit uses deprecated functions of pandas
        estimated = DawidSkene(n_iter=DAWID_SKENE_ITERATIONS).fit_predict_proba(table)
    p = np.full((len(answers), n_classes), np.nan)
    p[estimated.index] = estimated.reindex(columns=range(n_classes), fill_value=0.0).to_numpy(dtype=np.float64)
    return p
