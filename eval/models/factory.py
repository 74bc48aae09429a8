"""Build estimators from their descriptions in a config.

Configs are untrusted.  Only allowed classes are imported, parameters that access files or the network are
rejected, and the run sets the number of threads.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import sys
from collections.abc import Collection, Iterable, Iterator
from math import prod
from typing import Any

from ..errors import ConfigError, one_line, shown, suggest
from ..extensions import own_objects
from .allowed_classes import PACKAGES, check_classes, is_plugin, is_tool
from .allowed_parameters import FORBIDDEN, KEYWORDS, THREADS, check_lightgbm_text
from .own_modules import hint_at_own_module, share_with_joblib
from .packages import import_extras, is_description
from .resolved_model import ResolvedModel
from .variants import check_criterion

MAX_CANDIDATES = 10_000  # of a search
# Classes that are built with fewer parameters, by this package's module MODULE_classifier.
WRAPPED = {("catboost", "CatBoostClassifier"), ("tabicl", "TabICLClassifier"), ("tabpfn", "TabPFNClassifier")}


def build(model: ResolvedModel, *, seed: int, threads: int) -> Any:
    """Build the estimator of a model.

    Parameters
    ----------
    model : ResolvedModel
    seed : int
        Value of each ``random_state`` that the description does not set, also in nested estimators.
    threads : int
        Number of threads; overrides the description.

    Returns
    -------
    classifier
        Unfitted.

    Raises
    ------
    ConfigError
        If the class is not available or not a classifier, or does not accept the parameters.
    """
    from sklearn.base import is_classifier

    spec, allowed = model.spec, model.allowed
    context = f"{spec.module}.{spec.model}"
    try:
        import_extras(model.packages)
        estimator = _instantiate(spec.model_dump(include={"module", "model", "params", "hash"}), allowed)
        if not (is_classifier(estimator) and hasattr(estimator, "fit") and hasattr(estimator, "predict")):
            raise ConfigError(f"{context} is not a classifier")
        _set_seeds_and_threads(estimator, seed, threads)
        if "lightgbm" in model.packages or _has_lightgbm(estimator):
            check_lightgbm_text({"module": spec.module, "model": spec.model, "params": spec.params}, context)
            check_lightgbm_text(spec.search.params if spec.search else None, context)
        if spec.search is None:
            _check_own_parameters(estimator)
            if spec.early_stopping is not None:
                estimator = _add_early_stopping(estimator, spec.early_stopping, context, seed)
        else:
            estimator = _add_search(estimator, spec.search, context, seed, threads, allowed)
    except ConfigError:
        raise
    except Exception as error:  # noqa: BLE001 - constructors of other packages may raise anything
        raise ConfigError(f"{context} cannot be built: {one_line(error)}") from None
    if "lightgbm" in sys.modules:
        # Its messages would break the progress bar.
        logger = logging.getLogger("boostnoise.eval.lightgbm")
        logger.setLevel(logging.CRITICAL)
        sys.modules["lightgbm"].register_logger(logger)
    return estimator


def _set_seeds_and_threads(estimator: Any, seed: int, threads: int) -> None:
    """Set seeds and thread counts on an estimator and its nested estimators."""
    parameters = estimator.get_params(deep=True)
    settings: dict[str, Any] = {}
    for name, value in parameters.items():
        *parents, parameter = name.split("__")
        if parameter == "random_state" and value is None:
            settings[name] = seed
        elif parameter in THREADS:
            outer = ("__".join([*parents[:i], thread]) for i in range(len(parents)) for thread in THREADS)
            # An outer estimator with threads fits one nested estimator per thread.
            settings[name] = 1 if any(thread in parameters for thread in outer) else threads
    estimator.set_params(**settings)


def _check_own_parameters(estimator: Any) -> None:
    """Raise a ValueError or TypeError for invalid parameters of this project's estimators."""
    for part in (estimator, *estimator.get_params(deep=True).values()):
        package = type(part).__module__.partition(".")[0]
        if package == "robust_splits" and hasattr(part, "criterion"):
            check_criterion(part.criterion)
        elif package == "boostnoise" and hasattr(part, "loss_params"):
            from boostnoise.boosting.loss_parameters import build_loss

            build_loss(part)
        elif package == "boostnoise" and hasattr(part, "check_parameters"):
            part.check_parameters()


def _estimators_in(value: Any) -> Iterator[Any]:
    """Estimators in lists and dicts, without those nested in other estimators."""
    if hasattr(value, "get_params"):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _estimators_in(item)


def _has_lightgbm(estimator: Any) -> bool:
    parts = (estimator, *estimator.get_params(deep=True).values())
    return any(base.__module__.partition(".")[0] == "lightgbm" for part in parts for base in type(part).__mro__)


def _add_early_stopping(estimator: Any, settings: Any, context: str, seed: int) -> Any:
    from .early_stopping import BOOSTERS, EarlyStoppingClassifier, stops_early

    if not stops_early(estimator):
        raise ConfigError(
            f"{context} cannot stop early; allowed: {', '.join(BOOSTERS)}, and classes based on them"
        )
    return EarlyStoppingClassifier(
        estimator, holdout=settings.holdout, rounds=settings.rounds, random_state=seed
    )


