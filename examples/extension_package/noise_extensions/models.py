"""A model: any classifier with the interface of scikit-learn."""

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data


class TwoForests(ClassifierMixin, BaseEstimator):
    """Random forest on the rows whose labels a first forest with large leaves agrees with.

    Parameters
    ----------
    n_estimators : int, default=50
        Trees of each forest.
    random_state : int or None, default=None
    """

    def __init__(self, n_estimators=50, random_state=None):
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X, y):
        """Fit both forests."""
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        first = RandomForestClassifier(self.n_estimators, min_samples_leaf=10, random_state=self.random_state)
        supported = first.fit(X, y).predict(X) == y
        if len(unique_labels(y[supported])) < len(first.classes_):  # the large leaves of small data
            supported[:] = True
        self.forest_ = RandomForestClassifier(self.n_estimators, random_state=self.random_state)
        self.forest_.fit(X[supported], y[supported])
        self.classes_ = self.forest_.classes_
        return self

    def predict(self, X):
        """Predict class labels."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def predict_proba(self, X):
        """Predict class probabilities."""
        check_is_fitted(self)
        return self.forest_.predict_proba(validate_data(self, X, reset=False))
