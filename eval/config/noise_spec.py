"""Config of noise: a kind, noise rates, and the labels to corrupt."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, ConfigDict, Field, field_validator, model_validator

from ..noise.base import Noise, NoiseOn
from ..noise.class_dependent import ClassConditionalNoise, LabelNoise, PairFlipNoise, UniformNoise
from ..noise.feature_dependent import HIGHEST_MAHALANOBIS_RATE, InstanceDependentNoise, MahalanobisNoise
from ..noise.given import GivenNoise
from .base import Name, Strict

# At rate 0 all kinds of noise are the same.
NO_NOISE = (0.0, UniformNoise(0.0))

MAX_RATES = 1000
_RATES = Field(min_length=1, max_length=MAX_RATES, json_schema_extra={"uniqueItems": True})

Probability = Annotated[float, Field(ge=0, le=1)]


def _schema_of_noise(schema: dict[str, Any], spec: type[_BaseSpec]) -> None:
    schema["required"] = [key for key in schema["required"] if key not in ("name", "noise_on")]
    schema["properties"]["noise_on"]["default"] = spec.noise_class.noise_on


class _BaseSpec(Strict):
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
    model_config = ConfigDict(json_schema_extra=_schema_of_noise)

    kind: str
    name: Name
    noise_on: NoiseOn

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, value: Any) -> Any:
        default = cls.noise_class.noise_on
        other = "train" if default == "train+test" else "train+test"
        details = cls._details(value) + [other] * (value.get("noise_on") == other)
        name = value["kind"] + (f" ({', '.join(details)})" if details else "")
        return {"name": name, "noise_on": default, **value}

    @classmethod
    def _details(cls, value: dict[str, Any]) -> list[str]:
        return []


def _check_distinct(rates: list[float]) -> list[float]:
    """Check that sorted rates differ by more than rounding errors."""
    for low, high in pairwise(rates):
        if np.isclose(low, high):
            raise ValueError(f"has two rates that are too close to each other, {low:g} and {high:.9g}")
    return rates


class _RatesSpec(_BaseSpec):
    """Noise with noise rates.

    Attributes
    ----------
    rates : list of float
        Noise rates: probabilities that a label changes.  The rate 0 is always added.
    """

    rates: Annotated[list[Probability], _RATES]

    @field_validator("rates")
    @classmethod
    def _with_baseline(cls, rates: list[float]) -> list[float]:
        if len(set(rates)) != len(rates):
            raise ValueError("has the same rate twice")
        return _check_distinct(sorted({0.0, *rates}))

    @property
    def noise_by_rate(self) -> list[tuple[float, Noise]]:
        """Noise rates and the noise at each."""
        make: Any = self.noise_class
        return [(rate, make(rate)) if rate else NO_NOISE for rate in self.rates]


class UniformSpec(_RatesSpec):
    """A label changes to any other class, all with the same probability."""

    noise_class = UniformNoise
    kind: Literal["uniform"]


class PairFlipSpec(_RatesSpec):
    """A label changes to the next class in the order of the sorted labels; the last changes to the first."""

    noise_class = PairFlipNoise
    kind: Literal["pair_flip"]


class LabelSpec(_RatesSpec):
    """Noise of the 2020 study: every row drawn gets another label, by default in the test rows too.

    Attributes
    ----------
    rates : list of float
        Shares of the rows that are drawn.  The rate 0 is always added.
    """

    noise_class = LabelNoise
    kind: Literal["label"]


class InstanceDependentSpec(_RatesSpec):
    """A label changes to the most probable other class, more often for rows near the class boundary.

    Attributes
    ----------
    rates : list of float
        Noise rates: mean probabilities over the rows that a label changes.  The rate 0 is always added.
    """

    noise_class = InstanceDependentNoise
    kind: Literal["instance_dependent"]


class MahalanobisSpec(_RatesSpec):
    """Nearby classes are confused more often than distant ones, as in Wilton & Ye.

    Attributes
    ----------
    rates : list of float
        Noise rates in the middle of the range over the classes, by default that of the paper.  The rate 0 is
        always added.
    """

    noise_class = MahalanobisNoise
    kind: Literal["mahalanobis"]
    rates: Annotated[list[Annotated[float, Field(ge=0, le=HIGHEST_MAHALANOBIS_RATE)]], _RATES] = Field(
        default=[0.0, MahalanobisNoise().rate]
    )


def _pair_or_matrix(value: Any) -> Any:
    try:
        ClassConditionalNoise(value)
    except ValueError:
        raise ValueError(
            "must be a pair of probabilities (that a label of the first and of the second class changes), "
            "or a square matrix of probabilities whose rows sum to 1"
        ) from None
    return value


Pair = Annotated[list[Probability], Field(min_length=2, max_length=2)]
Matrix = Annotated[list[Annotated[list[Probability], Field(min_length=2)]], Field(min_length=2)]


class ClassConditionalSpec(_BaseSpec):
    """A label changes with probabilities given by a matrix, or for two classes by a pair.

    Attributes
    ----------
    rates : list
        Matrices with rows that sum to 1: ``T[j][k]`` is the probability that a row of class j gets label k.
        For two classes also pairs such as ``[0.1, 0.3]``: the probabilities that a label of the first and of
        the second class changes.  Tables show the mean noise rate over the classes.  The rate 0 is always
        added.
    """

    noise_class = ClassConditionalNoise
    kind: Literal["class_conditional"]
    rates: list[Annotated[Pair | Matrix, BeforeValidator(_pair_or_matrix)]] = Field(
        min_length=1, max_length=MAX_RATES
    )

    @field_validator("rates")
    @classmethod
    def _check_mean_rates(cls, rates: list[Any]) -> list[Any]:
        means = [_mean_rate(ClassConditionalNoise(rate)) for rate in rates]
        if len(set(means)) != len(means):
            raise ValueError(
                f"has the mean rates {means}, but tables identify rates by their means; "
                "put those with the same mean into separate objects, each with a 'name'"
            )
        _check_distinct(sorted({0.0, *means}))
        return rates

    @property
    def noise_by_rate(self) -> list[tuple[float, Noise]]:
        """Mean noise rates and the noise at each."""
        noises = [ClassConditionalNoise(rate) for rate in self.rates]
        by_mean = {_mean_rate(noise): noise for noise in noises if _mean_rate(noise)}
        return [NO_NOISE, *sorted(by_mean.items())]


def _mean_rate(noise: ClassConditionalNoise) -> float:
    return round(noise.rate, 12)  # (0.1 + 0.7) / 2 is 0.4


class GivenSpec(_BaseSpec):
    """Noisy labels from a column of a file, such as those of real annotators; their error rate is the rate.

    Attributes
    ----------
    path : str
        A CSV or Parquet file with the rows of the data set in the same order.  The config must have a single
        data set.
    column : str
        Column with the noisy labels.
    """

    noise_class = GivenNoise
    kind: Literal["given"]
    path: Name = Field(
        json_schema_extra={"allOf": [{"pattern": r"\.([cC][sS][vV]|[pP][aA][rR][qQ][uU][eE][tT])$"}]}
    )
    column: Name

    @classmethod
    def _details(cls, value: dict[str, Any]) -> list[str]:
        column = value.get("column")
        return [column] if isinstance(column, str) and column.isprintable() else []

    @field_validator("path")
    @classmethod
    def _known_format(cls, path: str) -> str:
        if Path(path).suffix.lower() not in (".csv", ".parquet"):
            raise ValueError("must end in .csv or .parquet")
        return path


NoiseSpec = Annotated[
    UniformSpec
    | ClassConditionalSpec
    | MahalanobisSpec
    | PairFlipSpec
    | InstanceDependentSpec
    | LabelSpec
    | GivenSpec,
    Field(discriminator="kind"),
]
