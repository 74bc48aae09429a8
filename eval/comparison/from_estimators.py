"""Estimators as a config describes them: where their class comes from, and what was set of its parameters."""

from __future__ import annotations

import inspect
import math
import sys
from typing import Any

import numpy as np

from ..errors import ConfigError
from ..models.allowed_parameters import THREADS
from ..models.criterion_names import criterion_name

# An evaluation lets CatBoost neither print nor write files, so these say nothing.
QUIET = frozenset({"verbose", "silent", "logging_level", "allow_writing_files"})

# What XGBoost's classifiers make of their parameter when they are fitted to more than two classes.
FITTED_OBJECTIVE = "multi:softprob"


def is_estimator(value: Any) -> bool:
    """Whether a value is an estimator with parameters, and no class of them."""
    return not isinstance(value, type) and hasattr(value, "get_params") and hasattr(value, "set_params")


def describe(estimator: Any, where: str) -> dict[str, Any]:
    """Module, class and parameters of an estimator, fitted or not, and of those in it.

    Parameters that have their defaults are left out, and so are numbers of threads, which a run gives.  Tuples
    become lists.

    Parameters
    ----------
    estimator : estimator
    where : str
        What errors call it, such as ``models[0]``.

    Returns
    -------
    dict
        As the value of ``models[0]`` in a config, without a name.

    Raises
    ------
    ConfigError
        If a parameter is nothing that JSON knows, or the class cannot be imported from elsewhere.
    """
    cls = type(estimator)
    module = _public_module(cls, where)
    unsaid = THREADS | QUIET if module == "catboost" else THREADS
    defaults = _defaults(cls)
    given = estimator.get_params(deep=False)
    if module == "xgboost" and given.get("objective") == FITTED_OBJECTIVE:
        del given["objective"]
    params = {
        name: plain(value, f"{where}.{name}")
        for name, value in given.items()
        if name not in unsaid and not (name in defaults and _is_same(value, defaults[name]))
    }
    return {"module": module, "model": cls.__name__, "params": params}


def plain(value: Any, where: str) -> Any:
    """A value as JSON knows it, with descriptions in place of estimators.

    Raises
    ------
    ConfigError
        If JSON knows no such value.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {str(key): plain(item, f"{where}.{key}") for key, item in value.items()}
    if is_estimator(value):
        return describe(value, where)
    criterion = criterion_name(value)
    if criterion is not None:
        return criterion
    raise ConfigError(f"{where}: {_why_not(value)}")


def _why_not(value: Any) -> str:
    """Why a value is nothing that JSON knows, and what may stand for it."""
    found = f"{value!r:.60}".replace("\n", " ")
    match value:
        case np.ndarray():
            return "an array cannot be written into a config; give a list"
        case dict():
            return f"the keys of {found} are not text, so it cannot be written into a config"
        case np.random.RandomState() | np.random.Generator():
            return (
                "a random generator cannot be written into a config; give a number, or None for the run's seed"
            )
        case type() if hasattr(value, "get_params"):
            return f"{value.__name__} is a class; give an object of it, {value.__name__}()"
    hint = "numbers, text, lists and estimators can"
    if type(value).__module__.startswith("boostnoise."):
        hint = "give the name of the loss, and its parameters as loss_params"
    return f"{found} cannot be written into a config; {hint}"


def _public_module(cls: type, where: str) -> str:
    """The shortest module without an underscore that has the class."""
    parts = cls.__module__.split(".")
    for n in range(1, len(parts) + 1):
        if parts[n - 1].startswith("_"):
            break
        module = ".".join(parts[:n])
        if getattr(sys.modules.get(module), cls.__name__, None) is cls:
            return module
    raise ConfigError(
        f"{where}: other processes cannot import the class {cls.__qualname__} from {cls.__module__}; "
        "put it into a module of its own, at its top level"
    )


def _defaults(cls: type) -> dict[str, Any]:
    """Defaults of the parameters; of boosters also of those that only a parent's signature names."""
    defaults: dict[str, Any] = {}
    for base in cls.__mro__[:-1]:
        for name, parameter in inspect.signature(base).parameters.items():
            defaults.setdefault(name, parameter.default)
    return defaults


def _is_same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    if isinstance(value, float) and isinstance(default, float) and math.isnan(value):
        return math.isnan(default)
    simple = isinstance(value, bool | int | float | str | tuple) and type(value) is type(default)
    return simple and bool(value == default)
