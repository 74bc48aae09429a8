"""Helpers of both classifiers: checks before a fit, parameters set during a fit, and representation."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from robust_splits.label_noise.folds import check_folds

from .auto_parameters import resolve_folds
from .loss_parameters import build_loss
from .passes import check_passes

OWN_PARAMETERS = ("loss", "loss_params", "hessian", "passes", "cv")  # unknown to both libraries


@contextmanager
def temporarily_set(estimator: Any, **values: Any) -> Iterator[None]:
    """Set parameters of an estimator within a ``with`` block."""
    before = {name: getattr(estimator, name) for name in values}
    other = getattr(estimator, "_other_params", None)  # LightGBM's copy of parameters that were set later
    try:
        for name, value in values.items():
            setattr(estimator, name, value)
        if other is not None:
            estimator._other_params = {**other, **{name: values[name] for name in values if name in other}}
        yield
    finally:
        for name, value in before.items():
            setattr(estimator, name, value)
        if other is not None:
            estimator._other_params = other


def check_fit(estimator: Any, parent: Any, fit_params: Collection[str]) -> None:
    """Raise errors of parameters, and of arguments of `fit`, before anything is fitted.

    Raises
    ------
    TypeError
        If `fit` of the library does not know an argument, or if a parameter has the wrong type.
    ValueError
        If a parameter is invalid.
    """
    check_passes(estimator.passes)
    check_folds(resolve_folds(estimator.cv))
    known = inspect.signature(parent.fit).parameters
    unknown = [name for name in fit_params if name not in known]
    if unknown:
        raise TypeError(
            f"fit got an unexpected keyword argument {unknown[0]!r}; parameters of the booster belong in the "
            "constructor"
        )
    estimator._check_parameters()
    build_loss(estimator)


def refuse_arguments(arguments: dict[str, Any]) -> None:
    """Raise a TypeError if `fit` got one of these arguments, which Dask collections cannot be combined with."""
    for name, value in arguments.items():
        if value is not None:
            raise TypeError(f"{name} of fit is not supported with Dask collections")


def format_estimator(estimator: Any) -> str:
    """Representation of an estimator: its loss, and the parameters that differ from their defaults.

    scikit-learn's own would omit the default loss.
    """
    parameters = estimator.get_params(deep=False)
    defaults = type(estimator)().get_params(deep=False)
    shown = {"loss": parameters.pop("loss")}
    for name, value in sorted(parameters.items()):
        default = defaults.get(name)
        if value is not default and repr(value) != repr(default):
            shown[name] = value
    return f"{type(estimator).__name__}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"
