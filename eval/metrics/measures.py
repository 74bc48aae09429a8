"""Measures of a fitted model on test rows.

Means over classes skip classes that occur neither in the test rows nor in the predictions.  The values equal
those of scikit-learn's functions, whose argument checks would take longer than many fits.

If only the probabilities of the true labels are known, counts of rows are expected ones.  A measure that is a
mean over rows then is its expectation, and others are ratios of expectations, as in
`boostnoise.eval.clean_labels.measures`.  Probabilities of 0 and 1 give the values of the labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .tree_sizes import mean_tree_size

CALIBRATION_BINS = 15


@dataclass(frozen=True)
class Predictions:
    """Validated predictions of a fitted classifier on test rows.

    Attributes
    ----------
    model : classifier
        Fitted on labels from 0 to ``classes.size - 1``.
    X : array or DataFrame of shape (n_rows, n_features)
    y : int array of shape (n_rows,)
        True class numbers, or noisy ones.
    predicted : array-like of shape (n_rows,)
        The result of ``model.predict(X)``.
    classes : int array of shape (n_classes_in_training,)
        The class number of each label of the model.
    clean_probabilities : float array of shape (n_rows, n_classes) or None
        Probability of each true class, if `y` is noisy.
    """

    model: Any
    X: Any
    y: NDArray[np.int64]
    predicted: ArrayLike
    classes: NDArray[np.int64]
    clean_probabilities: NDArray[np.float64] | None = None

    @cached_property
    def truth(self) -> NDArray[np.float64]:
        """Probability of each true class, shape (n_rows, n_classes): 0 or 1 if the true labels are known."""
        if self.clean_probabilities is not None:
            return self.clean_probabilities
        n_classes = int(max(self.y.max(), self.classes.max())) + 1
        one_hot: NDArray[np.float64] = np.eye(n_classes)[self.y]
        return one_hot

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """Predicted class numbers, shape (n_rows,)."""
        predicted = np.asarray(self.predicted)
        if predicted.shape != (self.y.size,):
            raise ValueError(f"predict returned shape {predicted.shape}, expected ({self.y.size},)")
        if not np.isin(predicted, np.arange(self.classes.size)).all():
            raise ValueError("predict returned labels that are not in the training labels")
        return self.classes[predicted.astype(np.int64)]

    @cached_property
    def counts(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Rows of each class: correctly predicted, in the test set, and predicted."""
        is_predicted = np.eye(self.truth.shape[1])[self.labels]
        correct, actual, predicted = (
            counted.sum(axis=0) for counted in (self.truth * is_predicted, self.truth, is_predicted)
        )
        return correct, actual, predicted

    @cached_property
    def scores(self) -> NDArray[np.float64] | None:
        """Scores of shape (n_rows, n_classes) from `predict_proba`, or else `decision_function`.

        None if the model has neither method, or its decision function scores pairs of classes.  A class without
        training rows, due to noise or chance, has the score 0.
        """
        return None if self._scores is None else self._scores[0]

    @cached_property
    def precision(self) -> float | None:
        """Machine epsilon of the probabilities; None if the scores do not come from `predict_proba`."""
        return None if self._scores is None else self._scores[1]

    @cached_property
    def probabilities(self) -> NDArray[np.float64] | None:
        """The scores, if they are probabilities that sum to one; otherwise None."""
        scores, precision = self.scores, self.precision
        if scores is None or precision is None:
            return None
        is_valid = (scores >= 0).all() and (np.abs(scores.sum(axis=1) - 1) <= np.sqrt(precision)).all()
        return scores if is_valid else None

    @cached_property
    def _scores(self) -> tuple[NDArray[np.float64], float | None] | None:
        model, classes, n_rows = self.model, self.classes, self.y.size
        method = next((name for name in ("predict_proba", "decision_function") if hasattr(model, name)), None)
        if method is None or (method == "decision_function" and _scores_pairs(model)):
            return None
        values = np.asarray(getattr(model, method)(self.X))
        # Labels of the columns.  A model that drops rows may lack some of the training labels.
        known = np.asarray(getattr(model, "classes_", np.arange(classes.size)))
        if not np.isin(known, np.arange(classes.size)).all():
            raise ValueError("classes_ contains labels that are not in the training labels")
        if method == "decision_function" and values.ndim == 1 and known.size == 2:
            values = np.column_stack([-values, values])
        if values.shape != (n_rows, known.size):
            raise ValueError(f"{method} returned shape {values.shape}, expected ({n_rows}, {known.size})")
        if values.dtype.kind not in "fiub":
            raise ValueError(f"{method} returned values of type {values.dtype}, expected numbers")
        if not np.isfinite(values).all():
            raise ValueError(f"{method} returned NaN or infinity")
        scores = np.zeros(self.truth.shape)
        scores[:, classes[known.astype(np.int64)]] = values
        dtype = values.dtype if values.dtype.kind == "f" else scores.dtype
        return scores, float(np.finfo(dtype).eps) if method == "predict_proba" else None

    @cached_property
    def tree_size(self) -> tuple[float, float] | None:
        """Mean number of leaves and mean depth of the model's trees; see `mean_tree_size`."""
        return mean_tree_size(self.model)


