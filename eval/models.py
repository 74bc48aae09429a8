"""The models: short names, and the way from a config's description to an estimator.

A config is not trusted: only classes of allowed packages are built, only scikit-learn estimators, and no
parameter that makes one of them read or write files.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from .errors import ConfigError

ALLOWED_PACKAGES = frozenset({"sklearn", "xgboost", "lightgbm", "catboost", "robust_splits", "boostnoise"})

# Parameters by which an estimator of these packages reads or writes files; `memory` caches pickles.
FILE_PARAMETERS = frozenset(
    {
        "allow_writing_files",
        "cegb_penalty_feature_lazy_file",
        "convert_model",
        "data",
        "forcedbins_filename",
        "forcedsplits_filename",
        "init_model",
        "input_model",
        "machine_list_filename",
        "memory",
        "model_in",
        "model_out",
        "output_model",
        "output_result",
        "parser_config_file",
        "save_binary",
        "save_snapshot",
        "snapshot_file",
        "train_dir",
        "xgb_model",
    }
)

# The package on the index that installs an import package, where the names differ.
DISTRIBUTIONS = {"sklearn": "scikit-learn", "robust_splits": "boostnoise"}


@dataclass(frozen=True)
class ShortName:
    """What a short name stands for."""

    module: str
    model: str
    description: str
    params: tuple[tuple[str, Any], ...] = ()

    @property
    def spec(self) -> dict[str, Any]:
        """The long form of a config."""
        return {"module": self.module, "model": self.model, "params": dict(self.params)}


SHORT_NAMES = {
    "adaboost": ShortName("sklearn.ensemble", "AdaBoostClassifier", "AdaBoost over stumps"),
    "gbm": ShortName("sklearn.ensemble", "GradientBoostingClassifier", "gradient boosting"),
    "hist_gbm": ShortName("sklearn.ensemble", "HistGradientBoostingClassifier", "histogram gradient boosting"),
    "xgboost": ShortName("xgboost", "XGBClassifier", "XGBoost"),
    "lightgbm": ShortName("lightgbm", "LGBMClassifier", "LightGBM"),
    "random_forest": ShortName("sklearn.ensemble", "RandomForestClassifier", "random forest"),
    "extra_trees": ShortName("sklearn.ensemble", "ExtraTreesClassifier", "extremely randomised trees"),
    "robust_tree": ShortName(
        "robust_splits", "RobustDecisionTreeClassifier", "tree, negative exponential splits"
    ),
    "robust_forest": ShortName(
        "robust_splits", "RobustForestClassifier", "forest, negative exponential splits"
    ),
    "robust_xgboost": ShortName("boostnoise", "RobustXGBClassifier", "XGBoost, generalised cross entropy"),
    "robust_lightgbm": ShortName("boostnoise", "RobustLGBMClassifier", "LightGBM, generalised cross entropy"),
}


def build(spec: Any, *, seed: int, threads: int, allowed: Collection[str] = ALLOWED_PACKAGES) -> Any:
    """Estimator from its description.

    Parameters
    ----------
    spec : ModelSpec
    seed : int
        For every ``random_state``, of nested estimators too, that the description leaves open.
    threads : int
        Number of threads the estimator may use, whatever the description asks for.
    allowed : collection of str
        Packages whose classes may be built.

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

    estimator = _instantiate(spec.module, spec.model, spec.params, allowed)
    if not (is_classifier(estimator) and hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise ConfigError(f"{spec.module}.{spec.model} is not a classifier")
    settings: dict[str, Any] = {}
    for name, value in estimator.get_params(deep=True).items():
        parameter = name.rpartition("__")[2]
        if parameter == "random_state" and value is None:
            settings[name] = seed
        elif parameter in ("n_jobs", "thread_count", "nthread"):
            settings[name] = threads
    estimator.set_params(**settings)
    if "lightgbm" in sys.modules:
        # It would print through the progress bar.
        logger = logging.getLogger("boostnoise.eval.lightgbm")
        logger.setLevel(logging.ERROR)
        sys.modules["lightgbm"].register_logger(logger)
    return estimator


def packages_of(spec: Any) -> list[str]:
    """Import packages that a description names, of nested estimators too."""
    modules = [spec.module, *(nested["module"] for nested in _nested(spec.params))]
    return sorted({module.partition(".")[0] for module in modules})


def version_of(package: str) -> str:
    """Installed version of an import package; empty for a module that no distribution brought."""
    try:
        return metadata.version(DISTRIBUTIONS.get(package, package))
    except metadata.PackageNotFoundError:
        return ""


def _is_description(value: Any) -> bool:
    return isinstance(value, dict) and {"module", "model"} <= set(value) <= {
        "name",
        "module",
        "model",
        "params",
    }


def _nested(value: Any) -> Iterator[dict[str, Any]]:
    """All descriptions of estimators within the parameters of one."""
    if _is_description(value):
        yield value
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _nested(item)


def _instantiate(module: Any, model: Any, params: Any, allowed: Collection[str]) -> Any:
    from sklearn.base import BaseEstimator

    where = f"{module}.{model}"
    if not isinstance(params, dict):
        raise ConfigError(f"params of {where} must be an object, got {params!r}")
    cls = _import_class(module, model, allowed)
    if not (isinstance(cls, type) and issubclass(cls, BaseEstimator)):
        raise ConfigError(f"{where} is not a scikit-learn estimator")
    if cls.__module__.partition(".")[0] not in allowed:
        raise ConfigError(f"{where} is defined in {cls.__module__}, which is not allowed")
    arguments = {}
    for name, value in params.items():
        if name.rpartition("__")[2] in FILE_PARAMETERS:
            raise ConfigError(f"{where}: parameter {name!r} reads or writes files and is not allowed")
        arguments[name] = _build_value(value, allowed)
    known = inspect.signature(cls).parameters
    if "base_estimator" in arguments and "base_estimator" not in known and "estimator" in known:
        arguments["estimator"] = arguments.pop("base_estimator")  # its name before scikit-learn 1.2
    try:
        return cls(**arguments)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where} does not take these parameters: {error}") from None


def _build_value(value: Any, allowed: Collection[str]) -> Any:
    if _is_description(value):
        return _instantiate(value["module"], value["model"], value.get("params", {}), allowed)
    if isinstance(value, list):
        return [_build_value(item, allowed) for item in value]
    if isinstance(value, dict):
        return {key: _build_value(item, allowed) for key, item in value.items()}
    return value


def _import_class(module: Any, model: Any, allowed: Collection[str]) -> Any:
    if not isinstance(module, str) or not isinstance(model, str):
        raise ConfigError(f"module and model must be strings, got {module!r} and {model!r}")
    package = module.partition(".")[0]
    if package not in allowed:
        raise ConfigError(
            f"package {package!r} is not allowed; allowed are {', '.join(sorted(allowed))}, "
            f"and any package given by --allow-module NAME"
        )
    if model.startswith("_"):
        raise ConfigError(f"{model!r} is not a public class")
    try:
        return getattr(importlib.import_module(module), model)
    except ModuleNotFoundError as error:
        raise ConfigError(f"module {module!r} cannot be imported: {error}") from None
    except AttributeError:
        raise ConfigError(f"module {module!r} has no class {model!r}") from None
