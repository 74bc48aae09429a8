"""Finds the mistakes that people make when they write an objective of their own.

An objective is a pair of derivatives by the margins, without the function that they come from, in a shape, an
order and with weights that each library has its own rules for.  Most mistakes raise no error: the booster
learns something else, or nothing.  `check_objective` calls the objective on a few small sets of rows and says
what is wrong, without training anything.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ._objective_caller import Caller, Finding, WrongResult
from .hooks import Objective
from .losses.base import Loss
from .losses.softmax import Classes, Floats

N_ROWS = 60
WIDTH = 2.0  # standard deviation of ordinary margins
STEP = 1e-5  # of finite differences
TOLERANCE = 1e-3  # relative to the largest gradient; far above rounding, in single precision too
EXTREME = (40.0, 100.0, 1000.0)  # exp of the last is infinite


@dataclass(frozen=True)
class ObjectiveReport:
    """What `check_objective` found.

    Attributes
    ----------
    objective : str
    library : {"xgboost", "lightgbm"}
    n_classes : int
    findings : tuple of Finding
    ok : bool
        Whether there is no error; there may be warnings.
    names : tuple of str
        Names of the findings, in their order.
    """

    objective: str
    library: str
    n_classes: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no error; there may be warnings."""
        return all(finding.severity != "error" for finding in self.findings)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the findings."""
        return tuple(finding.name for finding in self.findings)

    def __str__(self) -> str:
        head = f"{self.objective} for {self.library}, {self.n_classes} classes"
        if not self.findings:
            return f"{head}: nothing found"
        return "\n".join([f"{head}:", *(f"  {finding}" for finding in self.findings)])


def check_objective(
    objective: Callable[..., Any],
    library: Literal["xgboost", "lightgbm"],
    n_classes: int = 2,
    *,
    value: Callable[[Classes, Floats], Floats] | None = None,
    native: bool = False,
) -> ObjectiveReport:
    """Look for mistakes in an objective for XGBoost or LightGBM.

    Whatever the objective does is reported; only a bad argument of this function raises.  The checks are, by
    the names of their findings:

    ``call``
        It raises an error.
    ``signature``
        It cannot be given weights.
    ``result``, ``shape``, ``values``
        It does not return two arrays of floats, in the shape of the margins, finite at ordinary margins.  (Flat
        arrays for XGBoost are a warning: its versions since 2.1 warn of them.)
    ``order``
        Flat arrays in the order of the other library, C for XGBoost and Fortran for LightGBM.
    ``row dependence``, ``row order``
        The gradient of a row depends on the margins of other rows, or on where among them it stands.
    ``row count``
        The gradient or hessian of a row depends on how many rows there are, as when divided by their number.
    ``weights``
        Weights are ignored, or do not multiply both gradient and hessian.
    ``inputs``
        It writes into the arrays that it is given, which belong to the booster.
    ``sign``
        At margins of zero a step against the gradient does not make the given labels more probable.
    ``gradient``
        The gradient is not that of `value`, by central differences; with several columns and no `value`, it is
        the gradient of no function, as its derivatives are not symmetric (a warning).
    ``exact_hessian``, ``value``
        Of a hook of this package: the second derivative of its loss is not the slope of the gradient, though
        the curvature is made of it; its value raises an error or has no number for each row (a warning).
    ``sum over classes``
        The gradients of a row do not sum to 0, as those of a function of the softmax do (a warning).
    ``hessian``
        Hessians are negative, or all zero; or some are zero (a warning).
    ``extreme margins``
        Not finite in single precision at margins of 40, 100 or 1000.

    Parameters
    ----------
    objective : callable
    library : {"xgboost", "lightgbm"}
    n_classes : int, default=2
        Two classes have margins of shape (n,), more have (n, K).
    value : callable or None, default=None
        ``value(y, margin)``, the loss of each row, shape (n,), from class numbers and margins.  None stands for
        the value of the loss, if the objective is a hook of this package.
    native : bool, default=False
        Whether it is called as ``objective(margin, data)``, not ``objective(y_true, y_pred[, weight])``.

    Returns
    -------
    ObjectiveReport

    Raises
    ------
    TypeError, ValueError
        If an argument is not valid.

    Examples
    --------
    >>> from boostnoise import check_objective, xgboost_objective
    >>> print(check_objective(xgboost_objective("gce"), "xgboost", n_classes=3))
    XGBoostObjective(GeneralizedCrossEntropy(q=0.7)) for xgboost, 3 classes: nothing found
    >>> def squared(y_true, y_pred, sample_weight=None):
    ...     return y_pred - y_true, 0 * y_true
    >>> print(check_objective(squared, "xgboost"))
    squared for xgboost, 2 classes:
      error: weights: the weights of the rows are ignored
      error: sign: at margins of 0 the gradient of rows of class 0 is 0
      error: hessian: all hessians are 0, so no leaf is ever split
    """
    if not callable(objective):
        raise TypeError(f"objective must be callable, got {objective!r}")
    if value is not None and not callable(value):
        raise TypeError(f"value must be callable or None, got {value!r}")
    if library not in ("xgboost", "lightgbm"):
        raise ValueError(f"library must be 'xgboost' or 'lightgbm', got {library!r}")
    if n_classes < 2:
        raise ValueError(f"n_classes must be at least 2, got {n_classes!r}")
    name = getattr(objective, "__name__", None) or repr(objective)
    linter = _Linter(objective, library, n_classes, native)
    linter.run(value)
    return ObjectiveReport(name, library, n_classes, tuple(linter.findings))


class _Linter(Caller):
    """Calls an objective and notes what is wrong with its derivatives."""

    def __init__(self, objective: Callable[..., Any], library: str, n_classes: int, native: bool) -> None:
        super().__init__(objective, library, n_classes, native)
        rng = np.random.default_rng(0)
        self.y = rng.permutation(np.arange(N_ROWS) % n_classes)
        self.margin = self.as_given(rng.normal(scale=WIDTH, size=(N_ROWS, n_classes)))
        self.weight = rng.uniform(0.5, 2.0, size=N_ROWS).astype(np.float32)
        self.rng = rng

    def run(self, value: Callable[[Classes, Floats], Floats] | None) -> None:
        """All checks, as far as results can be read."""
        try:
            gradient, hessian = self.derivatives(self.y, self.margin)
            if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
                self.note("values", "the gradient or hessian is not finite at ordinary margins")
                return
            if isinstance(self.objective, Objective):
                self._check_loss(self.objective)
                value = self._value_of(self.objective.loss) if value is None else value
            self._check_rows(gradient, hessian)
            if "order" in self.names():
                return  # all else would be misread
            self._check_weights(gradient, hessian)
            self._check_sign()
            if "row dependence" not in self.names():
                self._check_gradient(gradient, value)
            self._check_hessian(hessian)
            self._check_extremes()
        except WrongResult:
            return

    def _check_rows(self, gradient: Floats, hessian: Floats) -> None:
        """One row moved moves its own derivatives only; rows in another order give the same."""
        moved = self.margin.copy(order="K")
        moved[1] += np.arange(1, moved[1].size + 1) if moved.ndim == 2 else 1
        changes = self.derivatives(self.y, moved)[0] != gradient
        elsewhere = np.delete(changes, 1, axis=0).any()
        if elsewhere and gradient.ndim == 2 and self._is_local(changes):
            other = "Fortran" if self.order == "C" else "C"
            self.note("order", f"gradients are flat in {other} order; return them in the shape of the margins")
        elif elsewhere:
            self.note("row dependence", "the gradient of a row changes with the margin of another row")
        else:
            shuffled = self.rng.permutation(N_ROWS)
            found = self.derivatives(self.y[shuffled], np.asarray(self.margin[shuffled], order=self.order))
            if not all(map(_close, found, (gradient[shuffled], hessian[shuffled]))):
                self.note("row order", "the same rows in another order have other gradients or hessians")
                return
            half = N_ROWS // 2
            found = self.derivatives(self.y[:half], np.asarray(self.margin[:half], order=self.order))
            if not all(map(_close, found, (gradient[:half], hessian[:half]))):
                self.note("row count", "among fewer rows, a row has another gradient or hessian")

    def _check_loss(self, objective: Objective) -> None:
        """What a hook does not show: it gives a loss copies, and makes its own curvature of what it gets."""
        loss, margin = objective.loss, self.margin.astype(np.float64)
        derivatives = {"gradient": loss.gradient}
        if (objective.hessian or loss.default_hessian) in ("irls", "exact_clipped", "abs"):
            derivatives["exact_hessian"] = loss.exact_hessian
        for name, derivative in derivatives.items():
            given = margin.copy()
            derivative(self.y, given)
            if not np.array_equal(given, margin):
                self.note("inputs", f"{name} of {loss!r} changes the margins that it is given")
                raise WrongResult
        if "exact_hessian" not in derivatives:
            return
        differences = np.empty_like(margin)
        for step in _steps(margin):
            slope = (loss.gradient(self.y, margin + step) - loss.gradient(self.y, margin - step)) / (2.0 * STEP)
            differences[step != 0] = slope[step != 0]
        if not _close(loss.exact_hessian(self.y, margin), differences):
            self.note("exact_hessian", f"exact_hessian of {loss!r} is not the slope of its gradient")

    def _value_of(self, loss: Loss) -> Callable[[Classes, Floats], Floats] | None:
        """The value of a loss, or None where it cannot be compared with the gradient."""
        try:
            found = np.shape(loss.value(self.y, self.margin.astype(np.float64)))
        except Exception as error:  # noqa: BLE001 (whatever it is, it is reported)
            self.note("value", f"that of {loss!r} raises {type(error).__name__}: {error}", "warning")
            return None
        if found != (N_ROWS,):
            message = f"that of {loss!r} has shape {found} for {N_ROWS} rows"
            self.note("value", message, "warning")
            return None
        return loss.value

    def _is_local(self, changes: Any) -> bool:
        """Whether changes are those of one row when read in the order of the other library."""
        other: Literal["C", "F"] = "F" if self.order == "C" else "C"
        reread = changes.ravel(order=self.order).reshape(changes.shape, order=other)
        return not np.delete(reread, 1, axis=0).any()

    def _check_weights(self, gradient: Floats, hessian: Floats) -> None:
        if not self.native:
            parameters = inspect.signature(self.objective).parameters
            if self.library == "xgboost" and "sample_weight" not in parameters:
                self.note("signature", "has no parameter sample_weight, so XGBoost refuses weights")
                return
            if self.library == "lightgbm" and len(parameters) < 3:
                self.note("signature", "has two parameters, so LightGBM trains without the weights")
                return
        found = self.derivatives(self.y, self.margin, self.weight)
        by_row = self.weight if gradient.ndim == 1 else self.weight[:, np.newaxis]
        if all(map(_close, found, (gradient, hessian))):
            self.note("weights", "the weights of the rows are ignored")
            return
        for name, weighted, plain in zip(("gradient", "hessian"), found, (gradient, hessian), strict=True):
            if not _close(weighted, plain * by_row):
                self.note("weights", f"the {name} of a row is not multiplied by its weight")

    def _check_sign(self) -> None:
        """At equal probabilities, where losses agree which way is down."""
        gradient, _ = self.derivatives(self.y, np.zeros_like(self.margin))
        for label in range(self.n_classes):
            rows = gradient[self.y == label]
            of_label = rows[:, label] if rows.ndim == 2 else rows if label == 1 else -rows
            if (of_label < 0).all():
                continue
            what = "points the wrong way, as if to maximise the loss" if (of_label > 0).all() else "is 0"
            if (of_label != 0).any() and not (of_label > 0).all():
                what = "differs in sign between rows"
            self.note("sign", f"at margins of 0 the gradient of rows of class {label} {what}")
            return

    def _check_gradient(self, gradient: Floats, value: Callable[[Classes, Floats], Floats] | None) -> None:
        if gradient.ndim == 2:
            sums = np.abs(gradient.sum(axis=1)).max() / max(np.abs(gradient).max(), np.finfo(float).tiny)
            if sums > TOLERANCE:
                message = f"the gradients of a row do not sum to 0, but to {sums:.2g} of the largest gradient"
                self.note("sum over classes", message, "warning")
        if value is not None:
            self._check_against(gradient, value)
        elif gradient.ndim == 2:
            self._check_symmetry()

    def _check_against(self, gradient: Floats, value: Callable[[Classes, Floats], Floats]) -> None:
        """Central differences of the value."""
        margin = self.margin.astype(np.float64)
        differences = np.empty_like(gradient)
        for step in _steps(margin):
            up, down = value(self.y, margin + step), value(self.y, margin - step)
            slope = (up - down) / (2.0 * STEP)
            if np.shape(slope) != (N_ROWS,):
                raise ValueError(f"value must return an array of shape {(N_ROWS,)}, got {np.shape(slope)}")
            differences[step != 0] = slope
        if _close(gradient, differences):
            return
        row, *column = np.unravel_index(np.abs(gradient - differences).argmax(), gradient.shape)
        place = f"label {self.y[row]}, margin {np.round(margin[row], 3).tolist()}"
        place += f", class {column[0]}" if column else ""
        found, expected = gradient[row, *column], differences[row, *column]
        self.note("gradient", f"at {place} it is {found:.4g}, but the value has the slope {expected:.4g}")

    def _check_symmetry(self) -> None:
        """The derivative of the j-th gradient by the k-th margin is that of the k-th by the j-th."""
        slopes = np.empty((N_ROWS, self.n_classes, self.n_classes))
        step = 2.0**-6  # margins and gradients may be rounded to single precision
        for k in range(self.n_classes):
            shift = np.zeros_like(self.margin)
            shift[:, k] = step
            up, down = (self.derivatives(self.y, self.margin + sign * shift)[0] for sign in (1.0, -1.0))
            slopes[:, :, k] = (up - down) / (2.0 * step)
        asymmetry = np.abs(slopes - slopes.transpose(0, 2, 1)).max()
        if asymmetry > 0.02 * np.abs(slopes).max():
            message = "its derivatives are not symmetric, so it is the gradient of no loss"
            self.note("gradient", message, "warning")

    def _check_hessian(self, hessian: Floats) -> None:
        if (hessian < 0).any():
            share = np.mean(hessian < 0)
            self.note("hessian", f"{share:.0%} of the hessians are negative, so steps go uphill or explode")
        elif not hessian.any():
            self.note("hessian", "all hessians are 0, so no leaf is ever split")
        elif (hessian == 0).any():
            share = np.mean(hessian == 0)
            self.note("hessian", f"{share:.0%} of the hessians are 0 at ordinary margins", "warning")

    def _check_extremes(self) -> None:
        """Margins that a booster reaches, and beyond."""
        for size in EXTREME:
            margin = self.as_given(np.where(self.rng.random((N_ROWS, self.n_classes)) < 0.5, -size, size))
            with np.errstate(over="ignore"):
                found = [part.astype(np.float32) for part in self.derivatives(self.y, margin)]
            if not all(np.isfinite(part).all() for part in found):
                self.note("extreme margins", f"not finite in single precision at margins of {size:g}")
                return


def _steps(margin: Floats) -> list[Floats]:
    """A small step of each column of the margins."""
    if margin.ndim == 1:
        return [np.full_like(margin, STEP)]
    steps = []
    for k in range(margin.shape[1]):
        step = np.zeros_like(margin)
        step[:, k] = STEP
        steps.append(step)
    return steps


def _close(found: Floats, expected: Floats) -> bool:
    """Whether arrays are equal up to rounding in single precision and the error of finite differences."""
    return bool(np.abs(found - expected).max() <= TOLERANCE * max(np.abs(expected).max(), 1e-12))
