"""Call an objective as XGBoost and LightGBM do, and record results that they could not read."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..losses.softmax import Classes, Floats
from .library_inputs import reshape_margins

Severity = Literal["error", "warning"]
Derivatives = tuple[Floats, Floats]


@dataclass(frozen=True)
class Finding:
    """One problem of an objective.

    Attributes
    ----------
    name : str
        Name of the check that found it; see `check_objective`.
    severity : {"error", "warning"}
        Whether training goes wrong, or may go wrong.
    message : str
    """

    name: str
    severity: Severity
    message: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.name}: {self.message}"


class UnreadableResult(Exception):
    """The result of an objective cannot be read; the reason is among the findings."""


class ObjectiveCaller:
    """Calls an objective with labels, margins and weights, as its library does.

    Attributes
    ----------
    findings : list of Finding
        The problems found so far.
    """

    def __init__(self, objective: Callable[..., Any], library: str, n_classes: int, native: bool) -> None:
        self.objective, self.library, self.n_classes, self.native = objective, library, n_classes, native
        self.order: Literal["C", "F"] = "C" if library == "xgboost" else "F"
        self.findings: list[Finding] = []

    def add_finding(self, name: str, message: str, severity: Severity = "error") -> None:
        """Record a problem."""
        self.findings.append(Finding(name, severity, message))

    def finding_names(self) -> list[str]:
        """Names of the problems found so far."""
        return [finding.name for finding in self.findings]

    def to_library_format(self, by_class: Floats) -> Floats:
        """Margins of shape (n, K) in the shape, type and order in which the library passes them."""
        margin = by_class[:, 1] if self.n_classes == 2 else by_class
        dtype = np.float32 if self.library == "xgboost" else np.float64
        return np.asarray(margin, dtype=dtype, order=self.order)

    def compute_derivatives(self, y: Classes, margin: Floats, weight: Any = None) -> Derivatives:
        """Call the objective; gradient and hessian in the shape of the margins."""
        labels, passed = y.astype(np.float32), margin.copy(order="K")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                result = self._call(labels, passed, weight)
        except Exception as error:
            self.add_finding("call", f"raises {type(error).__name__}: {error}")
            raise UnreadableResult from error
        if not (np.array_equal(labels, y) and np.array_equal(passed, margin, equal_nan=True)):
            self.add_finding("inputs", "modifies the labels or margins that it receives")
            raise UnreadableResult
        return self._read_result(result, margin)

    def _call(self, labels: Any, margin: Floats, weight: Any) -> Any:
        if self.native:
            return self.objective(margin, self._make_data_set(labels, weight))
        if weight is None:
            pass_none = self.library == "lightgbm" and len(inspect.signature(self.objective).parameters) > 2
            return self.objective(labels, margin, *([None] if pass_none else []))
        if self.library == "xgboost":
            return self.objective(labels, margin, sample_weight=weight)
        return self.objective(labels, margin, weight)

    def _make_data_set(self, labels: Any, weight: Any) -> Any:
        """The library's native data set, with one column of zeros."""
        column = np.zeros((labels.size, 1))
        if self.library == "xgboost":
            import xgboost

            return xgboost.DMatrix(column, label=labels, weight=weight)
        import lightgbm

        params = {"verbose": -1}
        return lightgbm.Dataset(column, label=labels, weight=weight, params=params).construct()

    def _read_result(self, result: Any, margin: Floats) -> Derivatives:
        """Gradient and hessian as the library reads them."""
        if not isinstance(result, tuple | list) or len(result) != 2:
            self.add_finding("result", f"must return a pair (gradient, hessian), got {type(result).__name__}")
            raise UnreadableResult
        for name, found in zip(("gradient", "hessian"), result, strict=True):
            if not isinstance(found, np.ndarray) or found.dtype.kind != "f":
                what = f"an array of {found.dtype}" if isinstance(found, np.ndarray) else type(found).__name__
                self.add_finding("result", f"the {name} must be an array of floats, got {what}")
                raise UnreadableResult
            flat = margin.ndim == 2 and found.shape == (margin.size,)
            if found.shape != margin.shape and not flat:
                message = f"the {name} must have the shape of the margins, {margin.shape}, got {found.shape}"
                self.add_finding("shape", message)
                raise UnreadableResult
        if (
            self.library == "xgboost"
            and result[0].shape != margin.shape
            and "shape" not in self.finding_names()
        ):
            message = f"returns flat arrays; XGBoost expects the shape of the margins, {margin.shape}"
            self.add_finding("shape", message, "warning")
        gradient, hessian = (
            reshape_margins(found, len(margin), self.order).astype(np.float64) for found in result
        )
        return gradient, hessian
