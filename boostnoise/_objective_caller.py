"""Calls an objective as XGBoost and LightGBM call it, and notes where what it returns cannot be read."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ._library_inputs import by_class
from .losses.softmax import Classes, Floats

Severity = Literal["error", "warning"]
Pair = tuple[Floats, Floats]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with an objective.

    Attributes
    ----------
    name : str
        Which check found it; see `check_objective`.
    severity : {"error", "warning"}
        Whether training goes wrong, or may.
    message : str
    """

    name: str
    severity: Severity
    message: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.name}: {self.message}"


class WrongResult(Exception):
    """What an objective returned cannot be read; the finding is noted."""


class Caller:
    """Calls an objective with labels, margins and weights, as its library does.

    Attributes
    ----------
    findings : list of Finding
        What was wrong so far.
    """

    def __init__(self, objective: Callable[..., Any], library: str, n_classes: int, native: bool) -> None:
        self.objective, self.library, self.n_classes, self.native = objective, library, n_classes, native
        self.order: Literal["C", "F"] = "C" if library == "xgboost" else "F"
        self.findings: list[Finding] = []

    def note(self, name: str, message: str, severity: Severity = "error") -> None:
        """Note that something is wrong."""
        self.findings.append(Finding(name, severity, message))

    def names(self) -> list[str]:
        """Names of the findings so far."""
        return [finding.name for finding in self.findings]

    def as_given(self, by_class_: Floats) -> Floats:
        """Margins in the shape, type and order in which the library hands them over."""
        margin = by_class_[:, 1] if self.n_classes == 2 else by_class_
        kind = np.float32 if self.library == "xgboost" else np.float64
        return np.asarray(margin, dtype=kind, order=self.order)

    def derivatives(self, y: Classes, margin: Floats, weight: Any = None) -> Pair:
        """Gradient and hessian in the shape of the margins."""
        labels, given = y.astype(np.float32), margin.copy(order="K")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                result = self._call(labels, given, weight)
        except Exception as error:
            self.note("call", f"raises {type(error).__name__}: {error}")
            raise WrongResult from error
        if not (np.array_equal(labels, y) and np.array_equal(given, margin, equal_nan=True)):
            self.note("inputs", "the labels or margins that it is given are changed")
            raise WrongResult
        return self._read(result, margin)

    def _call(self, labels: Any, margin: Floats, weight: Any) -> Any:
        if self.native:
            return self.objective(margin, self._data(labels, weight))
        if weight is None:
            several = self.library == "lightgbm" and len(inspect.signature(self.objective).parameters) > 2
            return self.objective(labels, margin, *([None] if several else []))
        if self.library == "xgboost":
            return self.objective(labels, margin, sample_weight=weight)
        return self.objective(labels, margin, weight)

    def _data(self, labels: Any, weight: Any) -> Any:
        """The library's own data set, with a column of zeros."""
        column = np.zeros((labels.size, 1))
        if self.library == "xgboost":
            import xgboost

            return xgboost.DMatrix(column, label=labels, weight=weight)
        import lightgbm

        params = {"verbose": -1}
        return lightgbm.Dataset(column, label=labels, weight=weight, params=params).construct()

    def _read(self, result: Any, margin: Floats) -> Pair:
        """Gradient and hessian as the library reads them."""
        if not isinstance(result, tuple | list) or len(result) != 2:
            self.note("result", f"returns no pair of gradient and hessian, but {type(result).__name__}")
            raise WrongResult
        for name, found in zip(("gradient", "hessian"), result, strict=True):
            if not isinstance(found, np.ndarray) or found.dtype.kind != "f":
                kind = f"an array of {found.dtype}" if isinstance(found, np.ndarray) else type(found).__name__
                self.note("result", f"the {name} is no array of floats, but {kind}")
                raise WrongResult
            flat = margin.ndim == 2 and found.shape == (margin.size,)
            if found.shape != margin.shape and not flat:
                self.note("shape", f"the {name} has the shape {found.shape}, the margins have {margin.shape}")
                raise WrongResult
        if self.library == "xgboost" and result[0].shape != margin.shape and "shape" not in self.names():
            self.note("shape", f"is flat; XGBoost wants the shape of the margins, {margin.shape}", "warning")
        gradient, hessian = (by_class(found, len(margin), self.order).astype(np.float64) for found in result)
        return gradient, hessian
