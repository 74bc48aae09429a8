"""Predictions of classifiers that are fitted to class numbers, without some of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


class FilteringClassifier(ClassifierMixin, BaseEstimator):
    """Base class: `fit` sets `classes_`, and fits `estimator_` to class numbers of the remaining rows."""

    estimator: Any
    classes_: NDArray[Any]
    estimator_: Any

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels."""
        check_is_fitted(self)
        labels: NDArray[Any] = self.classes_[np.asarray(self.estimator_.predict(X)).astype(np.intp)]
        return labels

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities, in the order of `classes_`."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))
