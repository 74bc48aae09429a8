"""Check whether a loss is conservative (Wilton & Ye 2024, Definition 1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ._checks import check_choice, check_integer
from .loss_criterion import loss_function

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MAX_CLASSES = 100
N_POINTS = 20_000  # of the regular grid of predictions
N_DRAWS = 2_000  # predictions drawn at random, which matter where the grid is coarse
N_ORDERS = 20  # orders of the classes in which the first two, three, ... are equally likely
FAR = (30.0, 1e4, 1e8)  # margins between a class and one with probability 0
GROWTH = 1.5  # a loss that grows by more than this from margins of 1e4 to 1e8 has no bound; log grows twofold
TOLERANCE = 1e-6  # relative to C; far above rounding errors
N_SHOWN = 6  # numbers of a prediction in messages


@dataclass(frozen=True)
class ConservativeReport:
    """Result of `check_conservative`.

    Attributes
    ----------
    loss : str
    n_classes : int
    constant : float
        The constant C: the largest loss; infinite if the loss has no bound.
    failures : mapping of str to str
        For each condition of the definition that fails, ``"a"``, ``"b"`` or ``"c"``, where and by how much.
    """

    loss: str
    n_classes: int
    constant: float
    failures: Mapping[str, str]

    @property
    def ok(self) -> bool:
        """Whether the loss is conservative."""
        return not self.failures

    def __str__(self) -> str:
        head = f"{self.loss}, {self.n_classes} classes"
        if self.ok:
            return f"{head}: conservative, C = {self.constant:.6g}"
        failures = (f"  ({condition}) {failure}" for condition, failure in self.failures.items())
        return "\n".join([f"{head}: not conservative", *failures])


def check_conservative(
    loss: Any, n_classes: int = 2, *, of: Literal["margins", "probabilities"] = "margins"
) -> ConservativeReport:
    r"""Check whether a loss is conservative (Wilton & Ye 2024 [1]_, Definition 1).

    A loss :math:`\ell` of a predicted distribution :math:`\hat y` over K classes is C-conservative, for a
    constant C > 0, if

    - (a) :math:`\sum_j \ell(\hat y, e_j) \ge C (K - 1)` for all predictions,
    - (b) :math:`\ell(\hat y, e_j) \le C` for all predictions and classes j, and
    - (c) :math:`\ell(e_j, e_j) = 0`: a certain and right prediction loses nothing.

    It then induces the misclassification impurity, :math:`C (1 - \max_k p_k)` (Theorem 2): trees stop early and
    predict the majority, which noise seldom changes (Theorems 3 to 5).  So the criterion
    ``"misclassification"`` grows the tree of any conservative loss, for any number of classes.  The converse is
    false: hinge loss has no bound, but the same impurity.  For two classes, `LossCriterion` has the impurity of
    every loss.

    The loss is computed for a regular grid of up to 20,000 predictions, for the uniform distributions over some
    of the classes, and for 2,000 random predictions.  What fails is not conservative; what passes may still
    fail between these predictions.

    Parameters
    ----------
    loss : callable, or object with a method ``value``
        ``loss(y, prediction)``, or ``loss.value(y, margin)`` as in `boostnoise.losses`, takes class numbers of
        shape (n,) and predictions, and returns the loss of each row.
    n_classes : int, default=2
        Number K of classes, at most 100.
    of : {"margins", "probabilities"}, default="margins"
        What the loss takes: margins, of shape (n,) for two classes, else (n, K), as `LossCriterion` and
        boosters do; or probabilities of shape (n, K).  Margins have no certain predictions, so (c) is checked
        at margins of 10^8, and a loss that still grows from 10^4 to 10^8 has no bound.

    Returns
    -------
    ConservativeReport
        Printed, it says which conditions fail, and where.

    Raises
    ------
    TypeError
        If the loss is not callable and has no method ``value``, or `n_classes` is not an integer.
    ValueError
        If an argument is out of range, or the loss does not return one number for each row, or NaN.

    References
    ----------
    .. [1] Wilton & Ye, "Robust Loss Functions for Training Decision Trees with Noisy Labels", AAAI 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from robust_splits import check_conservative
    >>> def absolute(y, p):
    ...     return np.abs(p - np.eye(p.shape[1])[y]).sum(axis=1)
    >>> print(check_conservative(absolute, n_classes=3, of="probabilities"))
    absolute, 3 classes: conservative, C = 2
    >>> def squared(y, p):
    ...     return np.square(p - np.eye(p.shape[1])[y]).sum(axis=1)
    >>> print(check_conservative(squared, of="probabilities"))
    squared, 2 classes: not conservative
      (a) for probabilities (0.5, 0.5) the losses of the classes sum to 1, less than C (K - 1) = 2
    """
    function = loss_function("loss", loss)
    n_classes = check_integer("n_classes", n_classes, low=2, high=MAX_CLASSES)
    check_choice("of", of, ("margins", "probabilities"))
    name = getattr(loss, "__name__", None) or repr(loss)
    probabilities = _simplex(n_classes)
    predictions = _margins(probabilities) if of == "margins" else [probabilities]
    return _Checked(name, function, n_classes, predictions, of).report()


class _Checked:
    """A loss of many predictions, in arrays whose margins reach further and further.

    The certain predictions are the first rows of each array, in the order of the classes.
    """

    def __init__(
        self, name: str, function: Callable[..., Any], n_classes: int, predictions: list[Floats], noun: str
    ) -> None:
        self.name, self.n_classes, self.noun = name, n_classes, noun
        self.predictions = predictions
        self.losses = [_losses(function, some, n_classes) for some in predictions]

    def report(self) -> ConservativeReport:
        """Check the three conditions for the largest loss, the smallest C that (b) allows."""
        unbounded = self._unbounded()
        constant = math.inf if unbounded else max(float(losses.max()) for losses in self.losses)
        found = {
            "a": "" if unbounded else self._small_sum(constant),
            "b": unbounded,
            "c": self._loss_of_certain(),
        }
        failures = {condition: failure for condition, failure in found.items() if failure}
        return ConservativeReport(self.name, self.n_classes, constant, failures)

    def _small_sum(self, constant: float) -> str:
        """Failure of (a)."""
        if constant <= 0:
            return "the loss is never positive, so there is no C > 0"
        least, where = min(
            (float(sums.min()), self._place(some, int(sums.argmin())))
            for some, sums in zip(self.predictions, (losses.sum(axis=1) for losses in self.losses), strict=True)
        )
        bound = constant * (self.n_classes - 1)
        if least >= bound * (1 - TOLERANCE):
            return ""
        return f"for {where} the losses of the classes sum to {least:.6g}, less than C (K - 1) = {bound:.6g}"

    def _unbounded(self) -> str:
        """Failure of (b)."""
        far = self.losses[-1]
        row, label = np.unravel_index(far.argmax(), far.shape)
        where = f"for {self._place(self.predictions[-1], int(row))} the loss of class {label}"
        if far[row, label] == math.inf:
            return f"{where} is infinite"
        nearer = [float(losses.max()) for losses in self.losses[:-1]]
        if nearer and far[row, label] > GROWTH * nearer[-1] > 0:
            return f"{where} is {far[row, label]:.6g}, and it seems to have no bound"
        return ""

    def _loss_of_certain(self) -> str:
        """Failure of (c)."""
        losses = np.diagonal(self.losses[-1][: self.n_classes])
        label = int(np.abs(losses).argmax())
        # Without a finite C, the scale is that of the other losses.
        finite = self.losses[0][np.isfinite(self.losses[0])]
        if abs(losses[label]) <= TOLERANCE * finite.max(initial=0.0):
            return ""
        where = self._place(self.predictions[-1], label)
        return f"for {where} the loss of class {label} is {losses[label]:.6g}, not 0"

    def _place(self, predictions: Floats, row: int) -> str:
        numbers = np.atleast_1d(predictions[row])
        text = ", ".join(f"{number:.4g}" for number in numbers[:N_SHOWN])
        text += ", ..." if numbers.size > N_SHOWN else ""
        if predictions.ndim == 1:
            return f"margin {text}"
        return f"{self.noun} ({text})"


def _losses(function: Callable[..., Any], predictions: Floats, n_classes: int) -> Floats:
    """Loss of each prediction, by row, if the label is each class, by column."""
    n = len(predictions)
    by_class = []
    with np.errstate(over="ignore", divide="ignore"):  # a loss may be infinite
        for label in range(n_classes):
            found = np.asarray(function(np.full(n, label), predictions.copy()), dtype=np.float64)
            if found.shape != (n,):
                raise ValueError(f"loss must return an array of shape ({n},), got {found.shape}")
            if np.isnan(found).any():
                raise ValueError("loss must not be NaN")
            by_class.append(found)
    return np.column_stack(by_class)


def _simplex(n_classes: int) -> Floats:
    """Distributions over the classes: first the certain ones, in the order of the classes."""
    rng = np.random.default_rng(0)
    steps = 1
    while math.comb(steps + n_classes, n_classes - 1) <= N_POINTS:
        steps += 1
    orders = [rng.permutation(n_classes) for _ in range(N_ORDERS)]
    uniform = [np.isin(range(n_classes), order[:n]) / n for order in orders for n in range(2, n_classes + 1)]
    concentrations = 10 ** rng.uniform(-1.5, 1, size=N_DRAWS)
    draws = np.array([rng.dirichlet(np.full(n_classes, one)) for one in concentrations])
    return np.concatenate([np.eye(n_classes), uniform, _compositions(steps, n_classes) / steps, draws])


def _compositions(total: int, n_parts: int) -> Floats:
    """All vectors of `n_parts` integers from 0 that sum to `total`."""
    rows = np.zeros((1, 0), dtype=np.int64)
    for _ in range(n_parts - 1):
        left = total - rows.sum(axis=1)
        rows = np.column_stack(
            [np.repeat(rows, left + 1, axis=0), np.concatenate([np.arange(n + 1) for n in left])]
        )
    return np.column_stack([rows, total - rows.sum(axis=1)]).astype(np.float64)


def _margins(probabilities: Floats) -> list[Floats]:
    """Margins of distributions, where a probability of 0 is further and further away."""
    with np.errstate(divide="ignore"):
        logarithms = np.log(probabilities)
    by_distance = [np.maximum(logarithms, -far) for far in FAR]
    return [m[:, 1] - m[:, 0] for m in by_distance] if probabilities.shape[1] == 2 else by_distance
