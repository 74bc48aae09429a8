"""Config of a model: a class, its parameters, and a search for the best of them."""

from __future__ import annotations

from math import prod
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from ..models.allowed_classes import with_canonical_modules
from ..models.factory import MAX_CANDIDATES
from ..models.short_names import VARIANT_PARAMETERS, WRAPPERS, all_short_names, parse_name
from ..models.variants import check_variant, variant_names
from .base import Name, Strict, has_printable_lines, with_keys

Metric = Literal["accuracy", "balanced_accuracy", "f1_macro", "neg_log_loss", "roc_auc_ovr"]


class SearchSpec(Strict):
    """Search for the best parameters in each cell, on its noisy training labels only.

    Attributes
    ----------
    params : dict of list
        Lists of values by parameter.  All combinations are tried.  Parameters of nested estimators are named as
        in scikit-learn, such as ``estimator__max_depth``.
    folds : int or None
        Number of cross-validation folds; by default 5 unless `holdout` is given.
    holdout : float or None
        Share of the training rows held out for a single validation, instead of `folds`.
    draws : int or None
        Number of combinations to try, drawn at random; by default all.
    metric : str
        scikit-learn's name of the metric to maximise.
    """

    params: dict[str, Annotated[list[Any], Field(min_length=1)]] = Field(min_length=1)
    folds: int | None = Field(default=None, ge=2, le=1000)
    holdout: float | None = Field(default=None, gt=0, lt=1)
    draws: int | None = Field(default=None, ge=1, le=MAX_CANDIDATES)
    metric: Metric = "accuracy"

    @model_validator(mode="before")
    @classmethod
    def _with_default_folds(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("holdout") is None and value.get("folds") is None:
            return {**value, "folds": 5}
        return value

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        if self.folds is not None and self.holdout is not None:
            raise ValueError("has both 'folds' and 'holdout'; only one is allowed")
        if self.draws is None and self.n_candidates > MAX_CANDIDATES:
            raise ValueError(
                f"'params' has {self.n_candidates} combinations, more than {MAX_CANDIDATES}; "
                "set 'draws' to the number of combinations to try"
            )
        return self

    @property
    def n_candidates(self) -> int:
        """Number of parameter combinations to try."""
        n = prod(len(values) for values in self.params.values())
        return n if self.draws is None else min(n, self.draws)


class EarlyStoppingSpec(Strict):
    """Stop a booster early, in each cell, on a part of its noisy training rows.

    Attributes
    ----------
    holdout : float
        Share of the training rows held out.
    rounds : int
        Rounds without a lower loss on the held-out rows after which training stops; the best round is used.
    """

    holdout: float = Field(default=0.2, gt=0, lt=1)
    rounds: int = Field(default=20, ge=1, le=100_000)


IDENTIFIER = r"[^\W\d_]\w*"


def _schema_of_model(schema: dict[str, Any]) -> None:
    """Allowed combinations of keys: a short name, or a class and its module."""
    schema["required"] = ["model"]
    keys = {"module": f"^{IDENTIFIER}(\\.{IDENTIFIER})*$", "model": f"^{IDENTIFIER}$"}
    of_module = with_keys(*keys)
    of_module["properties"] = {key: {"pattern": pattern} for key, pattern in keys.items()}
    short = {"not": with_keys("module"), "properties": {"model": ModelSpec.short_form()}}
    schema["anyOf"] = [short, of_module]


class ModelSpec(Strict):
    """A model: a short name, or a class in a module, and its parameters.

    In a config, the short name can replace the object.

    Attributes
    ----------
    model : str
        A short name, or the name of a class in `module`.  Installed packages may add short names.
    module : str
        Module of the class, which must be an estimator of scikit-learn, XGBoost, LightGBM, CatBoost, TabICL,
        TabPFN or this project.  Other classes require ``--allow-module NAME`` with their package, whose code is
        then executed.
    params : dict
        Parameters of the class.  They override those of the short name.  A value may itself be an object with
        `module`, `model` and `params`.
    search : SearchSpec or None
        Search for parameters on the noisy training labels.
    early_stopping : EarlyStoppingSpec or None
        Early stopping of a booster on noisy labels, within the maximum number of rounds in `params`.  Not with
        a search.
    sweep : dict of list or None
        A parameter and its values: the object stands for one model for each of them.  The figure
        ``parameter_sweep`` shows the measure against values that are numbers, or that have one as the criterion
        ``ne(0.5)`` has, for the parameter that most models differ in.
    optional : bool
        Whether to leave the model out, with a warning, if an optional package that it needs is not installed,
        or its pretrained weights cannot be loaded.  By default that is an error.
    name : str
        Name in tables and figures.  Text between dollar signs is rendered as LaTeX.  By default the model,
        followed by ``(search)`` if there is a search, or by ``(early stopping)``.
    """

    model_config = ConfigDict(json_schema_extra=_schema_of_model)

    name: Name
    module: str
    model: str
    params: dict[str, Any] = Field(default={})
    search: SearchSpec | None = None
    early_stopping: EarlyStoppingSpec | None = None
    sweep: dict[str, Annotated[list[Any], Field(min_length=1)]] | None = Field(
        default=None, min_length=1, max_length=1
    )
    optional: bool = False
    # Of a class of the user's process; see `own_objects`.
    hash: SkipJsonSchema[Annotated[str, Field(pattern="^[0-9a-f]+$")] | None] = None

    @classmethod
    def short_form(cls) -> dict[str, Any]:
        """JSON Schema of the short names: a list for completion, and a pattern for arguments and filters."""
        patterns, names = list(all_short_names()), list(all_short_names())
        for base, parameter in VARIANT_PARAMETERS.items():
            known = variant_names(parameter)
            names += [f"{base}:{name}" for name in known]
            brackets = r"(\([^()]*\))?" if parameter == "criterion" else ""
            patterns.append(f"{base}:({'|'.join(known)}){brackets}")
        pattern = rf"^(({'|'.join(WRAPPERS)})\+)?({'|'.join(patterns)})$"
        return {"type": "string", "anyOf": [{"enum": names}, {"pattern": pattern}]}

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = {"model": value}
        if not isinstance(value, dict):
            raise ValueError("must be the name of a model, or an object with 'model'")
        if not isinstance(value.get("model"), str):
            raise ValueError("'model' is missing; it is a short name, or a class with its 'module'")
        detail = " (early stopping)" if value.get("early_stopping") is not None else ""
        detail = " (search)" if value.get("search") else detail
        value = with_canonical_modules({"name": value["model"] + detail, **value})
        return value if "module" in value else _expand_short_name(value)

    @field_validator("module", "model")
    @classmethod
    def _identifier(cls, value: str, info: Any) -> str:
        parts = value.split(".") if info.field_name == "module" else [value]
        if not all(part.isidentifier() and not part.startswith("_") for part in parts):
            raise ValueError(
                f"must be the name of a {'public module' if info.field_name == 'module' else 'class'}"
            )
        return value

    @model_validator(mode="after")
    def _check_text(self) -> Self:
        # Some models print their parameters.
        _check_printable(self.params, "params")
        _check_printable(None if self.search is None else self.search.params, "search.params")
        if self.search is not None and self.early_stopping is not None:
            raise ValueError("has both 'search' and 'early_stopping'; only one is allowed")
        if self.sweep is not None:  # a valid one has been replaced by models
            raise ValueError(f"'sweep' must not have {next(iter(self.sweep))!r}, which 'params' sets")
        return self

    @property
    def content(self) -> list[Any]:
        """Everything that affects the scores, without names."""
        content = [self.module, self.model, self.params, *([self.hash] if self.hash else [])]
        if self.early_stopping is not None:
            return [*content, {"early_stopping": self.early_stopping.model_dump()}]
        return content if self.search is None else [*content, self.search.model_dump(exclude_none=True)]


def _check_printable(value: Any, context: str) -> None:
    if isinstance(value, str) and not has_printable_lines(value):
        raise ValueError(f"{context}: must be printable, got {ascii(value)[:60]}")
    if isinstance(value, dict | list):
        for item in [*value, *value.values()] if isinstance(value, dict) else value:
            _check_printable(item, context)


def _expand_short_name(value: dict[str, Any]) -> dict[str, Any]:
    """Replace a short name with its class, module and parameters."""
    parsed = parse_name(value["model"])
    if parsed.parameter is not None and parsed.variant is not None:
        check_variant(parsed.parameter, parsed.variant)
    params, search = value.get("params", {}), value.get("search")
    searched = search.get("params") if isinstance(search, dict) else None
    for context, names in (("params", params), ("search.params", searched)):
        if isinstance(names, dict) and parsed.parameter in names:
            raise ValueError(
                f"{context}: must not have {parsed.parameter!r}, which {value['model']!r} already sets"
            )
    described = parsed.description(params if isinstance(params, dict) else {})
    if not isinstance(params, dict):
        described["params"] = params  # fails validation later
    if isinstance(search, dict) and isinstance(searched, dict):
        described["search"] = {**search, "params": {f"{parsed.prefix}{key}": searched[key] for key in searched}}
    return {**value, **described}
