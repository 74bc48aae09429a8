"""Class probabilities from margins, accurate near 0 and near 1.

For two classes, margins f have shape (n,) and the probabilities are the softmax of (0, f).  For K classes,
margins have shape (n, K).  Differences such as ``1 - p`` are computed as sums of the other probabilities, so
that no digits are lost.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .probability import Floats as Floats
from .probability import LabelProbabilities, Logistic, Probabilities

Classes = NDArray[np.integer]


class Softmax(Probabilities):
    """Class probabilities from margins, and derived quantities that losses use.

    Losses of probabilities accept a `Softmax` in place of the margins, so that several calls share its
    computations.  NumPy converts it to the array of margins.

    Parameters
    ----------
    margin : float array of shape (n, K)
        For margins of shape (n,), use ``softmax_of``.
    precision : dtype, default=float64
        Precision of all computations.

    Attributes
    ----------
    margin : float array
        The margins in that precision.
    n_classes : int
    p, complement, log_p : float arrays of shape (n, n_classes)
        Probabilities p, ``1 - p`` and ``ln p``.
    exponentials : float array of shape (n, K)
        ``exp(margin_k - max_j margin_j)``.
    others : float array of shape (n,)
        Their sum without the highest, which is 1.
    log_total : float array of shape (n,)
        ``ln sum_k exp(margin_k)``.
    variance : float array in the shape of the margins
        ``p (1 - p)``, the diagonal of the hessian of cross entropy.
    """

    _labels: Classes | None = None
    _of_label: Probabilities

    def __init__(self, margin: Floats, precision: type[np.floating] = np.float64) -> None:
        from . import softmax_kernels  # loads Numba, which those who only choose a loss do not need

        # In Fortran order, so that sums over classes run along contiguous memory.
        self.margin = np.asfortranarray(margin, dtype=precision)
        self.n_classes = self.margin.shape[1]
        self._shifted = np.empty_like(self.margin)
        self._highest, self.others = np.empty((2, len(self.margin)), dtype=precision)
        softmax_kernels.shift_margins(self.margin, self._highest, self._shifted)
        self.exponentials = np.exp(self._shifted)
        softmax_kernels.sum_others(self.exponentials, self.others)
        self._log1p_others = np.log1p(self.others)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.margin, dtype=dtype, copy=True if copy is None else copy)

    @cached_property
    def log_total(self) -> Floats:
        log_total: Floats = self._highest + self._log1p_others
        return log_total

    @cached_property
    def log_p(self) -> Floats:
        log_p: Floats = self._shifted - self._log1p_others[:, np.newaxis]
        return log_p

    @cached_property
    def p(self) -> Floats:
        p: Floats = self.exponentials / (1.0 + self.others)[:, np.newaxis]
        return p

    @cached_property
    def complement(self) -> Floats:
        of_highest = self.others / (1.0 + self.others)
        return np.where(self.exponentials == 1.0, of_highest[:, np.newaxis], 1.0 - self.p)

    @cached_property
    def variance(self) -> Floats:
        return self.shaped(self.p * self.complement)

    def of_label(self, y: Classes) -> Probabilities:
        """Probabilities of the given labels; all properties have shape (n,)."""
        # Cached, because gradient and curvature both use it.
        if self._labels is not y:
            self._labels, self._of_label = y, self._compute_of_label(y)
        return self._of_label

    def _compute_of_label(self, y: Classes) -> Probabilities:
        at_label = np.arange(y.size), y
        exponential, total = self.exponentials[at_label], 1.0 + self.others
        complement = np.where(exponential == 1.0, self.others / total, 1.0 - exponential / total)
        return LabelProbabilities(self._shifted[at_label] - self._log1p_others, complement)

    def residual_by_class(self, y: Classes) -> Floats:
        """``p - onehot(y)`` of shape (n, n_classes)."""
        residual = self.p.copy(order="K")
        residual[np.arange(y.size), y] = -self.of_label(y).complement
        return residual

    def residual(self, y: Classes) -> Floats:
        """``p - onehot(y)``, the gradient of cross entropy, in the shape of the margins."""
        return self.residual_by_class(y)

    def agreement(self, y: Classes) -> Floats:
        """``1 - |p - onehot(y)|`` in the shape of the margins."""
        agreement = self.complement.copy(order="K")
        at_label = np.arange(y.size), y
        agreement[at_label] = self.p[at_label]
        return agreement

    def shaped(self, by_class: Floats) -> Floats:
        """Convert an array of shape (n, n_classes) to the shape of the margins."""
        return by_class

    def spread(self, by_row: Floats) -> Floats:
        """Convert an array of shape (n,) to a shape that broadcasts with the margins."""
        return by_row[:, np.newaxis]


class BinarySoftmax(Softmax):
    """The `Softmax` of (0, f), for two classes with margins f.

    Parameters
    ----------
    margin : float array of shape (n,)
    precision : dtype, default=float64
    """

    def __init__(self, margin: Floats, precision: type[np.floating] = np.float64) -> None:
        self.margin = np.asarray(margin, dtype=precision)
        self.n_classes = 2

    @cached_property
    def _classes(self) -> tuple[Logistic, Logistic]:
        return Logistic(self.margin), Logistic(-self.margin)

    @cached_property
    def log_total(self) -> Floats:
        return -self._classes[0].log_p

    @cached_property
    def log_p(self) -> Floats:
        return np.array([of_class.log_p for of_class in self._classes]).T

    @cached_property
    def p(self) -> Floats:
        return np.array([of_class.p for of_class in self._classes]).T

    @cached_property
    def complement(self) -> Floats:
        return self.p[:, ::-1]

    @cached_property
    def variance(self) -> Floats:
        # Both classes have the same variance, so use that of the label, which is often computed already.
        known = self._classes[0] if self._labels is None else self._of_label
        return known.p * known.complement

    def _compute_of_label(self, y: Classes) -> Probabilities:
        from .softmax_kernels import oppose

        opposite = np.empty_like(self.margin)
        oppose(y, self.margin, opposite)
        return Logistic(opposite)

    def residual(self, y: Classes) -> Floats:
        complement = self.of_label(y).complement
        residual: Floats = sign(1 - y, self.margin.dtype.type) * complement
        return residual

    def agreement(self, y: Classes) -> Floats:
        return self.of_label(y).p

    def shaped(self, by_class: Floats) -> Floats:
        return by_class[:, 1]

    def spread(self, by_row: Floats) -> Floats:
        return by_row


Margin = Floats | Softmax


def sign(y: Classes, precision: type[np.floating] = np.float64) -> Floats:
    """-1 for class 0 and 1 for class 1."""
    signs: Floats = y.astype(precision)
    signs *= 2.0
    signs -= 1.0
    return signs


def softmax_of(margin: Floats, precision: type[np.floating] = np.float64) -> Softmax:
    """Create the `Softmax` of margins of shape (n,) or (n, K)."""
    return (Softmax if np.ndim(margin) == 2 else BinarySoftmax)(margin, precision)


def probabilities(margin: Floats) -> Floats:
    """Class probabilities of shape (n, K) from margins of shape (n,) or (n, K)."""
    return np.ascontiguousarray(softmax_of(margin).p)


def sum_of_others(by_class: Floats) -> Floats:
    """Sum over all other classes, shape (n, K); subtracting from the total would lose small sums."""
    before, after = np.zeros_like(by_class), np.zeros_like(by_class)
    for k in range(1, by_class.shape[1]):
        np.add(before[:, k - 1], by_class[:, k - 1], out=before[:, k])
        np.add(after[:, -k], by_class[:, -k], out=after[:, -k - 1])
    return before + after


def read_inputs(y: Classes, margin: Margin) -> tuple[Classes, Softmax]:
    """Check labels and margins; return class numbers and the `Softmax`.  A `Softmax` is not checked again.

    Raises
    ------
    ValueError
        If the shapes do not match or a label is not one of 0, ..., K - 1.
    TypeError
        If the labels are not integers.
    """
    if isinstance(margin, Softmax):
        return y, margin
    margin = np.asarray(margin)
    n_classes = count_classes(margin)
    return check_labels(y, len(margin), n_classes), softmax_of(margin)


def count_classes(margin: NDArray[Any]) -> int:
    """Check the shape of margins and return the number of classes."""
    if margin.ndim not in (1, 2) or (margin.ndim == 2 and margin.shape[1] < 2):
        raise ValueError(f"margins must have shape (n,) for two classes, else (n, K), got {margin.shape}")
    return 2 if margin.ndim == 1 else margin.shape[1]


def check_labels(y: Classes, n_rows: int, n_classes: int) -> Classes:
    """Check class numbers and return them as an array; errors as in `read_inputs`."""
    y = np.asarray(y)
    if y.shape != (n_rows,):
        raise ValueError(f"y must have shape ({n_rows},) to match the margins, got {y.shape}")
    if y.dtype.kind not in "iu":
        raise TypeError(f"y must contain class numbers, which are integers, got dtype {y.dtype}")
    if y.size and not (y.min() >= 0 and y.max() < n_classes):
        raise ValueError(f"y must contain class numbers 0 to {n_classes - 1}, got {y.min()} to {y.max()}")
    return y
