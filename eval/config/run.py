"""Config of a run, validated before any work starts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema, WithJsonSchema
from pydantic_core import PydanticCustomError

from .._wording import joined, listed
from ..errors import ConfigError, shown, suggest
from ..metrics.registry import ACCURACIES, BUILT_IN, BUILT_IN_MEASURES
from ..models.usable import why_unusable
from .base import Name, Strict, check_json, validate
from .data_folders import expand_folders
from .dataset_spec import DatasetSpec
from .figures import FigureOptions, figure_names
from .metric_spec import MEAN, MetricSpec, add_named_metrics
from .model_spec import ModelSpec
from .noise_spec import GivenSpec, NoiseSpec, expand_kinds, expand_labels
from .sweeps import expand_sweeps, expand_train_rows

MAX_MODELS, MAX_DATASETS, MAX_NOISE = 10_000, 10_000, 100
MAX_CELLS = 1_000_000
QUICK_ROWS = 1000
MAX_NAMED = 5
STORE_NAME = "store.sqlite"
TEST_LABELS = {
    "right": "the right labels of synthetic data",
    "checked": "checked labels",
    "estimated": "estimated right labels",
    "given": "the labels of the data, which may be wrong",
}
HINTS = {
    "estimated": "noise and overlapping classes cannot be told apart without checked labels, and noisyaudit "
    "--prediction gives intervals of what is possible",
    "given": "noisyaudit estimates how many are",
}


def _accuracies(own: Sequence[MetricSpec]) -> list[str]:
    return [*ACCURACIES, *(metric.name for metric in own if metric.is_accuracy)]


def _tables(own: Sequence[MetricSpec]) -> list[str]:
    names = [*BUILT_IN, *(metric.name for metric in own)]
    return [*names, *(f"{MEAN}{name}" for name in names)]


def _figures(own: Sequence[MetricSpec]) -> list[str]:
    return [*figure_names([*BUILT_IN_MEASURES, *(metric.name for metric in own)])]


def _one_of(names: Callable[[Sequence[MetricSpec]], Sequence[str]]) -> Any:
    """Type of a string that is one of some names, to which those of a config's own metrics are added."""

    def check(value: str, info: ValidationInfo) -> str:
        *most, last = allowed = names(info.data.get("metrics", []))
        if value not in allowed:
            expected = {"expected": f"{', '.join(map(repr, most))} or {last!r}"}
            raise PydanticCustomError("literal_error", "Input should be {expected}", expected)
        return value

    return Annotated[str, AfterValidator(check), WithJsonSchema({"enum": [*names([])], "type": "string"})]


if TYPE_CHECKING:
    Accuracy = str
    Table = str
    Figure = str
else:
    Accuracy, Table, Figure = _one_of(_accuracies), _one_of(_tables), _one_of(_figures)

# Editors find the schema of a file by this key.  It has no effect on the run.
SCHEMA_KEY = "$schema"


def _check_unique(nouns: str, names: Iterable[Any]) -> None:
    seen = set()
    for name in names:
        if name in seen:
            raise ValueError(f"two {nouns} are named {name!r}; names must be unique")
        seen.add(name)


