"""The models: short names, and the way from a config's description to an estimator.

A config is not trusted: only public classes of allowed packages are built, only scikit-learn estimators, and
with no parameter by which one of them would read or write files, open a port or take more threads.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import logging
import sys
from collections.abc import Collection, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from .errors import ConfigError, one_line

ALLOWED_PACKAGES = frozenset({"sklearn", "xgboost", "lightgbm", "robust_splits", "boostnoise"})

# What a short name stands for: a module and a class.
SHORT_NAMES = {
    "adaboost": ("sklearn.ensemble", "AdaBoostClassifier"),
    "gbm": ("sklearn.ensemble", "GradientBoostingClassifier"),
    "hist_gbm": ("sklearn.ensemble", "HistGradientBoostingClassifier"),
    "xgboost": ("xgboost", "XGBClassifier"),
    "lightgbm": ("lightgbm", "LGBMClassifier"),
    "random_forest": ("sklearn.ensemble", "RandomForestClassifier"),
    "extra_trees": ("sklearn.ensemble", "ExtraTreesClassifier"),
    "robust_tree": ("robust_splits", "RobustDecisionTreeClassifier"),
    "robust_forest": ("robust_splits", "RobustForestClassifier"),
    "robust_xgboost": ("boostnoise", "RobustXGBClassifier"),
    "robust_lightgbm": ("boostnoise", "RobustLGBMClassifier"),
}

# Of our own packages, models come from the public modules alone.
PUBLIC_MODULES = frozenset({"robust_splits", "boostnoise"})

# XGBoost's and LightGBM's classifiers take any keyword, a misspelt one too, and some of LightGBM's read and
# write files or open ports.  So from a config they take what their signatures name, and these.
KEYWORDS = frozenset(
    """
    bagging_fraction bagging_freq bagging_seed bin_construct_sample_cnt boost_from_average cat_l2 cat_smooth
    colsample_bynode data_sample_strategy deterministic drop_rate drop_seed extra_seed extra_trees
    feature_fraction feature_fraction_bynode feature_fraction_seed feature_pre_filter force_col_wise
    force_row_wise interaction_constraints is_unbalance lambda_l1 lambda_l2 linear_lambda linear_tree
    max_bin max_cat_threshold max_cat_to_onehot max_delta_step max_drop min_data_in_bin min_data_in_leaf
    min_data_per_group min_gain_to_split min_sum_hessian_in_leaf monotone_constraints neg_bagging_fraction
    num_grad_quant_bins other_rate path_smooth pos_bagging_fraction quant_train_renew_leaf refit_decay_rate
    scale_pos_weight seed sigmoid skip_drop stochastic_rounding top_rate uniform_drop use_missing
    use_quantized_grad verbose verbosity xgboost_dart_mode zero_as_missing
    """.split()  # noqa: SIM905 - a list of words
)

# Parameters that no description may hold at any depth, such as in the grid of a search: scikit-learn's cache of
# pickles, and all names under which LightGBM takes files, hosts and ports.
FORBIDDEN = frozenset(
    """
    memory config config_file convert_model convert_model_file data data_filename forced_splits
    forced_splits_file forced_splits_filename forcedbins_filename forcedsplits_filename fs init_score_file
    init_score_filename initscore_filename input_init_score input_model is_save_binary is_save_binary_file
    local_listen_port local_port machine_list machine_list_file machine_list_filename machines mlist
    model_in model_input model_out model_output name_pred nodes num_machine num_machines output_model
    output_result parser_config_file port pred_name predict_name predict_result prediction_name
    prediction_result save_binary save_period snapshot_freq test_data test_data_file train_data
    train_data_file valid valid_data valid_data_file valid_filenames workers
    """.split()  # noqa: SIM905 - a list of words
)

THREADS = frozenset({"n_jobs", "nthread", "nthreads", "num_thread", "num_threads", "thread_count"})

# What a package is installed by, and what its models are made of, where its name does not say.
DISTRIBUTIONS = {"sklearn": "scikit-learn", "robust_splits": "boostnoise"}
MADE_OF = {"boostnoise": ("xgboost", "lightgbm")}


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

    where = f"{spec.module}.{spec.model}"
    try:
        estimator = _instantiate(spec.module, spec.model, spec.params, allowed)
        if not (is_classifier(estimator) and hasattr(estimator, "fit") and hasattr(estimator, "predict")):
            raise ConfigError(f"{where} is not a classifier")
        settings: dict[str, Any] = {}
        for name, value in estimator.get_params(deep=True).items():
            parameter = name.rpartition("__")[2]
            if parameter == "random_state" and value is None:
                settings[name] = seed
            elif parameter in THREADS:
                settings[name] = threads
        estimator.set_params(**settings)
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


def packages_of(spec: Any) -> list[str]:
    """Import packages that make up a described model, with those of nested estimators."""
    modules = [spec.module, *(nested["module"] for nested in _nested(spec.params))]
    packages = {module.partition(".")[0] for module in modules}
    return sorted(packages.union(*(MADE_OF.get(package, ()) for package in packages)))


def version_of(package: str) -> str:
    """Installed version of an import package; of a module without distribution a hash of its source."""
    try:
        return metadata.version(DISTRIBUTIONS.get(package, package))
    except metadata.PackageNotFoundError:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            return ""
        origin = Path(spec.origin)
        files = sorted(origin.parent.rglob("*.py")) if origin.name == "__init__.py" else [origin]
        digest = hashlib.sha256()
        for file in files:
            digest.update(file.read_bytes())
        return digest.hexdigest()


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
    arguments = _build_value(params, where, allowed)
    known = inspect.signature(cls).parameters
    if "base_estimator" in arguments and "base_estimator" not in known and "estimator" in known:
        arguments["estimator"] = arguments.pop("base_estimator")  # its name before scikit-learn 1.2
    _check_keywords(cls, arguments, where)
    try:
        return cls(**arguments)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where} does not take these parameters: {one_line(error)}") from None


def _check_keywords(cls: type, arguments: dict[str, Any], where: str) -> None:
    """Refuse what a booster would take without a word, though it has no such parameter."""
    if cls.__module__.partition(".")[0] not in ("xgboost", "lightgbm", "boostnoise"):
        return
    named = {name for base in cls.__mro__ for name in inspect.signature(base).parameters}
    known = (named | KEYWORDS) - {"self", "args", "kwargs"}
    for name in arguments:
        if name not in known:
            raise ConfigError(f"{where} has no parameter {name!r}, or none that a config may set")


def _build_value(value: Any, where: str, allowed: Collection[str]) -> Any:
    if _is_description(value):
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
    if not isinstance(module, str) or not isinstance(model, str):
        raise ConfigError(f"module and model must be strings, got {module!r} and {model!r}")
    package = module.partition(".")[0]
    if package not in allowed:
        raise ConfigError(
            f"package {package!r} is not allowed; allowed are {', '.join(sorted(allowed))}, "
            f"and any package given by --allow-module NAME"
        )
    if package in PUBLIC_MODULES and module != package:
        raise ConfigError(f"module {module!r} is not public; models come from {package!r}")
    if any(part.startswith("_") for part in [*module.split("."), model]):
        raise ConfigError(f"{module}.{model} is not public")
    try:
        return getattr(importlib.import_module(module), model)
    except ImportError as error:
        raise ConfigError(f"module {module!r} cannot be imported: {one_line(error)}") from None
    except AttributeError:
        raise ConfigError(f"module {module!r} has no class {model!r}") from None
