"""Config of noise: a kind, noise rates, and the labels to corrupt."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np
from pydantic import BeforeValidator, ConfigDict, Field, field_validator, model_validator

from robust_splits.plugins import plugin_names

from ..extensions.references import Reference, name_of
from ..noise.audited import HIGHEST_AUDITED_RATE, AuditedNoise
from ..noise.base import Noise, NoiseOn
from ..noise.class_dependent import (
    HIGHEST_BY_CLASS_RATE,
    ByClassNoise,
    ClassConditionalNoise,
    LabelNoise,
    PairFlipNoise,
    UniformNoise,
)
from ..noise.extension_noise import ExtensionNoise
from ..noise.feature_dependent import (
    HIGHEST_MAHALANOBIS_RATE,
    InstanceDependentNoise,
    MahalanobisNoise,
    RowNoise,
)
from ..noise.function_noise import FunctionNoise
from ..noise.given import GivenNoise
from .base import Name, Strict
from .dataset_spec import DatasetSpec

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
        name = cls._default_name(value) + (f" ({', '.join(details)})" if details else "")
        return {"name": name, "noise_on": default, **value}

    @classmethod
    def _default_name(cls, value: dict[str, Any]) -> str:
        return str(value["kind"])

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
        return [(noise_rate, make(noise_rate)) if noise_rate else NO_NOISE for noise_rate in self.rates]


class UniformSpec(_RatesSpec):
    """A label changes to any other class, all with the same probability."""

    noise_class = UniformNoise
    kind: Literal["uniform"]


class ByClassSpec(_RatesSpec):
    """A label changes to any other class; labels of every second class three times as often.

    Attributes
    ----------
    rates : list of float
        Means of the noise rates of the classes: 0.2 means 0.1 and 0.3 for two classes.  The rate 0 is always
        added.
    """

    noise_class = ByClassNoise
    kind: Literal["by_class"]
    rates: Annotated[list[Annotated[float, Field(ge=0, le=HIGHEST_BY_CLASS_RATE)]], _RATES]


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
        Noise rates: probabilities that a label changes, averaged over the rows.  The rate 0 is always added.
    """

    noise_class = InstanceDependentNoise
    kind: Literal["instance_dependent"]


class ByRowSpec(_RatesSpec):
    """A label changes to any other class, with a probability of its own for each row.

    Attributes
    ----------
    rates : list of float
        Mean noise rates: those of the rows are multiples of the numbers in `rate_column`, which every data set
        must have.  The mean of this column as rate gives its numbers themselves.  The rate 0 is always added.
    """

    noise_class = RowNoise
    kind: Literal["by_row"]


class AuditedSpec(_RatesSpec):
    """More noise like that of the labels themselves, as an audit of the training rows finds it.

    Attributes
    ----------
    rates : list of float
        Noise rates in addition to the wrong labels of the data: shares of the training labels that change.  The
        rate 0, the labels as they are, is always added.
    """

    noise_class = AuditedNoise
    kind: Literal["audited"]
    noise_on: Literal["train"]
    rates: Annotated[list[Annotated[float, Field(ge=0, le=HIGHEST_AUDITED_RATE)]], _RATES]