def accuracy(predictions: Predictions) -> float:
    """Share of correct predictions."""
    correct, _, _ = predictions.counts
    return float(correct.sum() / predictions.y.size)


def balanced_accuracy(predictions: Predictions) -> float:
    """Mean recall of the classes of the test rows."""
    correct, actual, _ = predictions.counts
    in_test = actual > 0
    recall = correct[in_test] / actual[in_test]
    return float(recall.mean())


def macro_f1(predictions: Predictions) -> float:
    """Mean F1 of the classes that occur in the test rows or the predictions."""
    correct, actual, predicted = predictions.counts
    in_either = actual + predicted > 0
    f1 = 2 * correct[in_either] / (actual + predicted)[in_either]
    return float(f1.mean())


def roc_auc(predictions: Predictions) -> float | None:
    """ROC AUC for two classes; for more, the mean one-vs-rest AUC over the classes of the test rows.

    The AUC of a class is the share of correctly ordered pairs of a row of the class and another row; ties count
    half.  None if the test rows hold a single class, or the model has no scores.
    """
    from scipy.stats import rankdata  # slow to import

    truth, scores = predictions.truth, predictions.scores
    in_test = np.flatnonzero(truth.any(axis=0))
    if scores is None or in_test.size < 2:
        return None
    # With two classes, both columns hold the same information up to rounding.
    columns = np.array([1]) if scores.shape[1] == 2 else in_test
    is_class = truth[:, columns]
    n_in = is_class.sum(axis=0)
    ranks = (is_class * rankdata(scores[:, columns], axis=0)).sum(axis=0)
    pairs_in_order = ranks - n_in * (n_in + 1) / 2
    return float((pairs_in_order / (n_in * (len(truth) - n_in))).mean())


def log_loss(predictions: Predictions) -> float | None:
    """Log loss in nats, with probabilities clipped to the precision of their type.

    None if the model has no `predict_proba`, or its rows are not probabilities that sum to one.
    """
    p, precision = predictions.probabilities, predictions.precision
    if p is None or precision is None:
        return None
    losses = -np.log(np.clip(p, precision, 1 - precision))
    return float((predictions.truth * losses).sum(axis=1).mean())


def brier_score(predictions: Predictions) -> float | None:
    """Mean squared error of the probability of the second of two classes.

    With more classes, the sum of the mean squared errors of the probabilities of all classes.  None where there
    is no log loss.
    """
    truth, p = predictions.truth, predictions.probabilities
    if p is None:
        return None
    # The error is that of the expected label, and the variance of the label around it.
    squares = ((p - truth) ** 2).sum(axis=1) + (1 - (truth**2).sum(axis=1))
    return float(squares.mean()) / (2 if p.shape[1] == 2 else 1)


def calibration_error(predictions: Predictions) -> float | None:
    """Mean gap between the highest probability and the share of correct predictions.

    The gap is that of the means in each of 15 bins of equal width, weighted by their rows (Guo et al., "On
    Calibration of Modern Neural Networks", ICML 2017).  None where there is no log loss.
    """
    p = predictions.probabilities
    if p is None:
        return None
    confidence, is_correct = p.max(axis=1), predictions.truth[np.arange(len(p)), p.argmax(axis=1)]
    # Bins are open at their lower end, as in the paper.
    bins = np.clip(np.ceil(confidence * CALIBRATION_BINS).astype(np.int64) - 1, 0, CALIBRATION_BINS - 1)
    gaps = np.bincount(bins, weights=confidence - is_correct)
    return float(np.abs(gaps).sum() / len(p))


def leaves(predictions: Predictions) -> float | None:
    """Mean number of leaves of the trees."""
    return None if predictions.tree_size is None else predictions.tree_size[0]


def depth(predictions: Predictions) -> float | None:
    """Mean depth of the trees."""
    return None if predictions.tree_size is None else predictions.tree_size[1]


def _scores_pairs(model: Any) -> bool:
    """Whether a support vector machine is configured to score pairs of classes."""
    params = model.get_params() if hasattr(model, "get_params") else {}
    names = [name for name in params if name.endswith("decision_function_shape")]
    return any(params[name] == "ovo" for name in names)
