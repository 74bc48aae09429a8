"""Config of noise: a kind, noise rates, and the labels to corrupt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, field_validator

from robust_splits.plugins import plugin_names

from ..errors import suggest
from ..noise.audited import HIGHEST_AUDITED_RATE, AuditedNoise
from ..noise.base import Noise
from ..noise.class_dependent import (
    HIGHEST_BY_CLASS_RATE,
    ByClassNoise,
    ClassConditionalNoise,
    LabelNoise,
    PairFlipNoise,
    UniformNoise,
)
from ..noise.feature_dependent import (
    HIGHEST_MAHALANOBIS_RATE,
    InstanceDependentNoise,
    MahalanobisNoise,
    RowNoise,
)
from ..noise.given import GivenNoise
from .base import Name
from .dataset_spec import DatasetSpec
from .function_noise_spec import FunctionSpec
from .noise_base import MAX_RATES, NO_NOISE, RATES, NoiseBase, Probability, RatesBase, check_distinct


class UniformSpec(RatesBase):
    """A label changes to any other class, all with the same probability."""

    noise_class = UniformNoise
    kind: Literal["uniform"]


class ByClassSpec(RatesBase):
    """A label changes to any other class; labels of every second class three times as often.

    Attributes
    ----------
    rates : list of float
        Means of the noise rates of the classes: 0.2 means 0.1 and 0.3 for two classes.  The rate 0 is always
        added.
    """

    noise_class = ByClassNoise
    kind: Literal["by_class"]
    rates: Annotated[list[Annotated[float, Field(ge=0, le=HIGHEST_BY_CLASS_RATE)]], RATES]


class PairFlipSpec(RatesBase):
    """A label changes to the next class in the order of the sorted labels; the last changes to the first."""

    noise_class = PairFlipNoise
    kind: Literal["pair_flip"]


class LabelSpec(RatesBase):
    """Noise of the 2020 study: every row drawn gets another label, by default in the test rows too.

    Attributes
    ----------
    rates : list of float
        Shares of the rows that are drawn.  The rate 0 is always added.
    """

    noise_class = LabelNoise
    kind: Literal["label"]


class InstanceDependentSpec(RatesBase):
    """A label changes to the most probable other class, more often for rows near the class boundary.

    Attributes
    ----------
    rates : list of float
        Noise rates: probabilities that a label changes, averaged over the rows.  The rate 0 is always added.
    """

    noise_class = InstanceDependentNoise
    kind: Literal["instance_dependent"]


class ByRowSpec(RatesBase):
    """A label changes to any other class, with a probability of its own for each row.

    Attributes
    ----------
    rates : list of float
        Mean noise rates: those of the rows are multiples of the numbers in `rate_column`, which every data set
        must have.  The mean of this column as rate gives its numbers themselves.  The rate 0 is always added.
    """

    noise_class = RowNoise
    kind: Literal["by_row"]


class AuditedSpec(RatesBase):
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
    rates: Annotated[list[Annotated[float, Field(ge=0, le=HIGHEST_AUDITED_RATE)]], RATES]


class MahalanobisSpec(RatesBase):
    """Nearby classes are confused more often than distant ones, as in Wilton & Ye.

    Attributes
    ----------
    rates : list of float
        Midpoints between the lowest and the highest noise rate of a class; by default 0.3, as in the paper.
        The rate 0 is always added.
    """

    noise_class = MahalanobisNoise
    kind: Literal["mahalanobis"]
    rates: Annotated[list[Annotated[float, Field(ge=0, le=HIGHEST_MAHALANOBIS_RATE)]], RATES] = Field(
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


class ClassConditionalSpec(NoiseBase):
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
        check_distinct(sorted({0.0, *means}))
        return rates

    @property
    def noise_by_rate(self) -> list[tuple[float, Noise]]:
        """Mean noise rates and the noise at each."""
        noises = [ClassConditionalNoise(matrix) for matrix in self.rates]
        by_mean = {_mean_rate(noise): noise for noise in noises if _mean_rate(noise)}
        return [NO_NOISE, *sorted(by_mean.items())]


def _mean_rate(noise: ClassConditionalNoise) -> float:
    return round(noise.noise_rate, 12)  # (0.1 + 0.7) / 2 is 0.4


class GivenSpec(NoiseBase):
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


def expand_kinds(noise: Any) -> Any:
    """Replace kinds of noise that installed packages define.  Anything else stays for validation."""
    return [_expand_kind(spec) for spec in noise] if isinstance(noise, list) else noise


def _expand_kind(spec: Any) -> Any:
    kind = spec.get("kind") if isinstance(spec, dict) else None
    if not isinstance(kind, str) or kind in KINDS:
        return spec
    added = plugin_names("noise", KINDS)
    if kind in added:
        return {**spec, "kind": "function", "function": kind}
    if hint := suggest(kind, added):
        raise ValueError(f"unknown kind {kind[:100]!r}{hint}")
    return spec


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
