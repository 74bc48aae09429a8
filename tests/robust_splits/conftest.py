import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from robust_splits import RobustDecisionTreeClassifier, RobustExtraTreesClassifier, RobustForestClassifier

MODELS = [
    RobustDecisionTreeClassifier("ne", max_depth=6, random_state=0),
    RobustForestClassifier(20, random_state=0),
    RobustExtraTreesClassifier(20, random_state=0),
]


@pytest.fixture(scope="session")
def single_precision_sample():
    """Function that makes rows in single precision, and labels that are strings."""

    def make(n_classes=2, *, with_missing=False):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 5)).astype(np.float32)
        margin = X[:, 0] + X[:, 1] * X[:, 2] + rng.logistic(size=400) * 0.5
        if with_missing:
            X[rng.random(X.shape) < 0.1] = np.nan
        bounds = [0] if n_classes == 2 else [-0.5, 0.5]
        return X, np.array(list("abc"))[np.digitize(margin, bounds)]

    return make


@pytest.fixture(params=[(2, False), (2, True), (3, False), (3, True)], ids=str)
def exported_rows(request, single_precision_sample):
    """Rows of two or three classes, with or without missing values."""
    n_classes, with_missing = request.param
    return single_precision_sample(n_classes, with_missing=with_missing)


@pytest.fixture(params=MODELS, ids=lambda model: type(model).__name__)
def model_of_categories(request):
    """A tree or forest, and rows of two numbers and a category, some of them missing or unknown to the model."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 2)).astype(np.float32), columns=["a", "b"])
    kinds = rng.integers(0, 12, 400)
    frame["kind"] = pd.Categorical.from_codes(kinds, list("abcdefghijkl"))
    y = (kinds % 3 == 0) ^ (frame["a"] > 0)
    frame.loc[::9, "kind"] = np.nan
    frame.loc[::13, "a"] = np.nan
    known = frame["kind"].ne("l") | frame["kind"].isna()
    return clone(request.param).fit(frame[known], y[known]), frame


@pytest.fixture(params=MODELS, ids=lambda model: type(model).__name__)
def exported_model(request, exported_rows):
    """A tree or forest fitted on these rows, with thresholds between numbers of single precision."""
    X, y = exported_rows
    return clone(request.param).fit(X.astype(np.float64), y)
