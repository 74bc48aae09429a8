"""Objective checks: find common mistakes in custom objectives.

An objective returns two derivatives of a loss with respect to the margins, but not the loss itself.  Each
library has its own rules for their shape, memory order and weights.  Most mistakes raise no error: the booster
learns something else, or nothing.  `check_objective` calls the objective on a few small sets of rows and
reports mistakes, without training a model.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..losses.base import Loss
from ..losses.softmax import Classes, Floats
from .hooks import LightGBMObjective, Objective, XGBoostObjective
from .objective_caller import Finding, ObjectiveCaller, UnreadableResult

N_ROWS = 60
MARGIN_SCALE = 2.0  # standard deviation of ordinary margins
STEP = 1e-5  # step of finite differences
TOLERANCE = 1e-3  # relative to the largest gradient; far above rounding errors in single precision
EXTREME = (40.0, 100.0, 1000.0)  # exp(1000) overflows


@dataclass(frozen=True)
class ObjectiveReport:
    """Result of `check_objective`.

    Attributes
    ----------
    objective : str
    library : {"xgboost", "lightgbm"}
    n_classes : int
    findings : tuple of Finding
    ok : bool
        Whether there is no error; there may be warnings.
    names : tuple of str
        Names of the findings, in the same order.
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
            return f"{head}: no problems found"
        return "\n".join([f"{head}:", *(f"  {finding}" for finding in self.findings)])


