"""Registry of measures: the single place where a measure is declared.

Config keys, columns of scores and store, axis labels, tables, verdicts and tables of the docs derive from it.
To add a measure, add a function to `measures` and an entry to `SCORED`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike, NDArray

from . import measures, robustness
from .measures import Predictions

MAX_VALUE = 1e100  # keeps sums and quotients finite
BASE = "{measure}"  # stands for the label of the measure that a robustness metric is computed from


@dataclass(frozen=True)
class Measure:
    """A measure of a cell, or a robustness metric computed from one.

    Attributes
    ----------
    name : str
        Column of the scores, and the name in configs.
    label : str
        Axis label; the part after the first comma is an explanation.  ``{measure}`` is replaced with the label
        of the measure that a robustness metric is computed from.
    minimum, maximum : float
        Range of valid values.
    higher_is_better : bool
    score : callable or None
        Computes the measure from `Predictions`, or returns None if the model has no such value.
    paired : callable or None
        Computes a robustness metric from A_v and A_0.
    hint : str
        How to read the values, for titles of tables.
    """

    name: str
    label: str
    minimum: float = 0.0
    maximum: float = MAX_VALUE
    higher_is_better: bool = False
    score: Callable[[Predictions], float | None] | None = None
    paired: Callable[[ArrayLike, ArrayLike], NDArray[Any]] | None = None
    hint: str = ""

    @property
    def is_accuracy(self) -> bool:
        """Whether 1 is the best and 0 the worst value, so that the measure can replace accuracy."""
        return self.higher_is_better and (self.minimum, self.maximum) == (0.0, 1.0)


def _share(name: str, label: str, score: Callable[[Predictions], float | None]) -> Measure:
    return Measure(name, label, 0.0, 1.0, higher_is_better=True, score=score)


SCORED = (
    _share("accuracy", "accuracy", measures.accuracy),
    _share("balanced_accuracy", "balanced accuracy", measures.balanced_accuracy),
    _share("macro_f1", "macro F1", measures.macro_f1),
    _share("roc_auc", "ROC AUC", measures.roc_auc),
    Measure("log_loss", "log loss", score=measures.log_loss),
    Measure("brier_score", "Brier score", maximum=2.0, score=measures.brier_score),
    Measure("calibration_error", "expected calibration error", maximum=1.0, score=measures.calibration_error),
    Measure("leaves", "leaves of a tree", minimum=1.0, score=measures.leaves),
    Measure("depth", "depth of a tree", score=measures.depth),
)
TIMED = (
    Measure("fit_seconds", "seconds to fit"),
    Measure("predict_seconds", "seconds to predict"),
)
ROBUSTNESS = (
    Measure("ela", f"ELA, equalised loss of {BASE}", paired=robustness.ela, hint="the lower, the more robust"),
    Measure(
        "rla",
        f"RLA, relative loss of {BASE}",
        -MAX_VALUE,
        paired=robustness.rla,
        hint="the lower, the less was lost",
    ),
    Measure(
        "retention",
        f"retention, share of {BASE} that is kept",
        higher_is_better=True,
        paired=robustness.retention,
    ),
    Measure(
        "area_under_ela",
        f"area under the curve of ELA, equalised loss of {BASE}",
        hint="the lower, the more robust",
    ),
)

TREE_SIZES = ("leaves", "depth")
# Users' metrics join both; see `register`.  The names are views, which have theirs too.
OF_CELLS = {measure.name: measure for measure in (*SCORED, *TIMED)}
REGISTRY = OF_CELLS | {measure.name: measure for measure in ROBUSTNESS}
MEASURES = OF_CELLS.keys()
METRICS = REGISTRY.keys()
BUILT_IN, BUILT_IN_MEASURES = tuple(REGISTRY), tuple(OF_CELLS)
# Columns of scores and tables beside the measures.
RESERVED = frozenset(
    """
    baseline correct_rows dataset error high low model noise_kind noise_on noise_rate noisy_labels rank repeat
    repeats setting std test_labels
    """.split()  # noqa: SIM905 - a list of words
)
PAIRED = {measure.name: measure.paired for measure in ROBUSTNESS if measure.paired is not None}
# Measures that can replace accuracy in the robustness metrics.
ACCURACIES = tuple(measure.name for measure in SCORED if measure.is_accuracy)
# Ranges of the score columns, in the order of the store.  realised_rate is the share of changed training
# labels.
RANGES = (
    {measure.name: (measure.minimum, measure.maximum) for measure in SCORED}
    | {"realised_rate": (0.0, 1.0)}
    | {measure.name: (measure.minimum, measure.maximum) for measure in TIMED}
)


def measure(predictions: Predictions) -> dict[str, float | None]:
    """Measure the predictions of a fitted classifier on test rows.

    Returns
    -------
    dict of str to float or None
        Each measure of `SCORED`; None if the model has no such value.

    Raises
    ------
    ValueError
        If the model returns labels that are not in the training labels, scores of the wrong shape, NaN or
        infinity.
    """
    return {entry.name: entry.score(predictions) for entry in SCORED if entry.score is not None}


def register(metric: Measure) -> None:
    """Add a user's metric to the measures of cells; it replaces one of the same name.

    Raises
    ------
    ValueError
        If a measure of this project has the name.
    """
    if metric.name in BUILT_IN:
        raise ValueError(f"a metric must not be named {metric.name!r}, which is a measure of this project")
    if metric.name in RESERVED or metric.name in RANGES:
        raise ValueError(f"a metric must not be named {metric.name!r}, which is a column of the scores")
    OF_CELLS[metric.name] = REGISTRY[metric.name] = metric


def check_metric(metric: str) -> None:
    """Raise a ValueError if the metric is unknown."""
    if metric not in REGISTRY:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")


def higher_is_better(metric: str) -> bool:
    """Whether higher values of a metric are better.  For losses, tree sizes and seconds, lower ones are.

    Parameters
    ----------
    metric : str
        See `per_repeat`.

    Raises
    ------
    ValueError
        If the metric is unknown.
    """
    check_metric(metric)
    return REGISTRY[metric].higher_is_better


def label_of(metric: str, measure: str = "accuracy", *, estimated: bool = False) -> str:
    """Axis label of a metric.

    Parameters
    ----------
    metric : str
    measure : str, default="accuracy"
        Measure that a robustness metric is computed from.
    estimated : bool, default=False
        Whether right labels are estimated, so that the measures computed from them are.
    """
    return _estimated(metric, estimated) + REGISTRY[metric].label.replace(
        BASE, _estimated(measure, estimated) + REGISTRY[measure].label
    )


def short_label_of(metric: str, measure: str = "accuracy", *, estimated: bool = False) -> str:
    """Axis label without its explanation, for titles; see `label_of`."""
    label, of = REGISTRY[metric].label, _estimated(measure, estimated) + REGISTRY[measure].label
    name = _estimated(metric, estimated) + label.split(",")[0].replace(BASE, of)
    return name if BASE not in label or of == "accuracy" else f"{name} of {of}"


def _estimated(metric: str, estimated: bool) -> str:
    is_of_labels = REGISTRY[metric].score is not None and metric not in TREE_SIZES
    return "estimated " if estimated and is_of_labels else ""