def _add_search(
    estimator: Any, search: Any, context: str, seed: int, threads: int, allowed: Collection[str]
) -> Any:
    """Wrap an estimator in a search after checking that every candidate can be built."""
    from sklearn.base import clone
    from sklearn.model_selection import ParameterGrid

    from boostnoise.ensemble.robust_classifier import RobustClassifier

    from .search import SearchSplitter, make_search

    if isinstance(estimator, RobustClassifier):
        raise ConfigError(
            f"{context} takes no search: it would be scored on noisy labels, which favour models that fit noise"
        )
    candidates = _build_value(search.params, context, allowed)
    parts = estimator.get_params(deep=True)
    for name, values in candidates.items():
        path, _, parameter = name.rpartition("__")
        owner = parts.get(path) if path else estimator
        if parameter in THREADS or not hasattr(owner, "get_params"):
            reason = "the run sets it" if parameter in THREADS else f"{context} has no such parameter"
            raise ConfigError(f"search.params: {name!r} cannot be searched: {reason}")
        _check_keywords(type(owner), [parameter], context)
        for value in values:
            for part in _estimators_in(value):
                _set_seeds_and_threads(part, seed, threads)
            try:
                clone(estimator).set_params(**{name: value})
            except Exception as error:  # noqa: BLE001 - as in build
                problem = f"search.params: {name!r} cannot have the value {shown(value)}"
                raise ConfigError(f"{problem}: {one_line(error)}") from None
    variant_keys = ("criterion", "loss", "loss_params")
    variant_grid = {name: candidates[name] for name in candidates if name.endswith(variant_keys)}
    n_variants = prod(map(len, variant_grid.values()))
    if n_variants > MAX_CANDIDATES:
        raise ConfigError(
            f"search.params: criteria and losses have {n_variants} combinations, more than {MAX_CANDIDATES}"
        )
    for candidate in ParameterGrid(variant_grid):
        _check_own_parameters(clone(estimator).set_params(**candidate))
    draws = search.n_candidates if search.draws is not None else None
    splitter = SearchSplitter(search.folds, search.holdout, seed)
    return make_search(estimator, candidates, splitter, draws=draws, metric=search.metric)


def _instantiate(description: dict[str, Any], allowed: Collection[str]) -> Any:
    from sklearn.base import BaseEstimator

    module, model, params = description["module"], description["model"], description.get("params", {})
    context = f"{module}.{model}"
    if not isinstance(params, dict):
        raise ConfigError(f"{context}: params must be an object, got {params!r}")
    is_own = description.get("hash") is not None
    cls = (
        own_objects.resolve({"object": model, **description})
        if is_own
        else import_class(module, model, allowed)
    )
    if is_tool(module, model) or (inspect.isfunction(cls) and cls.__module__.partition(".")[0] in allowed):
        return _make_tool(cls, params, context)
    if not (isinstance(cls, type) and issubclass(cls, BaseEstimator)):
        raise ConfigError(f"{context} is not a scikit-learn estimator")
    is_trusted = is_own or is_plugin(module, model)
    if not is_trusted and cls.__module__.partition(".")[0] not in PACKAGES.union(allowed):
        raise ConfigError(f"{context} is defined in {cls.__module__}, which is not allowed")
    arguments = _build_value(params, context, allowed)
    known = inspect.signature(cls).parameters
    for name, value in arguments.items():
        if isinstance(value, list) and name in known and isinstance(known[name].default, tuple):
            arguments[name] = tuple(value)  # which JSON lacks
    if "base_estimator" in arguments and "base_estimator" not in known and "estimator" in known:
        arguments["estimator"] = arguments.pop("base_estimator")  # its name before scikit-learn 1.2
    _check_keywords(cls, arguments, context)
    try:
        return cls(**arguments)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{context} does not take these parameters: {one_line(error)}") from None


def _make_tool(tool: Any, params: dict[str, Any], context: str) -> Any:
    """Selector of columns, or a function."""
    if not isinstance(tool, type):
        if params:
            raise ConfigError(f"{context} is a function, which takes no params, got {shown(params)}")
        return tool
    try:
        return tool(**params)
    except TypeError as error:
        raise ConfigError(f"{context} does not take these parameters: {one_line(error)}") from None


def _check_keywords(cls: type, arguments: Iterable[str], context: str) -> None:
    """Reject unknown parameters, which the boosters would silently accept."""
    if cls.__module__.partition(".")[0] not in ("xgboost", "lightgbm", "boostnoise"):
        return
    named = {name for base in cls.__mro__ for name in inspect.signature(base).parameters}
    known = (named | KEYWORDS) - {"self", "args", "kwargs"}
    for name in arguments:
        if name not in known:
            raise ConfigError(
                f"{context} has no parameter {name!r} that a config may set{suggest(name, known)}"
            )


def _build_value(value: Any, context: str, allowed: Collection[str]) -> Any:
    if is_description(value):
        return _instantiate(value, allowed)
    if own_objects.is_reference(value):
        return own_objects.resolve(value)
    if isinstance(value, list):
        return [_build_value(item, context, allowed) for item in value]
    if isinstance(value, dict):
        for key in value:
            if key.rpartition("__")[2] in FORBIDDEN:
                raise ConfigError(
                    f"{context}: parameter {key!r} is not allowed; it may access files or the network"
                )
        return {key: _build_value(item, context, allowed) for key, item in value.items()}
    return value


def import_class(module: Any, model: Any, allowed: Collection[str]) -> Any:
    """Import a class that a config may name.

    Raises
    ------
    ConfigError
        If it may not, or cannot be imported.
    """
    check_classes([(module, model)], allowed)
    if (module, model) in WRAPPED:
        return getattr(importlib.import_module(f".{module}_classifier", __package__), model)
    try:
        imported = importlib.import_module(module)
    except ImportError as error:
        reason = f"{one_line(error)}{hint_at_own_module(error)}"
        raise ConfigError(f"module {module!r} cannot be imported: {reason}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the code of a module may raise anything
        reason = f"{type(error).__name__}: {one_line(error)}"
        raise ConfigError(f"module {module!r} cannot be imported: {reason}") from None
    share_with_joblib()
    try:
        return getattr(imported, model)
    except AttributeError:
        raise ConfigError(f"module {module!r} has no class {model!r}") from None