class Config(Strict):
    """Config of a run.

    Attributes
    ----------
    name : str
        Name of the run and of its folder in `results_dir`: the stem of the config file.
    datasets : list of DatasetSpec
        Data sets: names, or objects such as ``{"path", "target"}`` for a file.
    models : list of ModelSpec
        Models to compare: short names, or objects.
    noise : list of NoiseSpec
        Label noise: objects such as ``{"kind", "rates"}``.  Every model is run with every kind of noise on
        every data set.  Several objects of the same kind each need a ``name``.
    repeats : int
        Number of repeats.  Repeat r uses the seed ``random_state + r`` for the split, and for models without a
        seed of their own.
    test_fraction : float
        Share of the rows in the test set.
    folds : int or None
        Number of folds of cross-validation, in place of random test sets: repeats 0 to ``folds - 1`` test one
        fold each, the next repeats those of another partition.  `repeats` must be a multiple of it, and is the
        same by default.  Data sets with their own split keep it.
    stratify : bool
        Whether training and test rows have the same class shares.
    fixed_split : bool
        Whether all repeats have the test rows of the first.  Repeats then differ only in noise and seeds.  Not
        allowed with `folds`.  Data sets with their own split keep it.
    random_state : int
        Seed of all random draws.
    results_dir : str
        Folder of the results.  Relative paths, also those of data sets, start at the working directory.
    resume : bool
        Whether to reuse the finished cells of earlier runs.
    threads : int
        Threads per cell.  As many cells run in parallel as the cores allow.  Several threads may change the
        last digits of a score, so cells with another number of threads are not reused.
    time_limit : float or None
        Seconds that a cell may take from the start of its fit.  A cell that exceeds the limit fails.
    memory_limit : float or None
        GiB of memory that the process of a cell may use.  A cell that exceeds the limit fails.  Libraries alone
        use about a quarter of a GiB; data sets, which processes share, do not count.
    metrics : list of MetricSpec
        Metrics of installed packages, computed in every cell in addition to the measures of this project.
        Those that `metric`, `tables` or `figures` name are added.  Cells without them are fitted again.
    metric : str
        Measure from which ELA, RLA, retention and the area under ELA are computed.  Changing it to another
        measure of this project requires no new fits.
    tables : list of str
        Tables printed at the end: per data set, or averaged over the data sets with the prefix ``mean_``,
        with the models in the order of their mean over the columns, the best first.
    figures : list of str
        Figures to write in addition to those of the mean ELA and RLA.
    ela_fig, rla_fig : FigureOptions
        Options of the figures of the mean ELA and of the mean RLA.
    """

    name: SkipJsonSchema[Name] = Field(exclude=True)  # not a key of the file
    datasets: Annotated[
        list[DatasetSpec], AfterValidator(expand_folders), AfterValidator(expand_train_rows)
    ] = Field(min_length=1, max_length=MAX_DATASETS)
    models: Annotated[list[ModelSpec], BeforeValidator(expand_sweeps)] = Field(
        min_length=1, max_length=MAX_MODELS
    )
    noise: Annotated[list[NoiseSpec], BeforeValidator(expand_kinds)] = Field(min_length=1, max_length=MAX_NOISE)
    repeats: int = Field(default=3, ge=1, le=10_000)
    test_fraction: float = Field(default=0.2, gt=0, lt=1)
    folds: int | None = Field(default=None, ge=2, le=1000)
    stratify: bool = True
    fixed_split: bool = False
    random_state: int = Field(default=0, ge=0, le=2**31)
    results_dir: Name = "results"
    resume: bool = True
    threads: int = Field(default=1, ge=1, le=10_000)
    time_limit: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    memory_limit: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    metrics: list[MetricSpec] = Field(default=[], max_length=20)
    metric: Accuracy = "accuracy"
    tables: list[Table] = Field(default=["mean_ela"], max_length=100, json_schema_extra={"uniqueItems": True})
    figures: list[Figure] = Field(default=[], max_length=100, json_schema_extra={"uniqueItems": True})
    ela_fig: FigureOptions = FigureOptions()
    rla_fig: FigureOptions = FigureOptions()

    @property
    def test_labels(self) -> str:
        """Sentence on the labels that models are tested on, and whether these may be wrong."""
        names: dict[str, list[str]] = {}
        for spec in self.datasets:
            names.setdefault(spec.test_labels, []).append(spec.name)
        parts = [
            TEST_LABELS[labels] + (f" ({joined(of_labels, MAX_NAMED)})" if len(names) > 1 else "")
            for labels, of_labels in names.items()
        ]
        return f"{'; '.join([f'Tested on {listed(parts)}', *(HINTS[key] for key in HINTS if key in names)])}."

    def scored_on(self, kind: str | None = None) -> str:
        """Sentence, without a full stop, on noise that also corrupts test labels; empty if there is none.

        Parameters
        ----------
        kind : str or None, default=None
            Name of the noise; None for all.
        """
        noisy = [noise.name for noise in self.noise if noise.noise_on == "train+test"]
        kinds = [name for name in noisy if kind in (None, name)]
        return f"Under {' and '.join(kinds)} noise models are scored on noisy test labels" if kinds else ""

    @field_validator("noise")
    @classmethod
    def _expand_labels(cls, noise: list[NoiseSpec], info: ValidationInfo) -> list[NoiseSpec]:
        return expand_labels(noise, info.data.get("datasets", []))

    @model_validator(mode="before")
    @classmethod
    def _with_default_repeats(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("folds") is not None and "repeats" not in value:
            return {**value, "repeats": value["folds"]}
        return value

    @model_validator(mode="before")
    @classmethod
    def _with_named_metrics(cls, value: Any) -> Any:
        return {**value, "metrics": add_named_metrics(value)} if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _check_metrics(self) -> Self:
        _check_unique("metrics", [metric.name for metric in self.metrics])
        estimated = [dataset.name for dataset in self.datasets if dataset.labels == "noisy"]
        if self.metrics and estimated:
            raise ValueError(
                f"metrics: {self.metrics[0].name!r} cannot be computed on data set {estimated[0]!r}, whose "
                "right labels are estimated; use measures of this project"
            )
        return self

    @model_validator(mode="after")
    def _check_folds(self) -> Self:
        if self.folds is not None and self.repeats % self.folds:
            raise ValueError(f"repeats: must be a multiple of folds ({self.folds}), got {self.repeats}")
        if self.folds is not None and self.fixed_split:
            raise ValueError("fixed_split: must be false with folds, got true; each repeat tests another fold")
        return self

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        if self.name in (".", "..") or "/" in self.name or "\\" in self.name:
            raise ValueError(
                f"name: must be the name of a folder, not . or .., and without / or \\, got {self.name!r}"
            )
        if self.name.startswith(STORE_NAME):
            raise ValueError(
                f"name: must not begin with {STORE_NAME}, the name of the store, got {self.name!r}"
            )
        _check_unique("data sets", [dataset.name for dataset in self.datasets])
        _check_unique("models", [model.name for model in self.models])
        without = [dataset.name for dataset in self.datasets if dataset.domain is None]
        if 0 < len(without) < len(self.datasets):
            raise ValueError(f"data set {without[0]!r} has no 'domain', but others have")
        names = [noise.name for noise in self.noise]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(
                f"two noise objects are named {twice!r}; put all rates of a kind into one object, "
                "or add a 'name' to each"
            )
        if len(set(self.tables)) < len(self.tables):
            raise ValueError("tables: must not have duplicates")
        if len(set(self.figures)) < len(self.figures):
            raise ValueError("figures: must not have duplicates")
        for figure in ("ela_fig", "rla_fig"):
            n_kwargs = len(getattr(self, figure).plot_kwargs)
            if n_kwargs not in (0, len(self.models)):
                raise ValueError(
                    f"{figure}.plot_kwargs: must be empty or have one object per model ({len(self.models)}), "
                    f"got {n_kwargs}"
                )
        return self

    @model_validator(mode="after")
    def _check_number_of_cells(self) -> Self:
        n_rates = sum(
            1 + len(noise.labels) if isinstance(noise, GivenSpec) else len(noise.noise_by_rate)
            for noise in self.noise
        )
        n_cells = len(self.datasets) * len(self.models) * n_rates * self.repeats
        if n_cells > MAX_CELLS:
            raise ValueError(
                f"a run must have at most {MAX_CELLS:,} cells, got {n_cells:,} "
                f"({len(self.datasets)} data sets, {len(self.models)} models, {n_rates} noise rates, "
                f"{self.repeats} repeats); "
                "split it into several configs with the same results_dir"
            )
        return self

    @model_validator(mode="after")
    def _check_noisy_labels(self) -> Self:
        noisy = [dataset.name for dataset in self.datasets if dataset.labels == "noisy"]
        for noise in self.noise:
            if noisy and noise.noise_on == "train+test":
                raise ValueError(
                    f"noise: {noise.name!r} changes test labels, but scores on data set {noisy[0]!r} are "
                    'estimated from them as they are; set "noise_on": "train"'
                )
        return self

    @model_validator(mode="after")
    def _check_given_labels(self) -> Self:
        given = {label for noise in self.noise if isinstance(noise, GivenSpec) for label in noise.labels}
        defined = {name for dataset in self.datasets for name in dataset.noisy_names}
        for label in sorted(given - defined):
            known = f"noisy labels: {', '.join(sorted(defined))}" if defined else "no data set has any"
            raise ValueError(f"noise: no data set has noisy labels {label!r}{suggest(label, defined)}; {known}")
        if all(isinstance(noise, GivenSpec) for noise in self.noise):
            for dataset in self.datasets:
                if not given & set(dataset.noisy_names):
                    raise ValueError(f"data set {dataset.name!r} has no cells: it has none of the noisy labels")
        return self

    def without_missing(self) -> Config:
        """Leave out optional models without their packages or pretrained weights, with a warning for each.

        Raises
        ------
        ConfigError
            If no model is left.
        """
        reasons = [why_unusable(model) if model.optional else "" for model in self.models]
        for model, reason in zip(self.models, reasons, strict=True):
            if reason:
                warnings.warn(f"models: {model.name} is left out: {reason}", stacklevel=3)
        is_usable = [not reason for reason in reasons]
        if not any(is_usable):
            raise ConfigError(f"models: none is left, as all are optional and {joined(dict.fromkeys(reasons))}")
        figures = {
            name: options.model_copy(update={"plot_kwargs": list(compress(options.plot_kwargs, is_usable))})
            for name, options in (("ela_fig", self.ela_fig), ("rla_fig", self.rla_fig))
        }
        return self.model_copy(update={"models": list(compress(self.models, is_usable)), **figures})

    def quick(self) -> Config:
        """A short form, to try a config: one repeat or cross-validation, at most 1,000 rows of each data set.

        Of data sets with a number of training rows, those with at most 1,000 remain.  If there are none,
        the first is cut to 1,000 rows.
        """
        sizes = [spec.train_rows if isinstance(spec.train_rows, int) else 0 for spec in self.datasets]
        few = [spec for spec, size in zip(self.datasets, sizes, strict=True) if size <= QUICK_ROWS]
        datasets = [
            spec
            if spec.train_rows
            else spec.model_copy(update={"max_rows": min(QUICK_ROWS, spec.max_rows or QUICK_ROWS)})
            for spec in few or [self.datasets[0].model_copy(update={"train_rows": None})]
        ]
        return self.model_copy(
            update={"name": f"{self.name}_quick", "repeats": self.folds or 1, "datasets": datasets}
        )

    @property
    def resampled_fraction(self) -> float:
        """Share of test rows in the random splits."""
        return self.test_fraction if self.folds is None else 1 / self.folds

    @property
    def sets_with_own_split(self) -> list[str]:
        """Data sets whose repeats share their test rows."""
        return [spec.name for spec in self.datasets if self.fixed_split or spec.has_own_split]

    @property
    def output_dir(self) -> Path:
        """Folder of the results of this run."""
        return Path(self.results_dir) / self.name

    @property
    def store_path(self) -> Path:
        """Path of the store, which all runs with this `results_dir` share."""
        return Path(self.results_dir) / STORE_NAME


def parse_config(content: Mapping[str, Any], name: str) -> Config:
    """Validate the content of a config.

    Raises
    ------
    ConfigError
        If the content is invalid; one line per problem.
    """
    check_json(dict(content))
    if "name" in content:
        raise ConfigError("name: unexpected key; a run is named after its config file")
    content = {**content, "name": name}
    schema = content.pop(SCHEMA_KEY, "")
    if not isinstance(schema, str):
        raise ConfigError(f"{SCHEMA_KEY}: must be the URL or path of a JSON Schema, got {shown(schema)}")
    return validate(Config, content)
