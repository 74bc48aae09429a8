"""Describe estimators for a config: module, class and non-default parameters."""

from __future__ import annotations

import inspect
import math
import sys
from typing import Any

import numpy as np

from ..errors import ConfigError
from ..extensions import own_objects
from ..models.allowed_classes import TOOLS, with_canonical_modules
from ..models.allowed_parameters import THREADS
from ..models.variants import criterion_name

# Ignored: an evaluation never lets CatBoost print or write files.
QUIET = frozenset({"verbose", "silent", "logging_level", "allow_writing_files"})

# Stands for the module of a class that other processes cannot import.
OWN_MODULE = "own"

# XGBoost sets this objective when it is fitted to more than two classes.
FITTED_OBJECTIVE = "multi:softprob"


def is_estimator(value: Any) -> bool:
    """Whether a value is an estimator, and not a class."""
    return not isinstance(value, type) and hasattr(value, "get_params") and hasattr(value, "set_params")


def describe(estimator: Any, context: str) -> dict[str, Any]:
    """Describe an estimator, fitted or not, and its nested estimators by module, class and parameters.

    Parameters with default values and numbers of threads, which a run sets, are left out.  Tuples become lists.

    Parameters
    ----------
    estimator : estimator
    context : str
        How error messages refer to it, such as ``models[0]``.

    Returns
    -------
    dict
        A model of a config, without a name.

    Raises
    ------
    ConfigError
        If a parameter cannot be written into a config, or the class cannot be sent to other processes.
    """
    cls = type(estimator)
    module = _public_module(cls)
    own = {} if module is not None else {"hash": own_objects.register(cls, context)["hash"]}
    omitted = THREADS | QUIET if module == "catboost" else THREADS
    defaults = _defaults(cls)
    if module in ("tabicl", "tabpfn"):
        del defaults["random_state"]  # a number, but without one a model gets the run's
    current = estimator.get_params(deep=False)
    if module == "xgboost" and current.get("objective") == FITTED_OBJECTIVE:
        del current["objective"]
    params = {
        name: plain(value, f"{context}.{name}")
        for name, value in current.items()
        if name not in omitted and not (name in defaults and _is_same(value, defaults[name]))
    }
    described = {"module": module or OWN_MODULE, "model": cls.__name__, "params": params, **own}
    return dict(with_canonical_modules(described))


def plain(value: Any, context: str) -> Any:
    """Convert a value to JSON types, with descriptions in place of estimators.

    Other objects, such as losses, are registered, and references take their place; see `own_objects`.

    Raises
    ------
    ConfigError
        If the value cannot be written into a config.
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
        return [plain(item, f"{context}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {str(key): plain(item, f"{context}.{key}") for key, item in value.items()}
    if is_estimator(value):
        return describe(value, context)
    tool = _describe_tool(value)
    if tool is not None:
        return tool
    criterion = criterion_name(value)
    if criterion is not None:
        return criterion
    module = _public_module(value) if inspect.isfunction(value) else None
    if module is not None:
        return {"module": module, "model": value.__name__, "params": {}}
    problem = _problem(value)
    if problem is not None:
        raise ConfigError(f"{context}: {problem}")
    return own_objects.register(value, context)


def _describe_tool(value: Any) -> dict[str, Any] | None:
    """Description of a selector of columns or a function of `TOOLS`; None for other values."""
    is_function = inspect.isfunction(value) or isinstance(value, np.ufunc)
    tool: object = value if is_function else type(value)
    tool_name = value.__name__ if is_function else type(value).__name__
    for module, names in TOOLS.items():
        if tool_name in names and getattr(sys.modules.get(module), tool_name, None) is tool:
            settings = {} if is_function else vars(value)
            params = {name: _type_names(setting) for name, setting in settings.items() if setting}
            return {"module": module, "model": tool_name, "params": params}
    return None


def _type_names(value: Any) -> Any:
    """Names of the types that a selector of columns selects; text unchanged."""
    if isinstance(value, list | tuple):
        return [_type_names(item) for item in value]
    return value.__name__ if isinstance(value, type) else str(value)


def _problem(value: Any) -> str | None:
    """Explain what to use in place of a value; None if it can be sent to other processes as it is."""
    match value:
        case np.ndarray():
            return "an array cannot be written into a config; use a list"
        case dict():
            return "a dict whose keys are not text cannot be written into a config"
        case np.random.RandomState() | np.random.Generator():
            return (
                "a random generator cannot be written into a config; use a number, or None for the run's seed"
            )
        case type() if hasattr(value, "get_params"):
            return f"{value.__name__} is a class; use an instance, {value.__name__}()"
        case float():
            return f"{value} is not a finite number"
    return None


def _public_module(cls: Any) -> str | None:
    """The shortest public module path that exports a class or a function; None if other processes have none."""
    parts = cls.__module__.split(".")
    for n in range(1, len(parts) + 1):
        if parts[n - 1].startswith("_"):
            break
        module = ".".join(parts[:n])
        if getattr(sys.modules.get(module), cls.__name__, None) is cls:
            return module
    return None


def _defaults(cls: type) -> dict[str, Any]:
    """Default parameters, including those that only a parent class names, as in boosters."""
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
