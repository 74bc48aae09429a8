"""The models: the way from a config's description to an estimator, and what the learners have to choose from.

A config is not trusted: only classes on a list are imported, and none gets a parameter by which it would read
or write files, open a port or take more threads.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from math import prod
from typing import Any

from ..errors import ConfigError, one_line, shown
from .allowed_classes import PACKAGES, check_classes
from .allowed_parameters import FORBIDDEN, KEYWORDS, THREADS, check_lightgbm_text
from .packages import described_classes, import_extras, is_description, packages_of

# The criterion that estimators of `robust_splits` know beside those that are objects.
ADAPTIVE = ("ane", "negative_exponential, with lam chosen on noisy labels")

MAX_CANDIDATES = 10_000  # of a search

# What a config cannot give: a distribution of scipy.stats.
NOT_IN_CONFIGS = frozenset({"distribution"})


def build(spec: Any, *, seed: int, threads: int, allowed: Collection[str] = ()) -> Any:
    """Estimator from its description.

    Parameters
    ----------
    spec : ModelSpec
    seed : int
        For every ``random_state``, of nested estimators too, that the description leaves open.
    threads : int
        Number of threads the estimator may use, whatever the description asks for.
    allowed : collection of str, default=()
        Packages whose classes may be built, besides the classes on the list.

    Returns
    -------
    classifier
        Not fitted.

    Raises
    ------
    ConfigError
        If the class is not to be had, not allowed or no classifier, or does not take the parameters.
    """
    from sklearn.base import is_classifier

    where = f"{spec.module}.{spec.model}"
    try:
        check_classes(described_classes(spec), allowed)
        import_extras(spec)
        estimator = _instantiate(spec.module, spec.model, spec.params, allowed)
        if not (is_classifier(estimator) and hasattr(estimator, "fit") and hasattr(estimator, "predict")):
            raise ConfigError(f"{where} is not a classifier")
        _govern(estimator, seed, threads)
        if "lightgbm" in packages_of(spec) or _has_lightgbm(estimator):
            check_lightgbm_text([spec.params, spec.search.params if spec.search else None], where)
        if spec.search is None:
            _check_variants(estimator)
        else:
            estimator = _with_search(estimator, spec.search, where, seed, threads, allowed)
    except ConfigError:
        raise
    except Exception as error:  # noqa: BLE001 - other people's constructors raise anything
        raise ConfigError(f"{where} cannot be built: {one_line(error)}") from None
    if "lightgbm" in sys.modules:
        # It would print through the progress bar.
        logger = logging.getLogger("boostnoise.eval.lightgbm")
        logger.setLevel(logging.CRITICAL)
        sys.modules["lightgbm"].register_logger(logger)
    return estimator


def variants(kind: str) -> dict[str, str]:
    """Names that a ``"criterion"`` or a ``"loss"`` may have in a config, with a line each."""
    if kind == "criterion":
        from robust_splits.criteria import ALIASES, CRITERIA

        also = {name: [alias for alias in ALIASES if ALIASES[alias] == name] for name in CRITERIA}
        lines = {
            name: _line(criterion) + (f" Also {', '.join(also[name])}." if also[name] else "")
            for name, criterion in CRITERIA.items()
        }
        name, line = ADAPTIVE
        return {name: f"{line}.", **lines}
    from boostnoise.losses.registry import LOSSES, needed_parameters

    return {
        name: _line(loss) + (f" Needs loss_params: {', '.join(needed)}." if needed else "")
        for name, loss in LOSSES.items()
        if name not in NOT_IN_CONFIGS
        for needed in [needed_parameters(name)]
    }


def variant_names(kind: str) -> list[str]:
    """All names of criteria or of losses, other names for the same among them."""
    names = list(variants(kind))
    if kind == "criterion":
        from robust_splits.criteria import ALIASES

        names += ALIASES
    return names


def check_variant(kind: str, name: str) -> None:
    """Raise a ValueError if there is no such criterion or loss."""
    if kind == "criterion":
        from robust_splits import get_criterion

        if name != ADAPTIVE[0]:
            get_criterion(name)
    elif name not in variants(kind):
        hint = "; parameters of a loss are given in params, as loss_params" if "(" in name else ""
        raise ValueError(f"loss {name!r} is unknown to configs; known are {', '.join(variants(kind))}{hint}")


def _line(described: type) -> str:
    """First line of a docstring, without markup and references."""
    line = (described.__doc__ or "").partition("\n")[0]
    return re.sub(r" \[\d+\]_|``| \([A-Z][a-z]+[^()]*\)", "", line)


def _govern(estimator: Any, seed: int, threads: int) -> None:
    """Give an estimator, and those in it, what a run decides: their seeds and threads."""
    parameters = estimator.get_params(deep=True)
    settings: dict[str, Any] = {}
    for name, value in parameters.items():
        *parents, parameter = name.split("__")
        if parameter == "random_state" and value is None:
            settings[name] = seed
        elif parameter in THREADS:
            above = ("__".join([*parents[:i], thread]) for i in range(len(parents)) for thread in THREADS)
            # Each thread of an outer estimator fits one of those in it.
            settings[name] = 1 if any(outer in parameters for outer in above) else threads
    estimator.set_params(**settings)


def _check_variants(estimator: Any) -> None:
    """Raise a ValueError or TypeError for a criterion or loss of our own learners that they would not fit."""
    for part in (estimator, *estimator.get_params(deep=True).values()):
        package = type(part).__module__.partition(".")[0]
        if package == "robust_splits" and hasattr(part, "criterion"):
            from robust_splits import get_criterion

            if part.criterion != ADAPTIVE[0]:
                get_criterion(part.criterion)
        elif package == "boostnoise" and hasattr(part, "loss_params"):
            from boostnoise.adaptation import build_loss

            build_loss(part)


def _estimators_in(value: Any) -> Iterator[Any]:
    """Estimators in lists and objects, but not those within others."""
    if hasattr(value, "get_params"):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _estimators_in(item)


def _has_lightgbm(estimator: Any) -> bool:
    parts = (estimator, *estimator.get_params(deep=True).values())
    return any(base.__module__.partition(".")[0] == "lightgbm" for part in parts for base in type(part).__mro__)


def _with_search(
    estimator: Any, search: Any, where: str, seed: int, threads: int, allowed: Collection[str]
) -> Any:
    """An estimator that searches, whose candidates can all be built."""
    from sklearn.base import clone
    from sklearn.model_selection import ParameterGrid

    from .search import Splits, searching

    candidates = _build_value(search.params, where, allowed)
    parts = estimator.get_params(deep=True)
    for name, values in candidates.items():
        path, _, parameter = name.rpartition("__")
        owner = parts.get(path) if path else estimator
        if parameter in THREADS or not hasattr(owner, "get_params"):
            why = "threads are given by the run" if parameter in THREADS else f"{where} has no such parameter"
            raise ConfigError(f"search.params: {name!r} cannot be searched for: {why}")
        _check_keywords(type(owner), [parameter], where)
        for value in values:
            for part in _estimators_in(value):
                _govern(part, seed, threads)
            try:
                clone(estimator).set_params(**{name: value})
            except Exception as error:  # noqa: BLE001 - as in build
                where = f"search.params: {name!r} cannot be {shown(value)}"
                raise ConfigError(f"{where}: {one_line(error)}") from None
    variant = ("criterion", "loss", "loss_params")
    varied = {name: candidates[name] for name in candidates if name.endswith(variant)}
    if prod(map(len, varied.values())) > MAX_CANDIDATES:
        raise ConfigError(f"search.params: criteria and losses have more than {MAX_CANDIDATES} combinations")
    for candidate in ParameterGrid(varied):
        _check_variants(clone(estimator).set_params(**candidate))
    draws = search.n_candidates if search.draws is not None else None
    splits = Splits(search.folds, search.holdout, seed)
    return searching(estimator, candidates, splits, draws=draws, metric=search.metric)


def _instantiate(module: Any, model: Any, params: Any, allowed: Collection[str]) -> Any:
    from sklearn.base import BaseEstimator

    where = f"{module}.{model}"
    if not isinstance(params, dict):
        raise ConfigError(f"params of {where} must be an object, got {params!r}")
    cls = _import_class(module, model, allowed)
    if not (isinstance(cls, type) and issubclass(cls, BaseEstimator)):
        raise ConfigError(f"{where} is not a scikit-learn estimator")
    if cls.__module__.partition(".")[0] not in PACKAGES.union(allowed):
        raise ConfigError(f"{where} is defined in {cls.__module__}, which is not allowed")
    arguments = _build_value(params, where, allowed)
    known = inspect.signature(cls).parameters
    if "base_estimator" in arguments and "base_estimator" not in known and "estimator" in known:
        arguments["estimator"] = arguments.pop("base_estimator")  # its name before scikit-learn 1.2
    _check_keywords(cls, arguments, where)
    try:
        return cls(**arguments)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where} does not take these parameters: {one_line(error)}") from None


def _check_keywords(cls: type, arguments: Iterable[str], where: str) -> None:
    """Refuse what a booster would take without a word, though it has no such parameter."""
    if cls.__module__.partition(".")[0] not in ("xgboost", "lightgbm", "boostnoise"):
        return
    named = {name for base in cls.__mro__ for name in inspect.signature(base).parameters}
    known = (named | KEYWORDS) - {"self", "args", "kwargs"}
    for name in arguments:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ConfigError(f"{where} has no parameter {name!r}, or none that a config may set{hint}")


def _build_value(value: Any, where: str, allowed: Collection[str]) -> Any:
    if is_description(value):
        return _instantiate(value["module"], value["model"], value.get("params", {}), allowed)
    if isinstance(value, list):
        return [_build_value(item, where, allowed) for item in value]
    if isinstance(value, dict):
        for key in value:
            if key.rpartition("__")[2] in FORBIDDEN:
                raise ConfigError(f"{where}: parameter {key!r} is not allowed, it reaches beyond the process")
        return {key: _build_value(item, where, allowed) for key, item in value.items()}
    return value


def _import_class(module: Any, model: Any, allowed: Collection[str]) -> Any:
    check_classes([(module, model)], allowed)
    if (module, model) == ("catboost", "CatBoostClassifier"):
        from .catboost_classifier import CatBoostClassifier

        return CatBoostClassifier
    try:
        return getattr(importlib.import_module(module), model)
    except ImportError as error:
        raise ConfigError(f"module {module!r} cannot be imported: {one_line(error)}") from None
    except AttributeError:
        raise ConfigError(f"module {module!r} has no class {model!r}") from None
