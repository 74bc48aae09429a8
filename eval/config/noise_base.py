"""Keys of all kinds of noise in a config, and of those with noise rates."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import ConfigDict, Field, field_validator, model_validator

from ..noise.base import Noise, NoiseOn
from ..noise.class_dependent import UniformNoise
from .base import Name, Strict

# At rate 0 all kinds of noise are the same.
NO_NOISE = (0.0, UniformNoise(0.0))

MAX_RATES = 1000
RATES = Field(min_length=1, max_length=MAX_RATES, json_schema_extra={"uniqueItems": True})

Probability = Annotated[float, Field(ge=0, le=1)]


def schema_of_noise(schema: dict[str, Any], spec: type[NoiseBase]) -> None:
    """Adapt the JSON Schema of a kind of noise: keys with a default that depends on it are not required."""
    schema["required"] = [key for key in schema["required"] if key not in ("name", "noise_on")]
    schema["properties"]["noise_on"]["default"] = spec.noise_class.noise_on


class NoiseBase(Strict):
    """Keys of all kinds of noise.

    Attributes
    ----------
    kind : str
        Kind of noise.
    noise_on : {"train", "train+test"}
        Labels to corrupt.  The default is ``train``, and ``train+test`` for ``label`` noise.
    name : str
        Name in tables and figures; by default the kind, followed by non-default settings.
    """

    noise_class: ClassVar[type[Noise]]
    model_config = ConfigDict(json_schema_extra=schema_of_noise)

    kind: str
    name: Name
    noise_on: NoiseOn

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, value: Any) -> Any:
        default = cls.noise_class.noise_on
        other = "train" if default == "train+test" else "train+test"
        details = cls._details(value) + [other] * (value.get("noise_on") == other)
        name = cls._default_name(value) + (f" ({', '.join(details)})" if details else "")
        return {"name": name, "noise_on": default, **value}

    @classmethod
    def _default_name(cls, value: dict[str, Any]) -> str:
        return str(value["kind"])

    @classmethod
    def _details(cls, value: dict[str, Any]) -> list[str]:
        return []


def check_distinct(rates: list[float]) -> list[float]:
    """Check that sorted rates differ by more than rounding errors."""
    for low, high in pairwise(rates):
        if np.isclose(low, high):
            raise ValueError(f"has two rates that are too close to each other, {low:g} and {high:.9g}")
    return rates


class RatesBase(NoiseBase):
    """Noise with noise rates.

    Attributes
    ----------
    rates : list of float
        Noise rates: probabilities that a label changes.  The rate 0 is always added.
    """

    rates: Annotated[list[Probability], RATES]

    @field_validator("rates")
    @classmethod
    def _with_baseline(cls, rates: list[float]) -> list[float]:
        if len(set(rates)) != len(rates):
            raise ValueError("has the same rate twice")
        return check_distinct(sorted({0.0, *rates}))

    @property
    def noise_by_rate(self) -> list[tuple[float, Noise]]:
        """Noise rates and the noise at each."""
        make: Any = self.noise_class
        return [(noise_rate, make(noise_rate)) if noise_rate else NO_NOISE for noise_rate in self.rates]
