"""Every classifier takes rows, labels and weights in all usual containers, and gives the same probabilities."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from boostnoise import RobustClassifier, RobustLGBMClassifier, RobustXGBClassifier
from robust_splits import RobustDecisionTreeClassifier, RobustExtraTreesClassifier, RobustForestClassifier

X, y = load_iris(return_X_y=True)
WEIGHTS = np.random.default_rng(0).random(y.size) + 0.1
FOREST = RobustForestClassifier(4, random_state=0)
CLASSIFIERS = [
    RobustDecisionTreeClassifier(random_state=0),
    FOREST,
    RobustExtraTreesClassifier(4, random_state=0),
    RobustXGBClassifier(n_estimators=3, learning_rate=0.3, n_jobs=1),
    RobustLGBMClassifier(n_estimators=3, learning_rate=0.3, n_jobs=1, verbose=-1),
    RobustClassifier(FOREST, random_state=0),
]


def read_only(values, order="C"):
    values = np.array(values, order=order)
    values.setflags(write=False)
    return values


CONTAINERS = {
    "read-only": (read_only(X), read_only(y), read_only(WEIGHTS)),
    "Fortran order": (read_only(X, "F"), y, WEIGHTS),
    "not contiguous": (np.repeat(X, 2, axis=1)[:, ::2], np.repeat(y, 2)[::2], np.repeat(WEIGHTS, 2)[::2]),
    "pandas": (X, pd.Series(y), pd.Series(WEIGHTS)),
    "polars": (X, pl.Series(y), pl.Series(WEIGHTS)),
    "Arrow": (X, pa.array(y), pa.array(WEIGHTS)),
    "lists": (X.tolist(), y.tolist(), WEIGHTS.tolist()),
}


@pytest.mark.release
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_containers(model, container):
    rows, labels, weights = CONTAINERS[container]
    expected = clone(model).fit(X, y, sample_weight=WEIGHTS).predict_proba(X)
    found = clone(model).fit(rows, labels, sample_weight=weights)
    np.testing.assert_array_equal(found.predict_proba(rows), expected)
    np.testing.assert_array_equal(found.predict_proba(X), expected)
