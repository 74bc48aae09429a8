"""`compare`: an evaluation in one call, of models and data in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from ..config.data_paths import format_of
from ..config.dataset_spec import SETS
from ..config.model_spec import ModelSpec
from ..config.run import parse_config
from ..errors import ConfigError
from ..execution.plan import Progress
from ..extensions import own_objects
from ..models.allowed_classes import check_classes, is_listed
from ..models.packages import described_classes
from .comparison import Comparison
from .from_estimators import describe, is_estimator, plain
from .from_memory import DataFile, data_file
from .from_metrics import describe_metrics
from .from_noise import describe_noise

DEFAULT_REPEATS = 3
MAX_NAME = 60  # characters of a model name that is made from parameters


def compare(
    models: Any,
    datasets: Any,
    noise: Any = "uniform",
    *,
    repeats: int | None = None,
    test_fraction: float = 0.2,
    folds: int | None = None,
    stratify: bool = True,
    random_state: int = 0,
    metric: Any = "accuracy",
    metrics: Collection[Any] = (),
    labels: str = "right",
    results_dir: str | Path = "results",
    name: str = "comparison",
    n_jobs: int = -1,
    threads: int = 1,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    resume: bool = True,
    scheduler: str | None = None,
    allow_modules: Collection[str] = (),
    progress: bool | Callable[[Progress], object] = True,
    compare_with: str | Path | None = None,
) -> Comparison:
    """Compare models on data sets under label noise.

    It is the command ``noisyeval`` in Python, with the same engine and store: every finished cell is stored in
    `results_dir` at once, and no cell is fitted twice.  Call it again to resume an interrupted comparison;
    `Comparison.load` opens one without fitting.

    Parameters
    ----------
    models : list or dict
        Short names, such as ``"xgboost"`` (``noisyeval --list`` shows all); estimators of scikit-learn,
        XGBoost, LightGBM, CatBoost, TabICL, TabPFN or this project, or with their interface; pairs
        ``(name, model)``; or config objects.  A dict maps names to them.  An estimator is stored as a
        description of its class and its non-default parameters; it may be fitted or not.  The run sets seeds
        that are None and all numbers of threads.  Classes, losses, criteria and functions of a notebook are
        sent to the processes that fit the cells, and a hash of them is stored.
    datasets : list or dict
        Names, such as ``"breast_cancer"``; paths of svmlight files; config objects, such as ``{"path":
        "spam.csv", "target": "label"}``.  A dict maps names to these, or to data in memory: ``(X, y)``,
        ``(frame, "label")`` with the label column, a ``Bunch`` of scikit-learn, or a config object with data
        under the key ``"data"`` and other keys, as in ``{"data": frame, "target": "label", "categorical":
        "ordinal"}``.  Data in memory are written to ``<results_dir>/data/`` once, as Parquet, which keeps their
        types.  Their missing features are kept by default (``"missing": "keep"``), for models that accept them.
    noise : str, number, object, list or dict, default="uniform"
        A kind, with the rates 0, 0.1, ..., 0.4, or of ``"mahalanobis"`` 0 and 0.3 (``"class_conditional"`` and
        ``"given"`` need more than a name); rates of uniform noise; a dict of kinds and their rates, such as
        ``{"uniform": [0.2, 0.4], "pair_flip": 0.2}``; a config object; an object such as ``UniformNoise(0.3)``;
        a function that returns noisy labels, see `boostnoise.eval.FunctionNoise`; or a list of these.  The rate
        0 is always included.
    repeats : int or None, default=None
        Number of repeats, each with its own split, noise and seeds.  None for three, or with `folds` for one
        cross-validation.
    test_fraction : float, default=0.2
        Share of the rows that are test rows.
    folds : int or None, default=None
        Number of folds of cross-validation, in place of random test rows.  `repeats` must be a multiple of it.
    stratify : bool, default=True
        Whether training and test rows have the same class proportions.
    random_state : int, default=0
        Seed of the whole run.
    metric : str, callable or Metric, default="accuracy"
        The measure that ELA, RLA and the tests are computed from: ``"accuracy"``, ``"balanced_accuracy"``,
        ``"macro_f1"``, ``"roc_auc"``, or a metric of your own, as in `metrics`, from 0 to 1.
    metrics : collection of str, callable or Metric, default=()
        More metrics to compute in each cell: names that installed packages define, functions
        ``(y_true, y_pred)`` as in `sklearn.metrics`, or `boostnoise.eval.Metric`.
    labels : {"right", "noisy"}, default="right"
        ``"noisy"`` if test labels are as noisy as all others.  Scores are then estimates of those on right
        labels.  It applies to all data sets whose config objects do not have this key.
    results_dir : str or Path, default="results"
        The folder of the store.
    name : str, default="comparison"
        Name of the run in the store.  It replaces an existing run of this name, whose cells are kept.
    n_jobs : int, default=-1
        Maximum number of cells fitted at the same time; -1 for as many as the cores allow.
    threads : int, default=1
        Threads of each cell.
    time_limit, memory_limit : float or None, default=None
        Limits of a cell in seconds and GiB; a cell that exceeds one fails.
    resume : bool, default=True
        Whether to reuse finished cells.
    scheduler : str or None, default=None
        Address of the scheduler of a Dask cluster, which then fits the cells instead of this machine.
    allow_modules : collection of str, default=()
        Packages that model descriptions may name, in addition to those always allowed.  Their code runs.  The
        packages of estimators in `models` need not be listed.
    progress : bool or callable, default=True
        Whether to show a bar, on a terminal or in a notebook; or a callback, called with a
        `boostnoise.eval.Progress` at the start and after each cell.
    compare_with : str, Path or None, default=None
        ``"reference"``, another study of `reference`, or the folder of a run, whose models are shown too; see
        `Comparison.compare_with`.

    Returns
    -------
    Comparison

    Raises
    ------
    ConfigError
        A ValueError that names the argument, raised before any fit, if the comparison cannot be run.
    TypeError
        If an argument has an unsupported type.
    """
    if not isinstance(results_dir, str | Path):
        raise TypeError(f"results_dir must be a path, got {results_dir!r:.60}")
    # Imported here, since they take long to load.
    from ..execution.dask_cluster import check_scheduler
    from ..execution.local_pool import check_n_jobs
    from ..execution.plan import plan
    from ..execution.runner import run
    from ..report.reference import check_in_common, find_other

    if compare_with is not None:
        find_other(compare_with)
    check_n_jobs(n_jobs)
    check_scheduler(scheduler)
    results_dir = str(results_dir)
    described, from_estimators = _models(models)
    described_metrics, metric_name = describe_metrics(metrics, metric)
    sets, files = _datasets(datasets, Path(results_dir) / "data")
    content = {
        "datasets": [{"labels": labels, **spec} for spec in sets],
        "models": described,
        "noise": describe_noise(noise),
        "metrics": described_metrics,
        "repeats": (folds or DEFAULT_REPEATS) if repeats is None else repeats,
        "test_fraction": test_fraction,
        "folds": folds,
        "stratify": stratify,
        "random_state": random_state,
        "metric": metric_name,
        "results_dir": results_dir,
        "threads": threads,
        "time_limit": time_limit,
        "memory_limit": memory_limit,
        "resume": resume,
    }
    content = {key: plain(value, key) for key, value in content.items()}
    config = parse_config(content, name)
    allowed = {
        *_named_packages(allow_modules),
        *(package for i in from_estimators for package in _packages_not_listed(config.models[i])),
    }
    config = config.without_missing()
    for model in config.models:
        try:
            check_classes(described_classes(model), allowed)
        except ConfigError as error:
            raise ConfigError(f"models: {model.name!r}: {error}") from None
    for file in files:
        file.write()
    if compare_with is not None:
        check_in_common(plan(config, allow_modules=allowed), compare_with)
    with _display(progress, name) as callback:
        finished = run(config, n_jobs=n_jobs, scheduler=scheduler, allow_modules=allowed, progress=callback)
    return Comparison(finished) if compare_with is None else Comparison(finished).compare_with(compare_with)


def _models(models: Any) -> tuple[list[Any], list[int]]:
    """Model descriptions for a config, and indices of those made from estimators, whose code has run."""
    if isinstance(models, str) or is_estimator(models):
        models = [models]
    if not isinstance(models, Mapping | list | tuple):
        raise TypeError(f"models must be a list or a dict, got {type(models).__name__}")
    described: list[Any] = []
    from_estimators, unnamed = [], []
    for i, (name, model, context) in enumerate(_named(models, "models")):
        if is_estimator(model):
            value = describe(model, context)
            from_estimators.append(i)
            if name is None:
                unnamed.append(i)
        elif isinstance(model, Mapping):
            value = plain(dict(model), context)
        elif isinstance(model, str):
            value = {"model": model}
        elif isinstance(model, type):
            raise TypeError(f"{context}: {model.__name__} is a class; pass an instance, {model.__name__}()")
        else:
            raise TypeError(
                f"{context} must be a short name, an estimator or a dict, got {model!r:.60}; the order is "
                "compare(models, datasets)"
            )
        described.append(_with_name(value, name, context))
    counts = Counter(described[i]["model"] for i in unnamed)
    for i in unnamed:
        described[i]["name"] = _name_of(described[i], unique=counts[described[i]["model"]] == 1)
    return described, from_estimators


def _name_of(described: dict[str, Any], *, unique: bool) -> str:
    """Name an estimator by its class, with its parameters if the class is not unique."""
    name = str(described["model"])
    shown = {key: own_objects.shown(value) for key, value in described["params"].items()}
    params = ", ".join(f"{key}={value}" for key, value in shown.items())
    if unique or not params:
        return name
    full_name = f"{name}({params})"
    return full_name if len(full_name) <= MAX_NAME else name


def _datasets(datasets: Any, folder: Path) -> tuple[list[Any], list[DataFile]]:
    """Data set descriptions for a config, and the files to write for data in memory."""
    from sklearn.utils import Bunch  # loads all of SciPy's statistics

    if isinstance(datasets, str | Path):
        datasets = [datasets]
    if isinstance(datasets, Bunch):
        raise TypeError("datasets must be a list or a dict; to pass a Bunch, name it: {'my data': bunch}")
    if not isinstance(datasets, Mapping | list | tuple):
        raise TypeError(f"datasets must be a list or a dict, got {type(datasets).__name__}")
    sets: list[Any] = []
    files = []
    for name, data, context in _named(datasets, "datasets"):
        value = data
        if isinstance(data, str | Path):
            value = {"path": str(data)} if _is_path(data) else {"set": data}
        elif isinstance(data, Bunch):
            value = {"data": (data.get("data"), data.get("target"))}
        elif not isinstance(data, Mapping):
            value = {"data": data}
        value = dict(value)
        if "data" in value:
            name = value.get("name") if name is None else name
            if not isinstance(name, str):
                raise ConfigError(f"{context}: data in memory need a name; pass a dict, {{'my data': (X, y)}}")
            data, target = value.pop("data"), value.pop("target", None)
            file, target = data_file(name, data, target, folder, context)
            files.append(file)
            value = {"path": str(file.path), "target": target, "missing": "keep", **value}
        sets.append(_with_name(value, name, context))
    return sets, files


def _is_path(data: str | Path) -> bool:
    return data not in SETS and (isinstance(data, Path) or format_of(data) is not None)


def _named(items: Any, argument: str) -> Iterator[tuple[str | None, Any, str]]:
    """The items of an argument: name or None, item, and how error messages refer to it."""
    if isinstance(items, Mapping):
        for name, item in items.items():
            if not isinstance(name, str):
                raise TypeError(f"{argument}: names must be text, got {name!r:.60}")
            yield name, item, f"{argument}[{name!r}]"
        return
    for i, item in enumerate(items):
        is_pair = isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)
        name, value = item if is_pair else (None, item)
        yield name, value, f"{argument}[{i}]"


def _with_name(value: dict[str, Any], name: str | None, context: str) -> dict[str, Any]:
    if name is None:
        return value
    if value.get("name", name) != name:
        raise ConfigError(f"{context}: two names, {name!r} and {value['name']!r}; give one")
    return {**value, "name": name}


def _named_packages(allow_modules: Collection[str]) -> Collection[str]:
    if isinstance(allow_modules, str) or not all(isinstance(name, str) for name in allow_modules):
        raise TypeError(f"allow_modules must be a list of package names, got {allow_modules!r:.60}")
    return allow_modules


def _packages_not_listed(model: ModelSpec) -> set[str]:
    """Packages of a model's classes that are not on the list of allowed classes."""
    return {module.partition(".")[0] for module, cls in described_classes(model) if not is_listed(module, cls)}


def _display(progress: Any, name: str) -> AbstractContextManager[Callable[[Progress], object] | None]:
    """The callback for the progress of a run."""
    if progress is True:
        from ..report.console import create_python_display

        return create_python_display(name)
    if progress is not False and not callable(progress):
        raise TypeError(f"progress must be True, False or callable, got {progress!r:.60}")
    return nullcontext(progress or None)
