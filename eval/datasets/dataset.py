"""Data set: features as numbers or as a frame, labels as class numbers."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..errors import ConfigError
from ..models.input_form import Form
from .encoding import Encoding, FeatureEncoder, Features, update_with_frame

# Fixed seed for drawing rows, so that a data set is the same in every run.
SEED = 0


@dataclass(frozen=True, eq=False)
class Dataset:
    """Data set with features and encoded labels.

    Attributes
    ----------
    name : str
    X : float64 array or DataFrame of shape (n_samples, n_features)
        Features: an array if all columns are numbers and none is imputed.
    y : int64 array of shape (n_samples,)
        Class numbers.
    classes : ndarray of shape (n_classes,)
        Sorted labels.
    is_test : bool array of shape (n_samples,) or None
        Whether each row is a test row; None if the split is random.
    columns : tuple of str
        Names of the features, for frames made of an array.
    encoding : Encoding
        How features are converted for models.
    groups : int64 array of shape (n_samples,) or None
        Number of the group of each row.  Rows of a group stay together.
    weights : float64 array of shape (n_samples,) or None
        Weight of each row in training.
    noise_rates : float64 array of shape (n_samples,) or None
        Noise rate of each row, up to a common factor.
    rows : int64 array of shape (n_samples,) or None
        Number of each row in the source, from 0.
    train_rows : int or None
        Number of rows that are drawn from the training rows; None for all of them.
    is_known : bool array of shape (n_samples,) or None
        Whether each true label is known; None if all are.  Where it is unknown, `y` has a noisy label.
    noisy : dict of str to int64 array of shape (n_samples,)
        Given noisy labels by name, as class numbers; -1 if a test row has none.
    answers : int64 array of shape (n_samples, n_annotators) or None
        Labels of annotators, as class numbers; -1 if one gave none.
    checked : int64 array of shape (n_samples,) or None
        Right labels, if those in `y` are noisy; -1 where they are unknown.
    clean_probabilities : float64 array of shape (n_samples, n_classes) or None
        Probability of each right label, which `estimate_clean_labels` adds if those in `y` are noisy.
    """

    name: str
    X: Features
    y: NDArray[np.int64]
    classes: NDArray[Any]
    is_test: NDArray[np.bool_] | None = None
    columns: tuple[str, ...] = ()
    encoding: Encoding = dataclasses.field(default_factory=Encoding)
    groups: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    noise_rates: NDArray[np.float64] | None = None
    rows: NDArray[np.int64] | None = None
    train_rows: int | None = None
    is_known: NDArray[np.bool_] | None = None
    noisy: dict[str, NDArray[np.int64]] = dataclasses.field(default_factory=dict)
    answers: NDArray[np.int64] | None = None
    checked: NDArray[np.int64] | None = None
    clean_probabilities: NDArray[np.float64] | None = None

    def take(self, rows: NDArray[np.int64]) -> Dataset:
        """Select rows by position."""
        return dataclasses.replace(
            self,
            X=take_rows(self.X, rows),
            y=self.y[rows],
            is_test=None if self.is_test is None else self.is_test[rows],
            groups=None if self.groups is None else self.groups[rows],
            weights=None if self.weights is None else self.weights[rows],
            noise_rates=None if self.noise_rates is None else self.noise_rates[rows],
            rows=None if self.rows is None else self.rows[rows],
            is_known=None if self.is_known is None else self.is_known[rows],
            noisy={name: labels[rows] for name, labels in self.noisy.items()},
            answers=None if self.answers is None else self.answers[rows],
            checked=None if self.checked is None else self.checked[rows],
            clean_probabilities=None if self.clean_probabilities is None else self.clean_probabilities[rows],
        )

    def encode(self, form: Form, train: NDArray[np.int64]) -> Features:
        """Features of all rows, in the form that a model takes.

        Parameters
        ----------
        form : Form
            See `input_form`.  Replaced with "numbers" if the config says so, or if all features are numbers and
            the model needs no frame.
        train : int array
            Rows that medians, frequent values and categories are read from.

        Returns
        -------
        ndarray or DataFrame
            Maybe `X` itself, so it must not be changed.
        """
        frame, asked = self.X, self.encoding.features
        if asked == "numbers":
            form = "numbers"
        if isinstance(frame, np.ndarray):
            if form == "numbers" or (asked is None and form != "frame"):
                return frame
            frame = pd.DataFrame(frame, columns=list(self.columns) or None)
        return FeatureEncoder(form, self.encoding).fit(frame.iloc[train]).transform(frame)

    @property
    def fingerprint(self) -> str:
        """Hash of features, class numbers, given split, groups and weights, in order, without the name.

        Noisy labels and noise rates are not part of it, because cells without noise do not depend on them, and
        checked labels are not, because neither noise nor fits do.
        """
        digest = hashlib.sha256()
        digest.update(repr(self.X.shape).encode())
        if isinstance(self.X, pd.DataFrame):
            update_with_frame(digest, self.X)
            digest.update(repr(self.encoding).encode())
        else:
            digest.update(np.ascontiguousarray(self.X, dtype="<f8").tobytes())
            if self.encoding.features == "frame":
                digest.update(repr(self.columns).encode(errors="surrogatepass"))
        digest.update(np.ascontiguousarray(self.y, dtype="<i8").tobytes())
        if self.is_test is not None:
            digest.update(np.ascontiguousarray(self.is_test, dtype="u1").tobytes())
        if self.groups is not None:
            digest.update(b"groups" + np.ascontiguousarray(self.groups, dtype="<i8").tobytes())
        if self.weights is not None:
            digest.update(b"weights" + np.ascontiguousarray(self.weights, dtype="<f8").tobytes())
        if self.train_rows is not None:
            digest.update(b"train rows" + str(self.train_rows).encode())
        if self.is_known is not None:
            digest.update(b"known" + np.ascontiguousarray(self.is_known, dtype="u1").tobytes())
        return digest.hexdigest()


def take_rows(X: Features, rows: NDArray[np.int64]) -> Features:
    """Copy rows by position."""
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def draw_rows(groups: NDArray[np.int64], n_rows: int, context: str, seed: int = SEED) -> NDArray[np.int64]:
    """Draw rows, stratified by group and with at least one row of each; return their sorted positions.

    Parameters
    ----------
    groups : int array of shape (n_samples,)
    n_rows : int
    context : str
        Prefix of error messages.
    seed : int, default=0
        With the same seed, fewer rows are part of more rows.

    Raises
    ------
    ConfigError
        If there are more groups than rows to draw.
    """
    _, groups, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if sizes.size > n_rows:
        raise ConfigError(f"{context}: max_rows is {n_rows}, too few for {sizes.size} classes")
    shuffled = np.random.RandomState(seed).permutation(groups.size)
    by_group = shuffled[np.argsort(groups[shuffled], kind="stable")]
    rank = np.concatenate([np.arange(size) / size for size in sizes])  # from 0 to 1 in each group
    return np.sort(by_group[np.argsort(rank, kind="stable")[:n_rows]])
