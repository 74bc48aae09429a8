"""What a config says about a model: a class and its parameters, and what is searched for the best of them."""

from __future__ import annotations

import re
from math import prod
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from ..models.factory import MAX_CANDIDATES, check_variant, variant_names
from ..models.short_names import FILTER, SHORT_NAMES, VARIANT_PARAMETERS, parse_name
from .base import Name, Strict, has_printable_lines, with_keys

Metric = Literal["accuracy", "balanced_accuracy", "f1_macro", "neg_log_loss", "roc_auc_ovr"]


class SearchSpec(Strict):
    """A search for the best parameters, in each cell, by its noisy training labels alone.

    Attributes
    ----------
    params : dict of list
        For each parameter a list of values, of which all combinations are tried; parameters of nested
        estimators are named as in scikit-learn, such as ``estimator__max_depth``.
    folds : int or None
        Of a cross-validation; by default 5 where there is no `holdout`.
    holdout : float or None
        In place of `folds`: the share of the training rows that is held out, once.
    draws : int or None
        How many combinations are tried, drawn at random; by default all.
    metric : str
        What is to be highest, by scikit-learn's name.
    """

    params: dict[str, Annotated[list[Any], Field(min_length=1)]] = Field(min_length=1)
    folds: int | None = Field(default=None, ge=2, le=1000)
    holdout: float | None = Field(default=None, gt=0, lt=1)
    draws: int | None = Field(default=None, ge=1, le=MAX_CANDIDATES)
    metric: Metric = "accuracy"

    @model_validator(mode="before")
    @classmethod
    def _five_folds(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("holdout") is None and value.get("folds") is None:
            return {**value, "folds": 5}
        return value

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.folds is not None and self.holdout is not None:
            raise ValueError("has folds and holdout; it must be one of them")
        if self.draws is None and self.n_candidates > MAX_CANDIDATES:
            raise ValueError(
                f"{self.n_candidates} combinations of params are more than {MAX_CANDIDATES}; "
                "give 'draws', how many are tried"
            )
        return self

    @property
    def n_candidates(self) -> int:
        """How many combinations of parameters are tried."""
        n = prod(len(values) for values in self.params.values())
        return n if self.draws is None else min(n, self.draws)


IDENTIFIER = r"[^\W\d_]\w*"


def _schema_of_model(schema: dict[str, Any]) -> None:
    """Which keys go together: a short name, or a class and its module."""
    schema["required"] = ["model"]
    keys = {"module": f"^{IDENTIFIER}(\\.{IDENTIFIER})*$", "model": f"^{IDENTIFIER}$"}
    of_module = with_keys(*keys)
    of_module["properties"] = {key: {"pattern": pattern} for key, pattern in keys.items()}
    short = {"not": with_keys("module"), "properties": {"model": ModelSpec.short_form()}}
    schema["anyOf"] = [short, of_module]


class ModelSpec(Strict):
    """A model: a short name, or a class in a module, and its parameters.

    In a config it may be a short name alone.

    Attributes
    ----------
    model : str
        A short name, or a class together with its `module`.
    module : str
        Where the class comes from.  It must be an estimator of scikit-learn, XGBoost, LightGBM, CatBoost or
        this project; any other class needs ``--allow-module NAME`` with its package, whose code then runs.
    params : dict
        Parameters of the class, which win over those that the short name sets; a value may be an object with
        `module`, `model` and `params` itself.
    search : SearchSpec or None
        Parameters to choose by the noisy training labels.
    name : str
        What tables and pictures call it; LaTeX between dollar signs is drawn as such.  By default the model,
        and ``(search)`` after it where there is one.
    """

    model_config = ConfigDict(json_schema_extra=_schema_of_model)

    name: Name
    module: str
    model: str
    params: dict[str, Any] = Field(default={})
    search: SearchSpec | None = None

    @classmethod
    def short_form(cls) -> dict[str, Any]:
        """The short names: all of them to choose from, and a pattern for those with brackets or a filter."""
        patterns, names = list(SHORT_NAMES), list(SHORT_NAMES)
        for base, parameter in VARIANT_PARAMETERS.items():
            known = variant_names(parameter)
            names += [f"{base}:{name}" for name in known]
            brackets = r"(\([^()]*\))?" if parameter == "criterion" else ""
            patterns.append(f"{base}:({'|'.join(known)}){brackets}")
        pattern = f"^({re.escape(FILTER)})?({'|'.join(patterns)})$"
        return {"type": "string", "anyOf": [{"enum": names}, {"pattern": pattern}]}

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = {"model": value}
        if not isinstance(value, dict):
            raise ValueError("must be the name of a model or an object with module and model")
        if not isinstance(value.get("model"), str):
            raise ValueError("needs a key 'model': a short name, or a class together with its 'module'")
        value = {"name": value["model"] + " (search)" * bool(value.get("search")), **value}
        return value if "module" in value else _spelt_out(value)

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
    def _can_be_printed(self) -> Self:
        # Some models print what they are made of.
        _check_printable(self.params, "params")
        _check_printable(None if self.search is None else self.search.params, "search.params")
        return self

    @property
    def content(self) -> list[Any]:
        """All that changes the scores, and no names."""
        content = [self.module, self.model, self.params]
        return content if self.search is None else [*content, self.search.model_dump(exclude_none=True)]


def _check_printable(value: Any, where: str) -> None:
    if isinstance(value, str) and not has_printable_lines(value):
        raise ValueError(f"{where}: text must be printable, got {ascii(value)[:60]}")
    if isinstance(value, dict | list):
        for item in [*value, *value.values()] if isinstance(value, dict) else value:
            _check_printable(item, where)


def _spelt_out(value: dict[str, Any]) -> dict[str, Any]:
    """A model with a class and its module in place of a short name."""
    parsed = parse_name(value["model"])
    if parsed.parameter is not None and parsed.variant is not None:
        check_variant(parsed.parameter, parsed.variant)
    params, search = value.get("params", {}), value.get("search")
    searched = search.get("params") if isinstance(search, dict) else None
    for where, names in (("params", params), ("search.params", searched)):
        if isinstance(names, dict) and parsed.parameter in names:
            raise ValueError(f"{parsed.parameter} is in {where}, though the name {value['model']!r} says which")
    described = parsed.description(params if isinstance(params, dict) else {})
    if not isinstance(params, dict):
        described["params"] = params  # which is then found to be wrong
    if isinstance(search, dict) and isinstance(searched, dict):
        described["search"] = {**search, "params": {f"{parsed.prefix}{key}": searched[key] for key in searched}}
    return {**value, **described}
