"""What a config says about noise: a kind, how much of it, and which labels it is put into."""

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

# At the rate 0 no kind changes anything.
NO_NOISE = (0.0, UniformNoise(0.0))

MAX_RATES = 1000
LIST_OF_RATES: Any = {"min_length": 1, "max_length": MAX_RATES, "json_schema_extra": {"uniqueItems": True}}

Probability = Annotated[float, Field(ge=0, le=1)]


def _schema_of_noise(schema: dict[str, Any], spec: type[_BaseSpec]) -> None:
    schema["required"] = [key for key in schema["required"] if key not in ("name", "noise_on")]
    schema["properties"]["noise_on"]["default"] = spec.makes.noise_on


class _BaseSpec(Strict):
    """What all kinds have.

    Attributes
    ----------
    kind : str
        What becomes of the labels.
    noise_on : {"train", "train+test"}
        Which labels are corrupted; by default, ``label`` corrupts those of test rows as well.
    name : str
        What tables and pictures call it; by default the kind, with what else tells it from others of that kind.
    """

    makes: ClassVar[type[Noise]]
    model_config = ConfigDict(json_schema_extra=_schema_of_noise)

    kind: str
    name: Name
    noise_on: NoiseOn

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, value: Any) -> Any:
        usual = cls.makes.noise_on
        unusual = "train" if usual == "train+test" else "train+test"
        details = cls._details(value) + [unusual] * (value.get("noise_on") == unusual)
        name = value["kind"] + (f" ({', '.join(details)})" if details else "")
        return {"name": name, "noise_on": usual, **value}

    @classmethod
    def _details(cls, value: dict[str, Any]) -> list[str]:
        return []


def _distinct(rates: list[float]) -> list[float]:
    """Check that sorted rates differ by more than rounding may."""
    for low, high in pairwise(rates):
        if np.isclose(low, high):
            raise ValueError(f"holds rates that are too close to be told apart, {low:g} and {high:.9g}")
    return rates


class _RatesSpec(_BaseSpec):
    """A kind with a rate.

    Attributes
    ----------
    rates : list of float
        How likely a label is to change; the rate 0 is always run as well.
    """

    rates: list[Probability] = Field(
        min_length=1, max_length=MAX_RATES, json_schema_extra={"uniqueItems": True}
    )

    @field_validator("rates")
    @classmethod
    def _with_baseline(cls, rates: list[float]) -> list[float]:
        if len(set(rates)) != len(rates):
            raise ValueError("holds a rate twice")
        return _distinct(sorted({0.0, *rates}))

    @property
    def noise_by_rate(self) -> list[tuple[float, Noise]]:
        """The rates and the noise of each."""
        make: Any = self.makes
        return [(rate, make(rate)) if rate else NO_NOISE for rate in self.rates]


class UniformSpec(_RatesSpec):
    """Any other class, all equally likely."""

    makes = UniformNoise
    kind: Literal["uniform"]


class PairFlipSpec(_RatesSpec):
    """The next class, in the order of the sorted labels; the last becomes the first."""

    makes = PairFlipNoise
    kind: Literal["pair_flip"]


class LabelSpec(_RatesSpec):
    """The draws of the 2020 study, by default on test labels too.

    Attributes
    ----------
    rates : list of float
        Shares of the rows that are drawn; the rate 0 is always run as well.
    """

    makes = LabelNoise
    kind: Literal["label"]


class InstanceDependentSpec(_RatesSpec):
    """The likeliest other class; the nearer a row is to the boundary between classes, the more often.

    Attributes
    ----------
    rates : list of float
        How likely a label is to change, on average over the rows; the rate 0 is always run as well.
    """

    makes = InstanceDependentNoise
    kind: Literal["instance_dependent"]


class MahalanobisSpec(_RatesSpec):
    """Classes that are near one another are confused more often, as Wilton & Ye do.

    Attributes
    ----------
    rates : list of float
        The middle of the classes' rates, by default that of the paper; the rate 0 is always run as well.
    """

    makes = MahalanobisNoise
    kind: Literal["mahalanobis"]
    rates: list[Annotated[float, Field(ge=0, le=HIGHEST_MAHALANOBIS_RATE)]] = Field(
        default=[0.0, MahalanobisNoise().rate],
        min_length=1,
        max_length=MAX_RATES,
        json_schema_extra={"uniqueItems": True},
    )


def _pair_or_matrix(value: Any) -> Any:
    try:
        ClassConditionalNoise(value)
    except ValueError:
        raise ValueError(
            "must be a pair of probabilities (how often labels of the first and of the second class are wrong) "
            "or a square matrix of them whose rows sum to 1"
        ) from None
    return value


Pair = Annotated[list[Probability], Field(min_length=2, max_length=2)]
Matrix = Annotated[list[Annotated[list[Probability], Field(min_length=2)]], Field(min_length=2)]


class ClassConditionalSpec(_BaseSpec):
    """As a matrix says, or a pair of rates.

    Attributes
    ----------
    rates : list
        Matrices, ``T[j][k]`` the probability that a row of class j is labelled k, whose rows sum to 1; or, for
        two classes, pairs such as ``[0.1, 0.3]``: how likely labels of the first and of the second class are to
        be wrong.  Tables show the mean over the classes; no noise is always run as well.
    """

    makes = ClassConditionalNoise
    kind: Literal["class_conditional"]
    rates: list[Annotated[Pair | Matrix, BeforeValidator(_pair_or_matrix)]] = Field(
        min_length=1, max_length=MAX_RATES
    )

    @field_validator("rates")
    @classmethod
    def _can_be_told_apart(cls, rates: list[Any]) -> list[Any]:
        means = [_mean_rate(ClassConditionalNoise(rate)) for rate in rates]
        if len(set(means)) != len(means):
            raise ValueError(
                f"tables tell rates apart by their means, but these are {means}; "
                "make an object with a name for each of those that are the same"
            )
        _distinct(sorted({0.0, *means}))
        return rates

    @property
    def noise_by_rate(self) -> list[tuple[float, Noise]]:
        """The mean rates and the noise of each."""
        noises = [ClassConditionalNoise(rate) for rate in self.rates]
        by_mean = {_mean_rate(noise): noise for noise in noises if _mean_rate(noise)}
        return [NO_NOISE, *sorted(by_mean.items())]


def _mean_rate(noise: ClassConditionalNoise) -> float:
    return round(noise.rate, 12)  # (0.1 + 0.7) / 2 is 0.4


class GivenSpec(_BaseSpec):
    """Those of real annotators, from a column of a file; its rate is the share of wrong labels that it has.

    Attributes
    ----------
    path : str
        A CSV or Parquet file, whose rows are those of the only data set, in the same order.
    column : str
        The column that holds the noisy labels.
    """

    makes = GivenNoise
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
