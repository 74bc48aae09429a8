"""Scores of models on clean labels, from an audit of noisy ones."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boostnoise.label_noise.costs import check_costs

from .._numbers import check_fraction
from .._wording import numbered, percent
from ..clean_labels.checked_sample import CheckedSample
from ..clean_labels.measures import (
    BY_CLASS,
    OF_ALL,
    OF_PROBABILITIES,
    Linearised,
    Measure,
    Predicted,
    expected_cost,
)
from ..clean_labels.prediction_powered import MIN_DRAWN, MORE_ROWS, Estimate, PredictionPowered
from ..clean_labels.without_checked_rows import Scenarios
from ..errors import printable
from ..metrics.registry import REGISTRY
from .predictions import read_places, read_predictions

if TYPE_CHECKING:
    from .estimates import AuditEstimates

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

CONFIDENCE = 0.95
SHOWN_DIFFERENCES = 10
COMPARED = "accuracy"  # the measure of differences
COST = "expected cost"
UNBOUNDED = ("log_loss", COST)


@dataclass(frozen=True, eq=False, repr=False)
class CleanScores:
    """Scores of models on clean labels, with intervals.

    Printed, they are a summary.

    Attributes
    ----------
    scores : DataFrame
        One row per model and measure: ``model``, ``measure``, ``estimate``, ``low`` and ``high`` on clean
        labels, and ``on_given_labels``.  Models without probabilities have no ROC AUC and log loss.
    by_class : DataFrame
        The same for ``recall`` and ``precision`` of each class, with the column ``class``.
    differences : DataFrame
        Accuracy of ``model`` minus that of ``other`` on the same rows: ``estimate``, ``low``, ``high``.
    confusion : dict of str to DataFrame
        For each model the expected share of rows of each class (index) and prediction (column).
    n_rows : int
        Number of rows that were scored.
    n_checked : int
        Checked rows among them.
    uses_checked_rows : bool
        Whether the intervals rest on checked rows; otherwise on what noise is proven and possible.
    confidence : float
        Of the intervals.
    outlook : tuple of int and float, or None
        A number of further checked rows, and half the width that the widest interval of an accuracy would have
        with them.
    """

    scores: pd.DataFrame
    by_class: pd.DataFrame
    differences: pd.DataFrame
    confusion: dict[str, pd.DataFrame]
    n_rows: int
    n_checked: int
    uses_checked_rows: bool
    confidence: float
    outlook: tuple[int, float] | None

    def __repr__(self) -> str:
        differences = "\n".join(self.difference_sentences())
        return "\n\n".join([self.introduction(), self.as_table().to_string(), differences]).rstrip()

    def _repr_html_(self) -> str:
        from html import escape

        paragraphs = [f"<p>{escape(line)}</p>" for line in (self.introduction(), *self.difference_sentences())]
        return f"<div>{paragraphs[0]}{self.as_table().to_html(border=0)}{''.join(paragraphs[1:])}</div>"

    def introduction(self) -> str:
        """Describe the data behind the scores, and the gain from more checked rows."""
        level = percent(self.confidence)
        if self.uses_checked_rows:
            text = (
                f"Scores on clean labels, {level} intervals, estimated from {numbered(self.n_rows, 'row')} and "
                f"{self.n_checked} checked ones."
            )
        else:
            text = (
                f"Scores on clean labels, estimated from {numbered(self.n_rows, 'row')} without checked ones.  "
                "The intervals are from the noise that is proven to the noise that is possible."
            )
        if self.outlook is not None:
            more, half = self.outlook
            text += f"  With {more} more checked rows, accuracies would be known to ± {_points(half)} points."
        return text.replace("  ", " ")

    def as_table(self) -> pd.DataFrame:
        """Models and measures as text, with the intervals."""
        cells = self.scores.assign(
            cell=[f"{row.estimate:.3f} [{row.low:.3f}, {row.high:.3f}]" for row in self.scores.itertuples()],
            measure=[REGISTRY[name].label if name in REGISTRY else name for name in self.scores["measure"]],
            model=[printable(str(name)) for name in self.scores["model"]],
        )
        table = cells.pivot(index="model", columns="measure", values="cell")
        table = table.loc[cells["model"].unique(), cells["measure"].unique()].fillna("–")
        given = self.scores[self.scores["measure"] == COMPARED]["on_given_labels"]
        table["accuracy on given labels"] = [f"{value:.3f}" for value in given]
        return table.rename_axis(index=None, columns=None)

    def difference_sentences(self) -> list[str]:
        """Compare pairs of models in sentences, the largest differences first."""
        lines = []
        for row in self.differences.head(SHOWN_DIFFERENCES).to_dict(orient="records"):
            model, other = printable(row["model"]), printable(row["other"])
            low, high = _points(row["low"]), _points(row["high"])
            interval = f"{_points(row['estimate'], '+')} points [{low}, {high}]"
            better = f"{model} is better than {other} on clean labels"
            open_text = f"It is open whether {model} or {other} is better on clean labels"
            lines.append(f"{better if row['low'] > 0 else open_text}: {interval}.")
        return lines


def _points(share: float, sign: str = "") -> str:
    return f"{100 * share:{sign}.1f}"


def score_predictions(
    audit: AuditEstimates,
    predictions: Any,
    *,
    rows: Any = None,
    costs: Any = None,
    confidence: float = CONFIDENCE,
) -> CleanScores:
    """Estimate scores on clean labels; see `LabelAudit.clean_scores`."""
    check_fraction("confidence", confidence)
    costs = None if costs is None else check_costs(costs, "costs", audit.classes.size)
    places = read_places(audit, rows)
    models = read_predictions(audit, predictions, places)
    sample = None if audit.checked is None else audit.checked.among(places)
    inference = choose_inference(audit, places, sample, confidence)
    given: Floats = np.eye(audit.classes.size)[audit.codes[places]]
    scores, by_class, confusion, half_widths = [], [], {}, []
    for name, predicted in models.items():
        measures = OF_ALL | (OF_PROBABILITIES if predicted.probabilities is not None else {})
        if costs is not None:
            measures |= {COST: functools.partial(expected_cost, costs=costs)}
        for key, measure in measures.items():
            score = functools.partial(measure, predicted)
            found = inference.estimate(score, is_share=key not in UNBOUNDED, is_positive=key != COST)
            scores.append(_record(name, key, found, score(given).value))
            if key == COMPARED and isinstance(inference, PredictionPowered):
                half_widths.append(inference.half_width(found, MORE_ROWS))
        for key, of_class in BY_CLASS.items():
            for k, label in enumerate(audit.classes.tolist()):
                score = functools.partial(of_class, predicted, of=k)
                found = inference.estimate(score, is_share=True)
                by_class.append({**_record(name, key, found, score(given).value), "class": label})
        confusion[name] = _confusion(audit, inference, predicted)
    return CleanScores(
        scores=pd.DataFrame(scores),
        by_class=pd.DataFrame(by_class)[
            ["model", "measure", "class", "estimate", "low", "high", "on_given_labels"]
        ],
        differences=_differences(models, inference),
        confusion=confusion,
        n_rows=places.size,
        n_checked=0 if sample is None else sample.rows.size,
        uses_checked_rows=isinstance(inference, PredictionPowered),
        confidence=confidence,
        outlook=(MORE_ROWS, max(half_widths)) if half_widths else None,
    )


def _record(model: str, measure: str, found: Estimate, on_given_labels: float) -> dict[str, Any]:
    return {
        "model": model,
        "measure": measure,
        "estimate": found.value,
        "low": found.low,
        "high": found.high,
        "on_given_labels": on_given_labels,
    }


def choose_inference(
    audit: AuditEstimates, places: Codes, sample: CheckedSample | None, confidence: float
) -> PredictionPowered | Scenarios:
    """Inference from checked rows if enough were drawn, otherwise from proven and possible noise."""
    if sample is not None and int(sample.is_random.sum()) >= MIN_DRAWN:
        return PredictionPowered(audit.scenarios.without_overlap[places], sample, confidence)
    each = [probabilities[places] for probabilities in audit.scenarios.all()]
    if sample is not None:
        each = [sample.with_right_labels(probabilities) for probabilities in each]
    return Scenarios(each, 1, confidence)


def _difference(measure: Measure, model: Predicted, other: Predicted, labels: Floats) -> Linearised:
    a, b = measure(model, labels), measure(other, labels)
    return Linearised(a.value - b.value, a.slopes - b.slopes)


def _differences(models: Mapping[str, Predicted], inference: PredictionPowered | Scenarios) -> pd.DataFrame:
    """Differences of all pairs, the better model first, and the largest differences first."""
    records = []
    for (a, of_a), (b, of_b) in combinations(models.items(), 2):
        found = inference.estimate(functools.partial(_difference, OF_ALL[COMPARED], of_a, of_b))
        record = {"model": a, "other": b, "estimate": found.value, "low": found.low, "high": found.high}
        if found.value < 0:
            record |= {"model": b, "other": a}
            record |= {"estimate": -found.value, "low": -found.high, "high": -found.low}
        records.append(record)
    table = pd.DataFrame(records, columns=["model", "other", "estimate", "low", "high"])
    return table.sort_values("estimate", ascending=False, ignore_index=True)


def _confusion(
    audit: AuditEstimates, inference: PredictionPowered | Scenarios, predicted: Predicted
) -> pd.DataFrame:
    labels = inference.labels
    joint = labels.T @ predicted.is_predicted() / labels.sum()
    names = audit.classes.tolist()
    return pd.DataFrame(joint, pd.Index(names, name="class"), pd.Index(names, name="predicted"))
