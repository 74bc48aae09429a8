"""What is measured of a fitted model: how it does on the test rows, and how large its trees are.

Classes that neither the test rows nor the predictions hold count in no mean.  The numbers are those of
scikit-learn's functions, whose checks of every argument would take longer than many a fit.
"""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from .tree_sizes import mean_tree_size


class Measured(TypedDict):
    """The measures of a fitted model; see `measure`."""

    accuracy: float
    balanced_accuracy: float
    macro_f1: float
    roc_auc: float | None
    log_loss: float | None
    leaves: float | None
    depth: float | None


def measure(
    model: Any, X: NDArray[np.float64], y: NDArray[np.int64], predicted: ArrayLike, classes: NDArray[np.int64]
) -> Measured:
    """Measure a fitted classifier on test rows.

    - ``accuracy``; ``balanced_accuracy``, the mean recall of the classes of the test rows; ``macro_f1``, the
      mean F1 of the classes that are in the test rows or predicted.
    - ``roc_auc``, of two classes; of more the mean over the classes of the test rows, each against the rest.
      From `predict_proba`, or else `decision_function`.  Missing where the test rows hold one class only, or
      the model has neither, or scores pairs of classes.
    - ``log_loss``, in nats, with probabilities clipped to the precision of their type.  Missing where the model
      has no `predict_proba`, or its rows are not probabilities that sum to one.
    - ``leaves``, ``depth``: see `mean_tree_size`.

    A class that training noise or chance has left no training row has the probability 0.

    Parameters
    ----------
    model : classifier
        Fitted on labels from 0 to ``classes.size - 1``.
    X : array of shape (n_rows, n_features)
    y : int array of shape (n_rows,)
        True class numbers.
    predicted : array-like of shape (n_rows,)
        What ``model.predict(X)`` returned.
    classes : int array of shape (n_classes_in_training,)
        The class number that each label of the model stands for.

    Returns
    -------
    Measured
        None for what is missing.

    Raises
    ------
    ValueError
        If the model returns labels that it was not given, scores of the wrong shape, NaN or infinity.
    """
    labels = classes[_labels(predicted, y.size, classes.size)]
    balanced_accuracy, macro_f1 = _mean_recall_and_f1(y, labels)
    scores, dtype = _scores(model, X, y, classes)
    size = mean_tree_size(model)
    return Measured(
        accuracy=float((labels == y).mean()),
        balanced_accuracy=balanced_accuracy,
        macro_f1=macro_f1,
        roc_auc=None if scores is None else _roc_auc(y, scores),
        log_loss=None if scores is None or dtype is None else _log_loss(y, scores, dtype),
        leaves=None if size is None else size[0],
        depth=None if size is None else size[1],
    )


def _labels(predicted: ArrayLike, n_rows: int, n_labels: int) -> NDArray[np.int64]:
    predicted = np.asarray(predicted)
    if predicted.shape != (n_rows,):
        raise ValueError(f"predict returned the shape {predicted.shape} for {n_rows} rows")
    if not np.isin(predicted, np.arange(n_labels)).all():
        raise ValueError("predict returned labels that fit was not given")
    return predicted.astype(np.int64)


def _mean_recall_and_f1(y: NDArray[np.int64], labels: NDArray[np.int64]) -> tuple[float, float]:
    n_classes = max(y.max(), labels.max()) + 1
    hits, actual, found = (np.bincount(some, minlength=n_classes) for some in (y[labels == y], y, labels))
    in_test, in_either = actual > 0, actual + found > 0
    recall = hits[in_test] / actual[in_test]
    f1 = 2 * hits[in_either] / (actual + found)[in_either]
    return float(recall.mean()), float(f1.mean())


def _scores(
    model: Any, X: NDArray[np.float64], y: NDArray[np.int64], classes: NDArray[np.int64]
) -> tuple[NDArray[np.float64] | None, np.dtype[Any] | None]:
    """A column of scores for each class, and the type that they had, if they are probabilities."""
    method = next((name for name in ("predict_proba", "decision_function") if hasattr(model, name)), None)
    if method is None or (method == "decision_function" and _scores_pairs(model)):
        return None, None
    values = np.asarray(getattr(model, method)(X))
    # Which of the labels the columns are for: a model that leaves rows out may not have seen them all.
    known = np.asarray(getattr(model, "classes_", np.arange(classes.size)))
    if not np.isin(known, np.arange(classes.size)).all():
        raise ValueError("classes_ holds labels that fit was not given")
    if method == "decision_function" and values.ndim == 1 and known.size == 2:
        values = np.column_stack([-values, values])
    if values.shape != (y.size, known.size):
        raise ValueError(
            f"{method} returned the shape {values.shape} for {y.size} rows and {known.size} classes"
        )
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{method} returned values of the type {values.dtype}")
    if not np.isfinite(values).all():
        raise ValueError(f"{method} returned NaN or infinity")
    scores = np.zeros((y.size, int(max(y.max(), classes.max())) + 1))
    scores[:, classes[known.astype(np.int64)]] = values
    dtype = values.dtype if values.dtype.kind == "f" else scores.dtype
    return scores, dtype if method == "predict_proba" else None


def _scores_pairs(model: Any) -> bool:
    """Whether support vector machines were told to keep their scores of pairs of classes."""
    params = model.get_params() if hasattr(model, "get_params") else {}
    names = [name for name in params if name.endswith("decision_function_shape")]
    return any(params[name] == "ovo" for name in names)


def _roc_auc(y: NDArray[np.int64], scores: NDArray[np.float64]) -> float | None:
    """Share of the pairs of a row of a class and one of another that are in the right order; ties are half."""
    in_test = np.unique(y)
    if in_test.size < 2:
        return None
    # The two columns of two classes say the same, but for how they are rounded.
    columns = np.array([1]) if scores.shape[1] == 2 else in_test
    is_class = y[:, np.newaxis] == columns
    n_in = is_class.sum(axis=0)
    ranks = np.where(is_class, rankdata(scores[:, columns], axis=0), 0.0).sum(axis=0)
    pairs_in_order = ranks - n_in * (n_in + 1) / 2
    return float((pairs_in_order / (n_in * (y.size - n_in))).mean())


def _log_loss(y: NDArray[np.int64], scores: NDArray[np.float64], dtype: np.dtype[Any]) -> float | None:
    precision = float(np.finfo(dtype).eps)
    sums = scores.sum(axis=1)
    if (scores < 0).any() or (np.abs(sums - 1) > np.sqrt(precision)).any():
        return None
    right = scores[np.arange(y.size), y]
    return float(-np.log(np.clip(right, precision, 1 - precision)).mean())