def check_objective(
    objective: Callable[..., Any],
    library: Literal["xgboost", "lightgbm"],
    n_classes: int = 2,
    *,
    value: Callable[[Classes, Floats], Floats] | None = None,
    native: bool = False,
) -> ObjectiveReport:
    """Check a custom objective for XGBoost or LightGBM.

    Problems of the objective are reported, not raised; this function raises only if its own arguments are
    invalid.  The names of findings, and what they mean:

    ``library``
        A hook of this package for the other library.
    ``call``
        The objective raises an error.
    ``signature``
        It does not accept weights.
    ``result``, ``shape``, ``values``
        It does not return two arrays of floats, in the shape of the margins, finite at ordinary margins.  (Flat
        arrays for XGBoost are a warning: its versions since 2.1 warn about them.)
    ``order``
        It returns flat arrays in the order of the other library; XGBoost uses C order, LightGBM Fortran order.
    ``row dependence``, ``row order``
        The gradient of a row depends on the margins of other rows, or on the position of the row.
    ``row count``
        The gradient or hessian of a row depends on the number of rows, as it does when divided by that number.
    ``weights``
        Weights are ignored, or do not multiply both gradient and hessian.
    ``inputs``
        It modifies the arrays that it receives, which belong to the booster.
    ``sign``
        At margin 0, a step against the gradient does not make the given labels more probable.
    ``gradient``
        The gradient is not the derivative of `value`, by central differences.  With several columns and without
        `value`: its derivatives are not symmetric, so it is the gradient of no function (a warning).
    ``exact_hessian``, ``value``
        For hooks of this package: ``exact_hessian`` of the loss is not the derivative of its gradient although
        the hessian strategy uses it, or its ``value`` raises an error or does not return one number per row (a
        warning).
    ``sum over classes``
        The gradients of a row do not sum to 0, as those of any function of the softmax do (a warning).
    ``hessian``
        Hessians are negative or all zero; if only some are zero, a warning.
    ``extreme margins``
        A derivative is not finite in single precision at margins of 40, 100 or 1000.

    Parameters
    ----------
    objective : callable
    library : {"xgboost", "lightgbm"}
    n_classes : int, default=2
        Margins have shape (n,) for two classes, else (n, K).
    value : callable or None, default=None
        ``value(y, margin)`` computes the loss of each row, shape (n,), from class numbers and margins.  For
        hooks of this package, None uses the value of their loss.
    native : bool, default=False
        Whether to call ``objective(margin, data)`` instead of ``objective(y_true, y_pred[, weight])``.

    Returns
    -------
    ObjectiveReport

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid.

    Examples
    --------
    >>> from boostnoise import check_objective, xgboost_objective
    >>> print(check_objective(xgboost_objective("gce"), "xgboost", n_classes=3))
    XGBoostObjective(GeneralizedCrossEntropy(q=0.7)) for xgboost, 3 classes: no problems found
    >>> def squared(y_true, y_pred, sample_weight=None):
    ...     return y_pred - y_true, 0 * y_true
    >>> print(check_objective(squared, "xgboost"))
    squared for xgboost, 2 classes:
      error: weights: sample weights are ignored
      error: sign: at margin 0 the gradient of rows of class 0 is 0
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
    checker = _ObjectiveChecker(objective, library, n_classes, native)
    checker.run(value)
    return ObjectiveReport(name, library, n_classes, tuple(checker.findings))


HOOKS: Mapping[str, type[Objective]] = {"xgboost": XGBoostObjective, "lightgbm": LightGBMObjective}


class _ObjectiveChecker(ObjectiveCaller):
    """Calls an objective and records problems of its derivatives."""

    def __init__(self, objective: Callable[..., Any], library: str, n_classes: int, native: bool) -> None:
        super().__init__(objective, library, n_classes, native)
        rng = np.random.default_rng(0)
        self.y = rng.permutation(np.arange(N_ROWS) % n_classes)
        self.margin = self.to_library_format(rng.normal(scale=MARGIN_SCALE, size=(N_ROWS, n_classes)))
        self.weight = rng.uniform(0.5, 2.0, size=N_ROWS).astype(np.float32)
        self.rng = rng

    def run(self, value: Callable[[Classes, Floats], Floats] | None) -> None:
        """Run all checks until a result cannot be read."""
        if isinstance(self.objective, Objective) and not isinstance(self.objective, HOOKS[self.library]):
            self.add_finding("library", f"{type(self.objective).__name__} is not for {self.library}")
            return
        try:
            gradient, hessian = self.compute_derivatives(self.y, self.margin)
            if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
                self.add_finding("values", "the gradient or hessian is not finite at ordinary margins")
                return
            if isinstance(self.objective, Objective):
                self._check_loss(self.objective)
                value = self._comparable_value(self.objective.loss) if value is None else value
            self._check_rows(gradient, hessian)
            if "order" in self.finding_names():
                return  # further checks would misread the results
            self._check_weights(gradient, hessian)
            self._check_sign()
            if "row dependence" not in self.finding_names():
                self._check_gradient(gradient, value)
            self._check_hessian(hessian)
            self._check_extremes()
        except UnreadableResult:
            return

    def _check_rows(self, gradient: Floats, hessian: Floats) -> None:
        """Check that the derivatives of a row depend only on the row itself."""
        shifted = self.margin.copy(order="K")
        shifted[1] += np.arange(1, shifted[1].size + 1) if shifted.ndim == 2 else 1
        changes = self.compute_derivatives(self.y, shifted)[0] != gradient
        others_change = np.delete(changes, 1, axis=0).any()
        if others_change and gradient.ndim == 2 and self._is_local_in_other_order(changes):
            other = "Fortran" if self.order == "C" else "C"
            message = f"returns flat gradients in {other} order; return them in the shape of the margins"
            self.add_finding("order", message)
        elif others_change:
            self.add_finding("row dependence", "the gradient of a row changes with the margin of another row")
        elif not self._agrees_on(self.rng.permutation(N_ROWS), gradient, hessian):
            self.add_finding("row order", "the gradient or hessian of a row depends on the order of the rows")
        elif not self._agrees_on(np.arange(N_ROWS // 2), gradient, hessian):
            self.add_finding("row count", "the gradient or hessian of a row depends on the number of rows")

    def _agrees_on(self, rows: NDArray[np.intp], gradient: Floats, hessian: Floats) -> bool:
        """Whether a call with these rows returns the same derivatives as the call with all rows."""
        found = self.compute_derivatives(self.y[rows], np.asarray(self.margin[rows], order=self.order))
        return all(map(_close, found, (gradient[rows], hessian[rows])))

    def _check_loss(self, objective: Objective) -> None:
        """Check the loss of a hook directly; the hook passes it copies and computes its own hessian."""
        loss, margin = objective.loss, self.margin.astype(np.float64)
        derivatives = {"gradient": loss.gradient}
        if (objective.hessian or loss.default_hessian) in ("irls", "exact_clipped", "abs"):
            derivatives["exact_hessian"] = loss.exact_hessian
        for name, derivative in derivatives.items():
            passed = margin.copy()
            derivative(self.y, passed)
            if not np.array_equal(passed, margin):
                self.add_finding("inputs", f"{name} of {loss!r} modifies the margins that it receives")
                raise UnreadableResult
        if "exact_hessian" not in derivatives:
            return
        differences = np.empty_like(margin)
        for step in _steps(margin):
            slope = (loss.gradient(self.y, margin + step) - loss.gradient(self.y, margin - step)) / (2.0 * STEP)
            differences[step != 0] = slope[step != 0]
        if not _close(loss.exact_hessian(self.y, margin), differences):
            message = f"exact_hessian of {loss!r} is not the derivative of its gradient"
            self.add_finding("exact_hessian", message)

    def _comparable_value(self, loss: Loss) -> Callable[[Classes, Floats], Floats] | None:
        """The value of a loss as a function, or None if it cannot be compared with the gradient."""
        try:
            found = np.shape(loss.value(self.y, self.margin.astype(np.float64)))
        except Exception as error:  # noqa: BLE001 (any error is reported)
            self.add_finding("value", f"value of {loss!r} raises {type(error).__name__}: {error}", "warning")
            return None
        if found != (N_ROWS,):
            message = f"value of {loss!r} must have shape {(N_ROWS,)}, got {found}"
            self.add_finding("value", message, "warning")
            return None
        return loss.value

    def _is_local_in_other_order(self, changes: Any) -> bool:
        """Whether the changes affect a single row if they are read in the order of the other library."""
        other: Literal["C", "F"] = "F" if self.order == "C" else "C"
        reread = changes.ravel(order=self.order).reshape(changes.shape, order=other)
        return not np.delete(reread, 1, axis=0).any()

    def _check_weights(self, gradient: Floats, hessian: Floats) -> None:
        if not self.native:
            parameters = inspect.signature(self.objective).parameters
            if self.library == "xgboost" and "sample_weight" not in parameters:
                self.add_finding("signature", "has no parameter sample_weight, so XGBoost rejects weights")
                return
            if self.library == "lightgbm" and len(parameters) < 3:
                self.add_finding("signature", "has only two parameters, so LightGBM trains without the weights")
                return
        found = self.compute_derivatives(self.y, self.margin, self.weight)
        row_weight = self.weight if gradient.ndim == 1 else self.weight[:, np.newaxis]
        if all(map(_close, found, (gradient, hessian))):
            self.add_finding("weights", "sample weights are ignored")
            return
        for name, weighted, plain in zip(("gradient", "hessian"), found, (gradient, hessian), strict=True):
            if not _close(weighted, plain * row_weight):
                self.add_finding("weights", f"the {name} of a row is not multiplied by its sample weight")

    def _check_sign(self) -> None:
        """Check the sign of the gradient at equal probabilities, where it is the same for all losses."""
        gradient, _ = self.compute_derivatives(self.y, np.zeros_like(self.margin))
        for label in range(self.n_classes):
            rows = gradient[self.y == label]
            label_gradient = rows[:, label] if rows.ndim == 2 else rows if label == 1 else -rows
            if (label_gradient < 0).all():
                continue
            what = "has the wrong sign, as if to maximise the loss" if (label_gradient > 0).all() else "is 0"
            if (label_gradient != 0).any() and not (label_gradient > 0).all():
                what = "differs in sign between rows"
            self.add_finding("sign", f"at margin 0 the gradient of rows of class {label} {what}")
            return

    def _check_gradient(self, gradient: Floats, value: Callable[[Classes, Floats], Floats] | None) -> None:
        if gradient.ndim == 2:
            sums = np.abs(gradient.sum(axis=1)).max() / max(np.abs(gradient).max(), np.finfo(float).tiny)
            if sums > TOLERANCE:
                message = f"the gradients of a row do not sum to 0, but to {sums:.2g} of the largest gradient"
                self.add_finding("sum over classes", message, "warning")
        if value is not None:
            self._check_against_value(gradient, value)
        elif gradient.ndim == 2:
            self._check_symmetry()

    def _check_against_value(self, gradient: Floats, value: Callable[[Classes, Floats], Floats]) -> None:
        """Compare the gradient with central differences of the value."""
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
        message = f"at {place} it is {found:.4g}, but the derivative of the value is {expected:.4g}"
        self.add_finding("gradient", message)

    def _check_symmetry(self) -> None:
        """Check that the derivative of gradient j by margin k equals that of gradient k by margin j."""
        slopes = np.empty((N_ROWS, self.n_classes, self.n_classes))
        step = 2.0**-6  # margins and gradients may be rounded to single precision
        for k in range(self.n_classes):
            shift = np.zeros_like(self.margin)
            shift[:, k] = step
            up, down = (self.compute_derivatives(self.y, self.margin + sign * shift)[0] for sign in (1.0, -1.0))
            slopes[:, :, k] = (up - down) / (2.0 * step)
        asymmetry = np.abs(slopes - slopes.transpose(0, 2, 1)).max()
        if asymmetry > 0.02 * np.abs(slopes).max():
            message = "its derivatives are not symmetric, so it is not the gradient of any loss"
            self.add_finding("gradient", message, "warning")

    def _check_hessian(self, hessian: Floats) -> None:
        if (hessian < 0).any():
            share = np.mean(hessian < 0)
            self.add_finding(
                "hessian", f"{share:.0%} of the hessians are negative, so steps increase the loss or explode"
            )
        elif not hessian.any():
            self.add_finding("hessian", "all hessians are 0, so no leaf is ever split")
        elif (hessian == 0).any():
            share = np.mean(hessian == 0)
            self.add_finding("hessian", f"{share:.0%} of the hessians are 0 at ordinary margins", "warning")

    def _check_extremes(self) -> None:
        """Check margins as large as boosters reach, and larger."""
        for size in EXTREME:
            margin = self.to_library_format(
                np.where(self.rng.random((N_ROWS, self.n_classes)) < 0.5, -size, size)
            )
            with np.errstate(over="ignore"):
                found = [part.astype(np.float32) for part in self.compute_derivatives(self.y, margin)]
            if not all(np.isfinite(part).all() for part in found):
                self.add_finding(
                    "extreme margins", f"a derivative is not finite in single precision at margins of {size:g}"
                )
                return


def _steps(margin: Floats) -> list[Floats]:
    """Steps of finite differences, one for each column of the margins."""
    if margin.ndim == 1:
        return [np.full_like(margin, STEP)]
    steps = []
    for k in range(margin.shape[1]):
        step = np.zeros_like(margin)
        step[:, k] = STEP
        steps.append(step)
    return steps


def _close(found: Floats, expected: Floats) -> bool:
    """Whether arrays agree up to rounding in single precision and the error of finite differences."""
    return bool(np.abs(found - expected).max() <= TOLERANCE * max(np.abs(expected).max(), 1e-12))