class MahalanobisSpec(_RatesSpec):
    """Nearby classes are confused more often than distant ones, as in Wilton & Ye.

    Attributes
    ----------
    rates : list of float
        Midpoints between the lowest and the highest noise rate of a class; by default 0.3, as in the paper.
        The rate 0 is always added.
    """

    noise_class = MahalanobisNoise
    kind: Literal["mahalanobis"]
    rates: Annotated[list[Annotated[float, Field(ge=0, le=HIGHEST_MAHALANOBIS_RATE)]], _RATES] = Field(
        default=[0.0, MahalanobisNoise().noise_rate]
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
        means = [_mean_rate(ClassConditionalNoise(matrix)) for matrix in rates]
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
        noises = [ClassConditionalNoise(matrix) for matrix in self.rates]
        by_mean = {_mean_rate(noise): noise for noise in noises if _mean_rate(noise)}
        return [NO_NOISE, *sorted(by_mean.items())]


def _mean_rate(noise: ClassConditionalNoise) -> float:
    return round(noise.noise_rate, 12)  # (0.1 + 0.7) / 2 is 0.4


class GivenSpec(_BaseSpec):
    """Noisy labels of the data sets, such as those of real annotators.

    Attributes
    ----------
    labels : list of str
        Names of noisy labels, which data sets define with `noisy` or `annotators`.  Their noise rate is the
        share of wrong labels, in tables the mean over the data sets that have them.  Several columns of `noisy`
        are one kind of noise with a curve over their rates, if the same data sets have them all.  Otherwise
        each name is a kind of noise of its own.
    rate : float or None
        Noise rate in tables.  Required only if no row has both a noisy label and a true one.  Each of several
        names is then a kind of noise of its own.
    """

    noise_class = GivenNoise
    kind: Literal["given"]
    labels: list[Name] = Field(min_length=1, max_length=100, json_schema_extra={"uniqueItems": True})
    rate: Annotated[float, Field(gt=0, le=1)] | None = None

    @classmethod
    def _details(cls, value: dict[str, Any]) -> list[str]:
        match value.get("labels"):
            case [str(label)] if label.isprintable():
                return [label]
        return []

    @field_validator("labels")
    @classmethod
    def _check_unique(cls, labels: list[str]) -> list[str]:
        if len(set(labels)) < len(labels):
            raise ValueError("must not have duplicates")
        return labels

    def is_curve(self, datasets: Sequence[DatasetSpec]) -> bool:
        """Whether the labels are columns that the same data sets have, and their rates are to be measured."""
        names = set(self.labels)
        having = [spec for spec in datasets if names & set(spec.noisy_names)]
        return self.rate is None and bool(having) and all(names <= set(spec.noisy) for spec in having)

    @property
    def one_by_one(self) -> list[GivenSpec]:
        """A noise object for each of the labels."""
        if len(self.labels) == 1:
            return [self]
        content = self.model_dump(exclude={"name"})
        has_own_name = self.name != GivenSpec.model_validate(content).name
        each = [GivenSpec.model_validate({**content, "labels": [label]}) for label in self.labels]
        if not has_own_name:
            return each
        return [spec.model_copy(update={"name": f"{self.name} ({spec.labels[0]})"}) for spec in each]


def _schema_of_function(schema: dict[str, Any], spec: type[_BaseSpec]) -> None:
    """Offer the kinds of installed packages, which need no `function`."""
    _schema_of_noise(schema, spec)
    added = plugin_names("noise", KINDS)
    if added:
        schema["properties"]["kind"] = {"enum": ["function", *added], "type": "string"}
        schema["required"].remove("function")


class FunctionSpec(_RatesSpec):
    """Noise of an installed package: a function, whose name may also be the kind.

    Attributes
    ----------
    function : str
        Name of the noise.
    params : dict
        Values of the function's own parameters.
    """

    noise_class = FunctionNoise
    model_config = ConfigDict(json_schema_extra=_schema_of_function)
    kind: Literal["function"]
    function: Reference
    params: dict[str, Any] = Field(default={})

    @classmethod
    def _default_name(cls, value: dict[str, Any]) -> str:
        function = value.get("function")
        return name_of(function) if function else value["kind"]

    @classmethod
    def _details(cls, value: dict[str, Any]) -> list[str]:
        params = value.get("params")
        return [f"{key}={item}" for key, item in params.items()] if isinstance(params, dict) else []

    @property
    def noise_by_rate(self) -> list[tuple[float, Noise]]:
        """Noise rates and the noise at each."""
        return [
            (rate, ExtensionNoise(self.function, rate, self.params)) if rate else NO_NOISE
            for rate in self.rates
        ]


def expand_kinds(noise: Any) -> Any:
    """Replace kinds of noise that installed packages define.  Anything else stays for validation."""
    if not isinstance(noise, list):
        return noise
    return [
        {**spec, "kind": "function", "function": spec["kind"]} if _is_plugin(spec) else spec for spec in noise
    ]


def _is_plugin(spec: Any) -> bool:
    kind = spec.get("kind") if isinstance(spec, dict) else None
    return isinstance(kind, str) and "function" not in spec and kind in plugin_names("noise", KINDS)


NoiseSpec = Annotated[
    UniformSpec
    | ByClassSpec
    | ClassConditionalSpec
    | MahalanobisSpec
    | PairFlipSpec
    | InstanceDependentSpec
    | ByRowSpec
    | AuditedSpec
    | LabelSpec
    | GivenSpec
    | FunctionSpec,
    Field(discriminator="kind"),
]
KINDS = [get_args(spec.model_fields["kind"].annotation)[0] for spec in get_args(get_args(NoiseSpec)[0])]


def expand_labels(specs: Sequence[NoiseSpec], datasets: Sequence[DatasetSpec]) -> list[NoiseSpec]:
    """Replace each object of `given` noise whose labels are not one curve with one object per name."""
    return [
        one
        for spec in specs
        for one in (spec.one_by_one if isinstance(spec, GivenSpec) and not spec.is_curve(datasets) else [spec])
    ]
