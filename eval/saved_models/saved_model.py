"""A trained model that predicts new rows of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boostnoise.ensemble.tree_mixture import TreeMixture
from boostnoise.label_noise.costs import cheapest_classes

from .table_form import TableForm

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model that `noisyaudit` has trained, as `boostnoise.load_model` reads it.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Sorted labels.
    form : TableForm
        Columns that it predicts from.
    mixture : TreeMixture
        Its forests and boosters.
    costs : ndarray of shape (K, K) or None
        ``costs[i, j]`` is the cost of predicting class j for a row of class i; None for accuracy.
    id_column : str or None
        Column of names of rows.
    """

    classes_: NDArray[Any]
    form: TableForm
    mixture: TreeMixture
    costs: Floats | None = None
    id_column: str | None = None

    def predict_proba(self, X: pd.DataFrame) -> Floats:
        """Predict the probabilities of the clean classes.

        Parameters
        ----------
        X : DataFrame of n rows
            With the columns of the training data, in any order.

        Returns
        -------
        ndarray of shape (n, K)
            In the order of `classes_`.

        Raises
        ------
        ConfigError
            A ValueError, if a column is missing, or has values of another type.
        """
        return self.mixture.predict_proba(self.form.encode(X, "X")[0])

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Predict labels: the class with the least expected cost, or the most probable one.

        Parameters
        ----------
        X : DataFrame of n rows

        Returns
        -------
        ndarray of shape (n,)
        """
        labels: NDArray[Any] = self.classes_[self.decide(self.predict_proba(X))]
        return labels

    def decide(self, p: Floats) -> NDArray[np.intp]:
        """Class numbers for probabilities of shape (n, K)."""
        return p.argmax(axis=1) if self.costs is None else cheapest_classes(p, self.costs)
