"""The config: what a run is asked to do, validated before any work starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from ..errors import ConfigError, shown
from ..metrics.registry import ACCURACIES, METRICS
from .base import Name, Strict, check_json, validate
from .dataset_spec import DatasetSpec, each_file_of_folders
from .figure_options import FigureOptions
from .model_spec import ModelSpec
from .noise_spec import GivenSpec, NoiseSpec
from .plot_names import PLOTS

MAX_MODELS, MAX_DATASETS, MAX_NOISE = 10_000, 10_000, 100
MAX_CELLS = 1_000_000
STORE_NAME = "store.sqlite"

if TYPE_CHECKING:
    Accuracy = str
    Table = str
    Figure = str
else:
    Accuracy = Literal[ACCURACIES]
    Table = Literal[METRICS + tuple(f"mean_{metric}" for metric in METRICS)]
    Figure = Literal[PLOTS]

# By this key editors find the schema of a file; it says nothing of the run.
SCHEMA_KEY = "$schema"


def _no_duplicates(kind: str, names: Iterable[Any]) -> None:
    seen = set()
    for name in names:
        if name in seen:
            raise ValueError(f"two {kind} are named {name!r}; every name must be different")
        seen.add(name)


class Config(Strict):
    """A whole run.

    Attributes
    ----------
    name : str
        Name of the run and of its folder under `results_dir`: the stem of the config file.
    datasets : list of DatasetSpec
        What is learnt from: names, and objects such as ``{"path", "target"}`` for a file.
    models : list of ModelSpec
        What is compared: short names, and objects.
    noise : list of NoiseSpec
        What becomes of the labels: objects such as ``{"kind", "rates"}``.  Every model meets every kind of
        noise on every data set.  Two objects of one kind need a ``name`` each.
    repeats : int
        How often; repeat r is split by the seed ``random_state + r``, and models without a seed of their own
        get the same.
    test_fraction : float
        Share of the rows that are tested on.
    stratify : bool
        Whether training and test rows hold the classes in the same shares.
    random_state : int
        The seed of all draws.
    results_dir : str
        Where results go; relative to the working directory, as are the paths of the data sets.
    resume : bool
        Whether cells that an earlier run finished are used.
    threads : int
        How many threads each cell may use.  As many cells run side by side as there are cores for.  More than
        one may change the last digits of a score, so such cells are others.
    time_limit : float or None
        How many seconds a cell may take, from the start of the fit; one that takes longer fails.
    memory_limit : float or None
        How many GiB of memory the process of a cell may take; one that takes more fails.  Libraries alone take
        about a quarter of a GiB; the data sets, which processes share, do not count.
    metric : str
        What ELA, RLA, retention and the area under ELA are computed from.  It may be changed without fitting
        anything again.
    tables : list of str
        What is printed at the end, for each data set or, with ``mean_`` before it, averaged over the data sets.
    figures : list of str
        Pictures that are written beside those of the averaged ELA and RLA.
    ela_fig, rla_fig : FigureOptions
        How the picture of the curves looks.
    """

    name: SkipJsonSchema[Name] = Field(exclude=True)  # not a key of the file
    datasets: Annotated[list[DatasetSpec], AfterValidator(each_file_of_folders)] = Field(
        min_length=1, max_length=MAX_DATASETS
    )
    models: list[ModelSpec] = Field(min_length=1, max_length=MAX_MODELS)
    noise: list[NoiseSpec] = Field(min_length=1, max_length=MAX_NOISE)
    repeats: int = Field(default=3, ge=1, le=10_000)
    test_fraction: float = Field(default=0.2, gt=0, lt=1)
    stratify: bool = True
    random_state: int = Field(default=0, ge=0, le=2**31)
    results_dir: Name = "results"
    resume: bool = True
    threads: int = Field(default=1, ge=1, le=10_000)
    time_limit: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    memory_limit: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    metric: Accuracy = "accuracy"
    tables: list[Table] = Field(default=["mean_ela"], max_length=100, json_schema_extra={"uniqueItems": True})
    figures: list[Figure] = Field(default=[], max_length=100, json_schema_extra={"uniqueItems": True})
    ela_fig: FigureOptions = FigureOptions()
    rla_fig: FigureOptions = FigureOptions()

    def scored_on(self, kind: str | None = None) -> str:
        """A sentence, without its dot, on noise that test labels have too; empty where there is none.

        Parameters
        ----------
        kind : str or None, default=None
            The name of the noise; None for all.
        """
        noisy = [noise.name for noise in self.noise if noise.noise_on == "train+test"]
        kinds = [name for name in noisy if kind in (None, name)]
        return f"Under {' and '.join(kinds)} noise models are scored on noisy test labels" if kinds else ""

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        if self.name in (".", "..") or "/" in self.name or "\\" in self.name:
            raise ValueError(
                f"name: must name a folder in results_dir, not . or .., without / or \\, got {self.name!r}"
            )
        if self.name.startswith(STORE_NAME):
            raise ValueError(
                f"name: must not begin with {STORE_NAME}, which lies beside the run's folder, got {self.name!r}"
            )
        _no_duplicates("data sets", [dataset.name for dataset in self.datasets])
        _no_duplicates("models", [model.name for model in self.models])
        names = [noise.name for noise in self.noise]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(
                f"noise {twice!r} is there twice; put all rates of a kind into one object, or give each a name"
            )
        if len(set(self.tables)) < len(self.tables):
            raise ValueError("tables names a table twice")
        if len(set(self.figures)) < len(self.figures):
            raise ValueError("figures names a picture twice")
        for figure in ("ela_fig", "rla_fig"):
            n_kwargs = len(getattr(self, figure).plot_kwargs)
            if n_kwargs not in (0, len(self.models)):
                raise ValueError(
                    f"{figure}.plot_kwargs must be empty or hold one object per model, got {n_kwargs}"
                )
        return self

    @model_validator(mode="after")
    def _not_too_many_cells(self) -> Self:
        n_rates = sum(2 if isinstance(noise, GivenSpec) else len(noise.noise_by_rate) for noise in self.noise)
        n_cells = len(self.datasets) * len(self.models) * n_rates * self.repeats
        if n_cells > MAX_CELLS:
            raise ValueError(
                f"a run may have {MAX_CELLS:,} cells at most, got {n_cells:,} ({len(self.datasets)} data sets, "
                f"{len(self.models)} models, {n_rates} noise rates, {self.repeats} repeats); "
                "several configs may share a results_dir"
            )
        return self

    @model_validator(mode="after")
    def _check_given_labels(self) -> Self:
        given = [noise for noise in self.noise if isinstance(noise, GivenSpec)]
        if given and len(self.datasets) > 1:
            raise ValueError(
                "noise of the kind 'given' has the rows of one data set, so it must be the only one, "
                f"got {len(self.datasets)}"
            )
        for noise in given:
            if noise.path == self.datasets[0].path and noise.column not in self.datasets[0].drop:
                raise ValueError(
                    f"noise {noise.name!r} is in a column of its data set, which models must not see; "
                    f"add {noise.column!r} to the data set's drop"
                )
        return self

    @property
    def output_dir(self) -> Path:
        """Where the results of this run go."""
        return Path(self.results_dir) / self.name

    @property
    def store_path(self) -> Path:
        """The store, which all runs with this `results_dir` share."""
        return Path(self.results_dir) / STORE_NAME


def parse_config(content: Mapping[str, Any], name: str) -> Config:
    """Validate the content of a config.

    Raises
    ------
    ConfigError
        If it does not describe a run; one line per problem names the key, what was found and what is allowed.
    """
    check_json(dict(content))
    if "name" in content:
        raise ConfigError("name: unknown key; a run is named by its config file")
    content = {**content, "name": name}
    schema = content.pop(SCHEMA_KEY, "")
    if not isinstance(schema, str):
        raise ConfigError(f"{SCHEMA_KEY}: must be a string, the address of a JSON Schema, got {shown(schema)}")
    return validate(Config, content)
