"""Describe kinds of noise for a config: names, rates, noise objects and functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robust_splits.plugins import plugin_names

from .._numbers import is_real
from ..config.noise_spec import KINDS
from ..extensions import own_objects
from ..noise.audited import AuditedNoise
from ..noise.base import Noise
from ..noise.class_dependent import (
    ByClassNoise,
    ClassConditionalNoise,
    LabelNoise,
    PairFlipNoise,
    UniformNoise,
)
from ..noise.feature_dependent import InstanceDependentNoise, MahalanobisNoise
from ..noise.function_noise import FunctionNoise

RATES = [0.0, 0.1, 0.2, 0.3, 0.4]
KINDS_WITH_USUAL_RATES = ("uniform", "by_class", "pair_flip", "instance_dependent", "label")
# Classes that their kind and noise rate describe.
WITH_RATE = (
    AuditedNoise,
    ByClassNoise,
    InstanceDependentNoise,
    LabelNoise,
    MahalanobisNoise,
    PairFlipNoise,
    UniformNoise,
)


def describe_noise(noise: Any) -> list[dict[str, Any]]:
    """Noise objects of a config.

    Parameters
    ----------
    noise : str, number, Noise, callable, mapping or list
        See `compare`.

    Raises
    ------
    ConfigError
        If a function cannot be sent to other processes.
    TypeError
        If a part has another type.
    """
    if isinstance(noise, Mapping):
        items = [noise] if "kind" in noise else [{"kind": kind, "rates": noise[kind]} for kind in noise]
    else:
        items = list(noise) if isinstance(noise, list | tuple | np.ndarray) else [noise]
    if items and all(is_real(item) for item in items):
        items = [{"kind": "uniform", "rates": items}]
    return _with_joined_rates([_describe(item, f"noise[{i}]") for i, item in enumerate(items)])


def _describe(noise: Any, context: str) -> dict[str, Any]:
    match noise:
        case str():
            has_rates = noise in KINDS_WITH_USUAL_RATES or noise in plugin_names("noise", KINDS)
            return {"kind": noise} | ({"rates": RATES} if has_rates else {})
        case Mapping():
            return _from_mapping(dict(noise), context)
        case FunctionNoise():
            spec = {"kind": noise.function, "rates": [noise.noise_rate], "params": dict(noise.params)}
            return _from_mapping(spec, context)
        case ClassConditionalNoise():
            return {"kind": noise.kind, "rates": [np.asarray(noise.T).tolist()]}
        case Noise() if isinstance(noise, WITH_RATE):
            return {"kind": noise.kind, "rates": [noise.noise_rate]}
        case _ if callable(noise) and not isinstance(noise, type):
            return _from_mapping({"kind": noise, "rates": RATES}, context)
    raise TypeError(
        f"{context} must be a kind of noise, a rate, an object like UniformNoise(0.3), a function or a dict, "
        f"got {noise!r:.60}"
    )


def _from_mapping(spec: dict[str, Any], context: str) -> dict[str, Any]:
    rates = spec.get("rates")
    if is_real(rates):
        rates = [rates]
    if isinstance(rates, list | tuple | np.ndarray):
        # Rounding makes 3 * 0.1 the rate 0.3.
        spec["rates"] = [round(float(item), 12) if is_real(item) else item for item in rates]
    if callable(spec.get("kind")):
        spec |= {"kind": "function", "function": own_objects.register(spec["kind"], context)}
    return spec


def _with_joined_rates(specs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join objects that differ in their rates alone, such as those of several `UniformNoise`."""
    joined: list[dict[str, Any]] = []
    for spec in specs:
        rest = {key: value for key, value in spec.items() if key != "rates"}
        same = (one for one in joined if {key: one[key] for key in one if key != "rates"} == rest)
        other = next(same, None)
        if other is None or not isinstance(spec.get("rates"), list):
            joined.append(spec)
        else:
            other["rates"] = [*other["rates"], *(rate for rate in spec["rates"] if rate not in other["rates"])]
    return joined
