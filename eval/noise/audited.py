"""More noise of the kind that labels already have, as an audit of the training rows finds it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostnoise import __version__

from .._numbers import check_noise_rate
from .base import Floats, Integers, LabelledRows, Noise, make_generators

HIGHEST_AUDITED_RATE = 0.5  # of all rows, of each class and of each row, so that most labels stay as they are
LEAST = 0.01  # probability of another label; a forest of 100 trees cannot tell less from none
MAX_AUDITS = 10  # kept in memory


@dataclass(frozen=True)
class AuditedNoise(Noise):
    """Additional noise like that of the given labels, which need not be right.

    The labels as given are those at the rate 0, and the noise rate is the share of them that changes.  The
    training rows are judged as by `boostnoise.audit`: by the out-of-bag predictions of two forests.  Let T be
    the estimated transition matrix, c the probability that the label i of a row is right, and q_j the
    predicted probability of the label j.  The label changes to j with probability ``s T[i, j] g_j``, where g_j
    is ``c q_j`` divided by its mean over the rows with the label i:

    - In each class, the rates are those of the audit times s: the transition matrix of the added noise is
      ``I + s (T - I)``.  The factor s follows from the noise rate.  Only the proportions of T matter, so it is
      that of the audit without overlap, from which the likely one differs by a factor only.
    - Rows whose neighbours have the label j get it more often.  Where the noise does not depend on the
      features, q_j is about the same in most rows of a class.
    - Labels that are probably wrong rarely change; otherwise the first to change would be corrected.

    No label changes with a probability above 1/2: other rows with the label then change more often, so that
    the rate of each class is kept.

    Test labels stay as they are, and nothing is learned from test rows.

    Parameters
    ----------
    noise_rate : float
        Noise rate, the mean over the training rows, in [0, 0.5].

    Raises
    ------
    ValueError
        From `corrupt`, if half of the labels of a class or more would change, the audit finds no noise at
        all, or the features do not predict the labels.
    """

    kind = "audited"
    allowed_noise_on = ("train",)
    needs_features = True
    accepts_missing = True
    noise_rate: float

    def __post_init__(self) -> None:
        check_noise_rate(self, self.noise_rate, HIGHEST_AUDITED_RATE)

    @cached_property
    def identity(self) -> list[Any]:
        """Kind of noise, noise rate, and the version of the forests that judge the rows."""
        return [self.kind, self.noise_rate, __version__]

    def label_probabilities(self, y: ArrayLike, X: ArrayLike, *, classes: ArrayLike | None = None) -> Floats:
        """Probability of each label after the noise.

        Parameters
        ----------
        y, X, classes
            As in `corrupt`.

        Returns
        -------
        float array of shape (n_samples, n_classes)
            Rows sum to 1; one minus the entry of the given label is the probability that it changes.

        Raises
        ------
        ValueError
            As in `corrupt`.
        """
        return self._label_probabilities(self._read_rows(y, X, classes))

    def _draw(
        self, rows: LabelledRows, train: Integers, test: Integers, random_state: Any
    ) -> tuple[Integers, Integers, float]:
        train_rows = rows.take(train)
        p = self._label_probabilities(train_rows)
        p[np.arange(train.size), train_rows.y] = 0.0
        edges = np.cumsum(p, axis=1)
        # With the same seed, labels flipped at one rate are also flipped at higher ones.
        uniform = make_generators(random_state)[0].random((train.size, 1))
        flipped = uniform[:, 0] < edges[:, -1]
        noisy = np.where(flipped, (uniform < edges).argmax(axis=1), train_rows.y)
        return noisy, rows.y[test], float(self.noise_rate)

    def _label_probabilities(self, rows: LabelledRows) -> Floats:
        all_rows, weights = np.arange(rows.y.size), _audited_weights(rows)
        row_weights = weights.sum(axis=1)
        scale = self.noise_rate / row_weights.mean()
        p = np.zeros_like(weights)
        for label in np.unique(rows.y):
            of_label = rows.y == label
            rate = scale * float(row_weights[of_label].mean())
            if rate >= HIGHEST_AUDITED_RATE:
                highest = math.floor(1e3 * HIGHEST_AUDITED_RATE * self.noise_rate / rate) / 1e3
                raise ValueError(
                    f"rate {self.noise_rate:g} would change half or more of the labels of a class that "
                    f"has most of the noise; the highest possible rate is about {highest:g}"
                )
            changes = _with_mean(row_weights[of_label], rate)
            p[of_label] = weights[of_label] * (changes / row_weights[of_label])[:, np.newaxis]
        p[all_rows, rows.y] = 1.0 - p.sum(axis=1)
        return p


def _with_mean(weights: Floats, mean: float) -> Floats:
    """Probabilities in proportion to positive weights, at most 1/2, with a given mean."""
    p: Floats = weights * (mean / weights.mean())
    free = np.ones(p.size, dtype=np.bool_)
    while (p[free] > HIGHEST_AUDITED_RATE).any():
        free &= p <= HIGHEST_AUDITED_RATE
        p[~free] = HIGHEST_AUDITED_RATE
        p[free] *= (mean * p.size - p[~free].sum()) / p[free].sum()
    return p


_audits: dict[str, Floats] = {}  # by hash of the training rows, as all rates and models of a repeat share them


def _audited_weights(rows: LabelledRows) -> Floats:
    """Weight ``T[i, j] g_j`` of each other label, shape (n, n_classes)."""
    X = np.ascontiguousarray(rows.X)
    key = hashlib.sha256(repr((X.shape, rows.n_classes)).encode() + X.tobytes() + rows.y.tobytes()).hexdigest()
    if key not in _audits:
        while len(_audits) >= MAX_AUDITS:
            del _audits[next(iter(_audits))]
        _audits[key] = _audit(X, rows.y, rows.n_classes)
    return _audits[key]


def _audit(X: Floats, y: Integers, n_classes: int) -> Floats:
    # Imported here, since the forests are slow to load, and configs need only the rates.
    from boostnoise.label_noise.judges import predict_out_of_bag
    from robust_splits.label_noise.clean_posterior import estimate_clean_posterior

    present, codes = np.unique(y, return_inverse=True)
    if present.size < 2:
        raise ValueError("y must contain at least two classes in the training rows, got one")
    q = predict_out_of_bag(X, codes)
    found = estimate_clean_posterior(codes, q)
    all_rows: NDArray[np.int64] = np.arange(codes.size)
    weights = found.probabilities[all_rows, codes][:, np.newaxis] * np.maximum(q, LEAST)
    for i, rates in enumerate(found.transition_matrix):
        weights[codes == i] *= rates / weights[codes == i].mean(axis=0)
    weights[all_rows, codes] = 0.0
    if not weights.any():
        raise ValueError("the audit finds no noise in the training rows, so there is none to add to")
    of_all: Floats = np.zeros((codes.size, n_classes))
    of_all[:, present] = weights
    return of_all
