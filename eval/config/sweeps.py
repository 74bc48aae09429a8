"""Sweeps: models that differ in one parameter, and data sets that differ in the number of training rows."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._numbers import is_real
from .dataset_spec import DatasetSpec
from .model_spec import ModelSpec

MAX_VALUE = 1e300  # larger integers are no floats
MAX_CHARACTERS = 5_000_000  # in one sweep, whose models each repeat all parameters
SEPARATOR = ", "  # between a name and the value of its parameter
NUMBER_IN_PARENTHESES = re.compile(r"(?P<name>[^()]+)\((?P<number>[-+.\de]+)\)")  # of a criterion or a loss


@dataclass(frozen=True)
class Sweep:
    """Models or data sets along one axis.

    Attributes
    ----------
    name : str
        Common name.
    parameter : str
        What is varied.
    values : dict of str to float
        Value by name of the model or data set, in ascending order.
    """

    name: str
    parameter: str
    values: dict[str, float]


def expand_sweeps(models: Any) -> Any:
    """Replace each model with a `sweep` by one model for each value.  Anything else stays for validation."""
    if not isinstance(models, list):
        return models
    return [one for model in models for one in _expand_sweep(model)]


def _expand_sweep(model: Any) -> Iterator[Any]:
    match model:
        case {"sweep": {**sweep}, "model": str(default_name)} if len(sweep) == 1:
            ((key, values),) = sweep.items()
            params = model.get("params", {})
            if not isinstance(values, list) or not values or not isinstance(params, dict) or key in params:
                yield model
                return
            rest = {name: value for name, value in model.items() if name != "sweep"}
            n_characters = len(values) * len(_shown(rest))
            if n_characters > MAX_CHARACTERS:
                raise ValueError(
                    f"a sweep of {len(values)} values makes {n_characters:,} characters of JSON, and "
                    f"{MAX_CHARACTERS:,} are allowed"
                )
            for value in values:
                name = f"{model.get('name', default_name)}{SEPARATOR}{key} {_shown(value)}"
                yield rest | {"name": name, "params": {**params, key: value}}
        case _:
            yield model


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def expand_train_rows(specs: Sequence[DatasetSpec]) -> list[DatasetSpec]:
    """Replace each data set with several numbers of training rows by one data set for each number."""
    return [one for spec in specs for one in _expand_rows(spec)]


def _expand_rows(spec: DatasetSpec) -> Iterator[DatasetSpec]:
    if not isinstance(spec.train_rows, list):
        yield spec
        return
    for n in spec.train_rows:
        yield spec.model_copy(update={"train_rows": n, "name": f"{spec.name}{SEPARATOR}train_rows {n}"})


def parameter_sweeps(models: Sequence[ModelSpec]) -> list[Sweep]:
    """Groups of models that differ in one number: of a parameter, or of a criterion such as ``"gce(0.5)"``.

    If several parameters are varied, those of the parameter that most models differ in.
    """
    contents = [(spec.name, spec.model, dict(_flat(spec.model_dump(exclude={"name"})))) for spec in models]
    found: dict[tuple[str, ...], list[Sweep]] = {}
    for path in dict.fromkeys(path for *_, content in contents for path in content):
        groups: dict[tuple[str, str], list[tuple[str, str, float]]] = {}
        for name, model, content in contents:
            text, number = _number_of(content.get(path))
            if number is not None:
                rest = json.dumps(sorted((content | {path: text}).items()))
                parameter = f"parameter of {text}" if text else path[-1]
                groups.setdefault((parameter, rest), []).append((name, model, number))
        sweeps = [_sweep(group, parameter) for (parameter, _), group in groups.items() if len(group) > 1]
        names = [sweep.name for sweep in sweeps]
        found[path] = [
            sweep
            if names.count(sweep.name) == 1
            else replace(sweep, name=f"{next(iter(sweep.values))} and others")
            for sweep in sweeps
        ]
    return max(found.values(), key=lambda sweeps: sum(len(sweep.values) for sweep in sweeps), default=[])


def training_size_sweeps(datasets: Sequence[DatasetSpec]) -> list[Sweep]:
    """Groups of data sets that differ in nothing but the number of training rows."""
    groups: dict[str, list[tuple[str, str, float]]] = {}
    for spec in datasets:
        if isinstance(spec.train_rows, int):
            rest = json.dumps(spec.model_dump(exclude={"name", "train_rows"}), sort_keys=True)
            groups.setdefault(rest, []).append((spec.name, spec.name, float(spec.train_rows)))
    return [_sweep(group, "training rows") for group in groups.values() if len(group) > 1]


def _sweep(group: list[tuple[str, str, float]], parameter: str) -> Sweep:
    parts = [name.split(SEPARATOR) for name, *_ in group]
    common = SEPARATOR.join(part for part, *others in zip(*parts, strict=False) if {part} >= set(others))
    values = sorted(((name, value) for name, _, value in group), key=lambda pair: pair[1])
    return Sweep(common or group[0][1], parameter, dict(values))


def _number_of(value: Any) -> tuple[str, float | None]:
    """The number in a value, and the text around it."""
    found = NUMBER_IN_PARENTHESES.fullmatch(value) if isinstance(value, str) else None
    if found is not None:
        with contextlib.suppress(ValueError):
            return found["name"], float(found["number"])
    if is_real(value) and abs(value) < MAX_VALUE:
        return "", float(value)
    return "", None


def _flat(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Values of nested objects by their path, a tuple of keys."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, (*path, str(key)))
    else:
        yield path, value
