"""The passes for Dask collections: parameters are chosen on a sample, and labels judged part by part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import LabelEncoder

from robust_splits.label_noise.clean_posterior import (
    Calibration,
    CleanPosterior,
    estimate_clean_posterior,
    without_negligible,
)
from robust_splits.label_noise.folds import integer_seed

from ..label_noise.dask_rows import DaskRows, Sample
from ..label_noise.judges import combine_out_of_bag, fit_judges, predict_unseen
from ..losses.softmax import Floats
from ..objectives.hooks import Objective
from .auto_parameters import AutoParameters
from .passes import Training, prepare_training
from .target import Probabilities, Target
from .weights import combine_weights, weigh_soft_labels

SAMPLED_ROWS = 100_000  # on which labels are judged first, and parameters chosen


@dataclass
class Judge:
    """Judges the labels of a sample as `judge_labels` does, and then those of other rows.

    Attributes
    ----------
    forests : list
        They have not seen the other rows, so all their trees judge these.
    calibration : Calibration or None
        None before a first pass, and if the features do not distinguish the classes.
    soft_labels : float32 array of shape (m, K) or None
        Soft labels of the sample.
    """

    forests: list[Any] = field(default_factory=list)
    calibration: Calibration | None = None
    soft_labels: Probabilities | None = None

    def __call__(
        self, X: Any, codes: NDArray[np.int64], weight: Floats | None, groups: None, **options: Any
    ) -> CleanPosterior:
        """Posterior of the clean labels of a sample; see `judge_labels`."""
        forests = list(fit_judges(X, codes, weight, groups, **options))
        found = estimate_clean_posterior(codes, combine_out_of_bag(forests, codes, weight), weight)
        self.forests = [forest.set_params(n_jobs=1) for forest in forests]  # parts are judged side by side
        self.calibration, self.soft_labels = found.calibration, found.soft_labels().astype(np.float32)
        return found

    def judge_others(self, X: Any, codes: NDArray[np.int64]) -> Floats:
        """Soft labels of rows that are not in the sample, shape (n, K)."""
        assert self.calibration is not None  # noqa: S101 - for the type checker
        return without_negligible(self.calibration.posterior(codes, predict_unseen(self.forests, X)))


@dataclass(frozen=True)
class DaskTraining:
    """Labels and weights of all rows, part by part, and what was found on the sample.

    Attributes
    ----------
    drawn : Sample
    sample : Training
        Labels, weights and parameters for the sample.
    judge : future or None
        Kept, because a part is judged again if its worker is lost.
    labels : list of futures
        Class numbers of shape (n,) or, if those of the sample are soft, float32 soft labels of shape (n, K).
    weights : list of futures or None
    """

    drawn: Sample
    sample: Training
    judge: Any
    labels: list[Any]
    weights: list[Any] | None

    @property
    def is_soft(self) -> bool:
        """Whether the labels are soft."""
        return self.sample.target.probabilities is not None

    def positive_shares(self, rows: DaskRows) -> list[Any]:
        """Futures of the probabilities of class 1, if there are soft labels of two classes."""
        futures: list[Any] = rows.client.map(_positive_share, self.labels, pure=False)
        return futures

    def class_totals(self, rows: DaskRows) -> Floats:
        """Sum of the weights of each class, shape (K,)."""
        n_classes = len(rows.encoder.classes_)
        weights = [None] * len(self.labels) if self.weights is None else self.weights
        totals = rows.client.map(_class_totals, self.labels, weights, n_classes=n_classes, pure=False)
        found: Floats = np.sum(rows.client.gather(totals), axis=0)
        return found


def prepare_dask_training(
    estimator: Any,
    auto: AutoParameters,
    objective: Objective,
    rows: DaskRows,
    *,
    stops_early: bool,
) -> DaskTraining:
    """Judge the labels and choose the structure on a sample, then judge all labels part by part.

    With up to `SAMPLED_ROWS` rows the sample is all of them, and everything is as on one machine.

    Parameters
    ----------
    estimator, auto, objective, stops_early
        As in `prepare_training`.
    rows : DaskRows
    """
    drawn = rows.sample(SAMPLED_ROWS, integer_seed(estimator.random_state))
    arguments = {"sample_weight": drawn.counted_weight, "groups": None}
    judge = Judge()
    training = prepare_training(
        estimator,
        auto,
        objective,
        drawn.X,
        Target(rows.encoder, drawn.codes),
        arguments,
        stops_early=stops_early,
        judge=judge,
    )
    sampled, shared = None, None
    soft: list[Any] = [None] * len(rows.lengths)
    if training.target.probabilities is not None:
        sampled, shared, soft = judge_parts(judge, rows, drawn)
    weighting = {
        "class_weight": weights_of_classes(estimator.class_weight, rows.encoder, drawn, judge),
        "scale_pos_weight": objective.scale_pos_weight,
        "encoder": rows.encoder,
    }
    # Weights may have been scaled, by a factor that is estimated on the sample.
    weight = _weigh(drawn.X, drawn.codes, drawn.weight, sampled, **weighting)[1]
    scale = 1.0
    if weight is not None and training.weight is not None:
        scale = training.weight.sum() / np.sum(weight if drawn.counts is None else weight * drawn.counts)
    weighted = rows.map(_weigh, soft, **weighting, scale=scale)
    labels, weights = (rows.client.map(_item, weighted, index=i, pure=False) for i in (0, 1))
    return DaskTraining(drawn, training, shared, labels, None if weight is None else weights)


def judge_parts(judge: Judge, rows: DaskRows, drawn: Sample) -> tuple[Probabilities, Any, list[Any]]:
    """Judge the labels of all parts.

    Returns
    -------
    sampled : float32 array of shape (m, K)
        Soft labels of the sample; the given ones if the features do not distinguish the classes.
    shared : future
        The judge; keep it as long as the parts, since a part is judged again if its worker is lost.
    soft : list of futures
        Soft labels of each part, float32 arrays of shape (n, K).
    """
    sampled = judge.soft_labels
    if sampled is None:
        sampled = np.eye(len(rows.encoder.classes_), dtype=np.float32)[drawn.codes]
    shared = rows.share(Judge(judge.forests, judge.calibration))
    known = np.split(sampled, np.cumsum([positions.size for positions in drawn.positions])[:-1])
    return sampled, shared, rows.map(_judge_part, drawn.positions, known, judge=shared)


def _judge_part(
    X: Any,
    codes: NDArray[np.int64],
    weight: Any,
    positions: NDArray[np.int64],
    known: Probabilities,
    *,
    judge: Judge,
) -> Probabilities:
    """Soft labels of a part; those at `positions`, of sampled rows, are known from out-of-bag predictions."""
    p = np.zeros((codes.size, known.shape[1]), dtype=np.float32)
    p[positions] = known
    others = np.setdiff1d(np.arange(codes.size), positions, assume_unique=True)
    if others.size and judge.calibration is None:
        p[others, codes[others]] = 1.0
    elif others.size:
        p[others] = judge.judge_others(X.iloc[others] if hasattr(X, "iloc") else X[others], codes[others])
    return p


def weights_of_classes(class_weight: Any, encoder: LabelEncoder, drawn: Sample, judge: Judge) -> Any:
    """Weights of classes, those that are "balanced" from the shares of the classes in the sample."""
    if class_weight != "balanced":
        return class_weight
    n_classes = len(encoder.classes_)
    soft = np.eye(n_classes)[drawn.codes] if judge.soft_labels is None else judge.soft_labels
    shares = np.average(soft, axis=0, weights=drawn.counts)
    balanced = 1 / (n_classes * np.maximum(shares, 1e-300))
    return dict(zip(encoder.classes_.tolist(), balanced.tolist(), strict=True))


def _weigh(
    X: Any,
    codes: NDArray[np.int64],
    weight: Any,
    soft: Probabilities | None,
    *,
    class_weight: Any,
    scale_pos_weight: float,
    encoder: LabelEncoder,
    scale: float = 1.0,
) -> tuple[Any, Floats | None]:
    """Labels of a part and their weights times `scale`, as `prepare_training` returns those of all rows."""
    target = Target(encoder, codes, soft)
    if weight is not None and not np.any(weight):  # an error only for all rows
        return target.given, np.zeros(codes.size)
    if soft is None:
        weight = combine_weights(target.labels, weight, class_weight)
    else:
        target, weight = weigh_soft_labels(target, weight, class_weight, scale_pos_weight)
    return target.given, None if weight is None else weight * scale


def _class_totals(labels: NDArray[Any], weight: Floats | None, n_classes: int) -> Floats:
    if labels.ndim == 1:
        return np.bincount(labels, weights=weight, minlength=n_classes).astype(np.float64)
    totals: Floats = labels.sum(axis=0, dtype=np.float64) if weight is None else weight @ labels
    return totals


def _positive_share(soft: Probabilities) -> Probabilities:
    return soft[:, 1]


def _item(pair: tuple[Any, Any], index: int) -> Any:
    return pair[index]
