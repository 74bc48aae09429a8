"""The transition matrix of label noise, estimated from noisy labels and a model's probabilities of them.

References
----------
.. [1] Patrini, Rozza, Menon, Nock & Qu, "Making Deep Neural Networks Robust to Label Noise: a Loss Correction
       Approach", CVPR 2017.
.. [2] Northcutt, Jiang & Chuang, "Confident Learning: Estimating Uncertainty in Dataset Labels", Journal of
       Artificial Intelligence Research 70, 2021.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._classifier import encode_labels
from ._library_inputs import read_weights
from .losses.softmax import Floats
from .losses.transition import check_transition_matrix

Method = Literal["anchor", "confident_joint"]

ANCHORS = 0.2  # share of the rows with a label that are taken to be surely of its class


def estimate_transition_matrix(
    y: ArrayLike,
    probabilities: ArrayLike,
    method: Method = "anchor",
    sample_weight: ArrayLike | None = None,
) -> Floats:
    """Transition matrix T of the noise in labels; ``T[i, j]`` is the probability of the label j in class i.

    The probabilities are those of a model of the noisy labels that has not seen the rows it is asked about, as
    `sklearn.model_selection.cross_val_predict` gives them: a model that has learnt the noise by heart finds
    none.  No method can tell noise from classes that overlap; both take some overlap for noise, and the
    confident joint far more of it.

    Parameters
    ----------
    y : array-like of shape (n,)
        Noisy labels of K classes, each of which occurs.
    probabilities : array-like of shape (n, K)
        Of the labels, in their sorted order, as ``predict_proba`` has them.
    method : {"anchor", "confident_joint"}, default="anchor"
        ``"anchor"`` [1]_ reads row i of T off rows of the data that are surely of class i: their probabilities
        of the labels are the rates of its noise.  The paper takes one row, at the 0.97 quantile of the
        probability of i among all rows.  That is not of class i where fewer than 3 % are, and varies from
        sample to sample; here it is the mean over that fifth of the rows with the label i whose probability of
        it is highest, so of these a fifth must be labelled rightly.

        ``"confident_joint"`` [2]_ counts a row as of the class j if its probability of j is at least the mean
        of these in the rows with the label j; where this holds for several classes, as of the most probable,
        and where for none the row is left out.  The counts of label i and class j are scaled to the number of
        rows with the label i, and then to rows of T that sum to 1.  A class as which no row counts is taken for
        clean.  Better where classes hardly overlap; where they do, T may come out such that a class is rarely
        labelled as itself.
    sample_weight : array-like of shape (n,) or None, default=None
        As how many rows each counts.

    Returns
    -------
    float array of shape (K, K)
        Its rows sum to 1.

    Raises
    ------
    ValueError
        If `method` is unknown, the shapes do not fit, probabilities are not in [0, 1] or do not sum to 1
        (within 1e-3), weights are negative or not finite, sum to more than 1e18 or leave a class without rows,
        or the matrix is singular: then the probabilities do not tell the classes apart.

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise import estimate_transition_matrix
    >>> rng = np.random.default_rng(0)
    >>> clean = rng.integers(2, size=10_000)
    >>> y = np.where(rng.random(10_000) < np.array([0.1, 0.3])[clean], 1 - clean, clean)
    >>> probabilities = np.array([[0.9, 0.1], [0.3, 0.7]])[clean]
    >>> estimate_transition_matrix(y, probabilities).round(1)
    array([[0.9, 0.1],
           [0.3, 0.7]])
    """
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, got {method!r}")
    encoder, codes = encode_labels(y)
    p = _read_probabilities(probabilities, codes.size, len(encoder.classes_))
    weight = np.ones(codes.size) if sample_weight is None else read_weights(sample_weight, codes.size)
    codes, p, weight = codes[weight > 0], p[weight > 0], weight[weight > 0]
    total: Floats = np.bincount(codes, weights=weight, minlength=p.shape[1]).astype(np.float64)
    if not total.all():
        empty = encoder.classes_[total == 0].tolist()
        raise ValueError(f"sample_weight is zero for all rows of the classes {empty}")
    estimate = _from_anchors if method == "anchor" else _from_confident_joint
    matrix = estimate(codes, p, weight, total)
    try:
        return check_transition_matrix(matrix)
    except ValueError as error:
        raise ValueError(
            f"the probabilities do not tell the classes apart: the estimated {error}; "
            "a better model of the labels, or a loss that needs no T, may help"
        ) from error


def _from_anchors(codes: NDArray[np.int64], p: Floats, weight: Floats, total: Floats) -> Floats:
    matrix: Floats = np.empty((p.shape[1], p.shape[1]))
    for label, of_label in enumerate(total):
        rows = np.flatnonzero(codes == label)
        rows = rows[np.argsort(-p[rows, label], kind="stable")]
        before = np.cumsum(weight[rows]) - weight[rows]
        anchors = rows[before < ANCHORS * of_label]
        matrix[label] = np.average(p[anchors], axis=0, weights=weight[anchors])
    return _normalised(matrix)


def _from_confident_joint(codes: NDArray[np.int64], p: Floats, weight: Floats, total: Floats) -> Floats:
    n_classes = p.shape[1]
    of_label = p[np.arange(codes.size), codes]
    threshold = np.bincount(codes, weights=weight * of_label, minlength=n_classes) / total
    # The mean of equal numbers may be above them by rounding.
    confident = p >= threshold * (1.0 - 1e-9)
    counted = confident.any(axis=1)  # of each label at least the row whose probability of it is highest
    found = np.where(confident, p, -1.0).argmax(axis=1)[counted]
    joint = np.zeros((n_classes, n_classes))  # of label and class
    np.add.at(joint, (codes[counted], found), weight[counted])
    joint *= (total / joint.sum(axis=1))[:, np.newaxis]
    matrix: Floats = joint.T
    empty = matrix.sum(axis=1) == 0.0
    matrix[empty, empty] = 1.0
    return _normalised(matrix)


def _normalised(matrix: Floats) -> Floats:
    normalised: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return normalised


def _read_probabilities(probabilities: ArrayLike, n_rows: int, n_classes: int) -> Floats:
    p = np.asarray(probabilities, dtype=np.float64)
    if p.shape != (n_rows, n_classes):
        raise ValueError(
            f"probabilities must have shape ({n_rows}, {n_classes}), as y has rows and classes, got {p.shape}"
        )
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise ValueError("probabilities must be in [0, 1]")
    sums = p.sum(axis=1)
    if not np.allclose(sums, 1.0, rtol=0.0, atol=1e-3):
        wrong = sums[np.abs(sums - 1.0) > 1e-3]
        raise ValueError(f"the rows of probabilities must sum to 1, got the sums {wrong[:3].tolist()}")
    return p
