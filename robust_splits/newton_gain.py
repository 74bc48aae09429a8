"""The split score of XGBoost's first tree.

References
----------
.. [1] Chen & Guestrin, "XGBoost: A Scalable Tree Boosting System", KDD 2016.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._checks import check_counts, check_number
from ._kernels import criterion_codes as codes
from .criterion import Criterion

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class NewtonGain(Criterion):
    """Split score of XGBoost's first tree with log loss, for two classes (Chen & Guestrin 2016, Equation 7).

    ``Q = G_L^2 / (H_L + lambda) + G_R^2 / (H_R + lambda) - G^2 / (H + lambda) - gamma``, without the factor 1/2
    of the paper, as in XGBoost.  G and H are the sums of the first and second derivatives of log loss over the
    rows of a node.  All rows start from the probability p_0 of the second class, so ``G = n p_0 - n_1`` and
    ``H = n p_0 (1 - p_0)``.

    For lambda = 0 the order of the splits of a node is that of `Gini`.  For p_0 = 0.5 and gamma = 0, uniform
    noise of rate eta multiplies Q by (1 - 2 eta)^2 if the counts have their expected values, because it
    multiplies G by 1 - 2 eta and leaves H as it is; the variance of actual counts adds to Q.

    Parameters
    ----------
    reg_lambda : float, default=1.0
        Non-negative.
    gamma : float, default=0.0
        Non-negative.  Nodes are split only if Q is positive, as with XGBoost's ``tree_method="hist"`` and
        ``"approx"``; ``"exact"`` prunes the full tree instead, from the leaves up.
    base_score : float, default=0.5
        p_0, between 0 and 1.  XGBoost's default was 0.5 in 2020; today it is the share of the second class.

    Notes
    -----
    XGBoost's ``min_child_weight`` is the smallest H of a leaf.  Its default of 1 corresponds to
    ``min_samples_leaf=4`` for p_0 = 0.5.

    With K > 2 classes and softmax, XGBoost grows a tree for each class from p_0 = 1/K.  The derivatives H are
    twice those above, so the first trees have the splits of this criterion for one class against the others,
    with half of XGBoost's lambda and twice its gamma; its leaf weights are half of these.

    Examples
    --------
    >>> from robust_splits import NewtonGain
    >>> NewtonGain(reg_lambda=0.5).gain([0, 6], [6, 0])
    9.0
    >>> NewtonGain(reg_lambda=0.5).leaf_weights([[0, 6], [6, 0]])
    array([ 1.5, -1.5])
    """

    reg_lambda: float = 1.0
    gamma: float = 0.0
    base_score: float = 0.5
    code = codes.NEWTON

    def __post_init__(self) -> None:
        check_number("reg_lambda of NewtonGain", self.reg_lambda, low=0.0, high=np.inf)
        check_number("gamma of NewtonGain", self.gamma, low=0.0, high=np.inf)
        check_number("base_score of NewtonGain", self.base_score, low=0.0, high=1.0, closed="neither")

    @property
    def table(self) -> NDArray[np.float64]:
        """The three parameters."""
        return np.array(dataclasses.astuple(self), dtype=np.float64)

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError for more than two classes."""
        if n_classes > 2:
            raise ValueError(f"criterion 'newton' is for two classes, got {n_classes}")

    def leaf_weights(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Weights of leaves, ``-G / (H + lambda)`` (Chen & Guestrin 2016, Equation 5).

        XGBoost adds them, times its learning rate, to the log odds of `base_score`.

        Parameters
        ----------
        counts : array-like of shape (n_nodes, 2)
            Weighted class counts of each node, such as ``tree_.counts``: non-negative, with positive sums.

        Returns
        -------
        ndarray of shape (n_nodes,)

        Raises
        ------
        ValueError
            If the counts of a node are invalid, or not of two classes.
        """
        if (shape := np.shape(counts))[1:] != (2,):
            raise ValueError(f"counts must have shape (n_nodes, 2), got {shape}")
        checked = np.array([check_counts("counts", row) for row in np.asarray(counts)])
        total = checked.sum(axis=1)
        gradient = total * self.base_score - checked[:, 1]
        hessian = total * self.base_score * (1 - self.base_score)
        weights: NDArray[np.float64] = -gradient / (hessian + self.reg_lambda)
        return weights

    def _to_gain(self, reduction: float, n: float) -> float:
        return reduction
