"""Class labels of the training rows, hard or soft, and of evaluation sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.validation import _num_samples

from robust_splits.label_noise.labels import as_numpy_labels, check_same_length, encode_labels
from robust_splits.label_noise.soft_labels import are_soft_labels, read_soft_labels

Probabilities = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Target:
    """Class labels of the training rows.

    Attributes
    ----------
    encoder : LabelEncoder
    codes : int array of shape (n,)
        Class numbers; of soft labels, the most probable ones.
    probabilities : float32 array of shape (n, n_classes) or None, default=None
        Soft labels.
    """

    encoder: LabelEncoder
    codes: NDArray[np.int64]
    probabilities: Probabilities | None = None

    @classmethod
    def read(cls, X: Any, y: ArrayLike) -> Self:
        """Check and encode the labels of the rows of `X`; see `encode_labels` and `read_soft_labels`."""
        if are_soft_labels(y):
            classes, p = read_soft_labels(y, _num_samples(X))
            shares = (p / p.sum(axis=1, keepdims=True)).astype(np.float32)  # p may be the caller's array
            return cls(LabelEncoder().fit(classes), p.argmax(axis=1), shares)
        encoder, codes = encode_labels(y)
        check_same_length(X, codes)
        return cls(encoder, codes)

    @property
    def labels(self) -> NDArray[Any]:
        """Labels, as an array."""
        labels: NDArray[Any] = self.classes[self.codes]
        return labels

    @property
    def classes(self) -> NDArray[Any]:
        """The sorted labels, shape (n_classes,)."""
        classes: NDArray[Any] = self.encoder.classes_
        return classes

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def given(self) -> NDArray[Any]:
        """Class numbers or, if there are any, probabilities of the classes."""
        return self.codes if self.probabilities is None else self.probabilities

    @cached_property
    def placeholders(self) -> NDArray[np.int64]:
        """Class numbers in which each class occurs, for a library that is trained on the probabilities.

        Raises
        ------
        ValueError
            If there are fewer rows than classes.
        """
        if self.codes.size < self.n_classes:
            raise ValueError(f"{self.n_classes} classes need as many rows, got {self.codes.size}")
        return np.arange(self.codes.size) % self.n_classes


def encode_eval_set(eval_set: Any, encoder: LabelEncoder) -> list[tuple[Any, NDArray[np.int64]]]:
    """Evaluation sets as pairs of features and class numbers.

    Raises
    ------
    ValueError
        If an item is not a pair, or if a label does not occur in the training data.
    """
    pairs = []
    for i, pair in enumerate(eval_set):
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            parts = f" with {len(pair)} parts" if isinstance(pair, tuple | list) else ""
            raise ValueError(
                "eval_set must be a list of pairs, such as [(X, y)]; "
                f"item {i} is a {type(pair).__name__}{parts}"
            )
        pairs.append((pair[0], encode_eval_labels(pair[1], encoder, f"eval_set[{i}]")))
    return pairs


def encode_eval_labels(labels: Any, encoder: LabelEncoder, name: str) -> NDArray[np.int64]:
    """Class numbers of evaluation labels, shape (n,); errors call them `name`.

    Raises
    ------
    ValueError
        If a label does not occur in the training data.
    """
    try:
        numbers: NDArray[np.int64] = encoder.transform(as_numpy_labels(labels))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: labels must occur in the training data: {error}") from error
    return numbers
