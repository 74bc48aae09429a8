"""Train the model of `noisyaudit --train` on audited rows, and describe it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boostnoise import RobustClassifier
from boostnoise.ensemble.tree_mixture import TreeMixture

from .._wording import joined, numbered
from ..audit.clean_scores import COST
from ..audit.inputs import converted
from ..config.dataset_spec import DatasetSpec
from ..datasets.encoding import check_features
from ..errors import ConfigError, one_line, suggest
from ..saved_models.saved_model import SavedModel
from ..saved_models.table_form import TableForm

if TYPE_CHECKING:
    from ..audit.clean_scores import CleanScores
    from ..audit.label_audit import LabelAudit
    from ..datasets.dataset import Dataset

Floats = NDArray[np.float64]

MODEL, MOST_PROBABLE = "model", "most probable class"
# From here on, the audit's probabilities make better models than labels that a model judges itself.
ENOUGH_CHECKED = 30  # rows


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A model, and predictions of the training rows by fits that have not seen them.

    Attributes
    ----------
    model : SavedModel
    held_out : array of shape (n, K)
        Probabilities of the classes; NaN for rows that a fit has always seen.
    """

    model: SavedModel
    held_out: Floats

    def scores(self, audit: LabelAudit) -> CleanScores:
        """Scores on clean labels of the model's decisions; with costs also of the most probable classes."""
        model = self.model
        rows = np.flatnonzero(np.isfinite(self.held_out).all(axis=1))
        p = self.held_out[rows]
        decisions = {MODEL: model.classes_[model.decide(p)]}
        if model.costs is not None:
            decisions[MOST_PROBABLE] = model.classes_[p.argmax(axis=1)]
        return audit.clean_scores(decisions, rows=rows, costs=model.costs)

    def sentences(self, scores: CleanScores) -> list[str]:
        """Describe the model: its accuracy, its decision rule, and the expected cost of a prediction."""
        model = self.model
        table = {(row["model"], row["measure"]): row for row in scores.scores.to_dict(orient="records")}
        interval = "95 % interval" if scores.uses_checked_rows else "with the noise that is proven and possible"
        accuracy = table[MODEL, "accuracy"]
        found = [
            f"a mixture of {numbered(len(model.mixture.members), 'model')} of trees",
            f"accuracy on right labels: {accuracy['estimate']:.3f}, {interval} from {accuracy['low']:.3f} to "
            f"{accuracy['high']:.3f}",
        ]
        if model.costs is None:
            return found
        if model.classes_.size == 2:
            (_, false_positive), (false_negative, _) = model.costs.tolist()
            threshold = false_positive / (false_positive + false_negative)
            second = str(model.classes_[1])
            found.append(f"predicts {second!r} where its probability is at least {threshold:.3g}")
        cost, without = (table[name, COST] for name in (MODEL, MOST_PROBABLE))
        found.append(
            f"expected cost of a prediction on right labels: {cost['estimate']:.3g}, {interval} from "
            f"{cost['low']:.3g} to {cost['high']:.3g}; {without['estimate']:.3g} if the most probable class "
            "were predicted"
        )
        return found


def train_model(
    found: LabelAudit,
    dataset: Dataset,
    spec: DatasetSpec,
    columns: Iterable[str],
    *,
    checked: Iterable[int] = (),
    costs: Iterable[tuple[str, str, float]] = (),
    id_column: str | None = None,
    random_state: int = 0,
    n_jobs: int = -1,
) -> TrainedModel:
    """Train a `RobustClassifier` with its defaults on the rows of an audit.

    It learns the probabilities of the clean labels that the audit has found if enough rows are checked, and
    otherwise the labels, with those of checked rows corrected, which it judges itself.

    Parameters
    ----------
    found : LabelAudit
        Columns that it has left out are not used.
    dataset : Dataset
        The rows.
    spec : DatasetSpec
        How they were read.
    columns : iterable
        Names of all columns of the data.
    checked : iterable of int, default=()
        Numbers of the rows of the audit whose right labels are known.
    costs : iterable of (str, str, float), default=()
        Right class, predicted class, cost; 1 for each other wrong prediction.
    id_column : str or None, default=None
        Column of names of rows.
    random_state, n_jobs : int
        Of the classifier.

    Raises
    ------
    ConfigError
        If a class of the costs does not exist, or the rows cannot be divided into folds.
    """
    matrix = read_costs(costs, found.classes)
    X = dataset.X if isinstance(dataset.X, pd.DataFrame) else pd.DataFrame(dataset.X, columns=dataset.columns)
    X = check_features(X.drop(columns=list(found.left_out)).reset_index(drop=True), "keep", "--train")
    others = [name for name in columns if name not in X.columns]
    form = TableForm.of(
        X,
        others=tuple(others),
        separator=spec.separator,
        decimal=spec.decimal,
        encoding=spec.encoding,
        missing_values=tuple(spec.missing_values or ()),
        date_format=spec.date_format,
    )
    labels = _labels_to_learn(found, np.fromiter(checked, dtype=np.intp))
    classifier = RobustClassifier(n_jobs=n_jobs, random_state=random_state)
    try:
        classifier.fit(converted(X, None)[0], labels, groups=dataset.groups)
    except ValueError as error:
        raise ConfigError(f"--train: {one_line(error)}") from None
    mixture = TreeMixture.of(classifier)
    model = SavedModel(classifier.classes_, form, mixture, matrix, id_column)
    return TrainedModel(model, np.asarray(classifier.held_out_probabilities_))


def _labels_to_learn(found: LabelAudit, checked: NDArray[np.intp]) -> Any:
    """Probabilities of the clean labels, or the given labels with those of checked rows corrected.

    Labels that are corrected in the first suspects only look as if one class was mislabelled more than another.
    """
    if checked.size >= ENOUGH_CHECKED:
        return pd.DataFrame(found.clean_probabilities, columns=found.classes)
    labels = found.labels.copy()
    labels[checked] = found.classes[found.clean_probabilities[checked].argmax(axis=1)]
    return labels


def read_costs(costs: Iterable[tuple[str, str, float]], classes: NDArray[Any]) -> Floats | None:
    """Cost matrix; None without costs.

    Raises
    ------
    ConfigError
        If a class does not exist, is predicted for itself, or a cost is given twice.
    """
    costs = list(costs)
    if not costs:
        return None
    names = [str(label) for label in classes.tolist()]
    matrix = 1.0 - np.eye(len(names))
    seen = set()
    for right, predicted, cost in costs:
        for name in (right, predicted):
            if name not in names:
                raise ConfigError(
                    f"--cost: {name!r} is not a class{suggest(name, names)}; classes are {joined(names)}"
                )
        if right == predicted:
            raise ConfigError(f"--cost: predicting {right!r} for {right!r} is right and costs nothing")
        if (right, predicted) in seen:
            raise ConfigError(f"--cost: predicting {predicted!r} for {right!r} has two costs")
        seen.add((right, predicted))
        matrix[names.index(right), names.index(predicted)] = cost
    return matrix
