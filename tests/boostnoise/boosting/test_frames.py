"""Columns and labels of data frames, in both boosters."""

import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.datasets import load_breast_cancer

from boostnoise import RobustClassifier, RobustLGBMClassifier, RobustXGBClassifier
from boostnoise.boosting.frames import with_numpy_columns
from robust_splits import RobustForestClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
BOOSTERS = [
    RobustLGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1),
    RobustXGBClassifier(n_estimators=3, n_jobs=1),
]
ALL = [
    *BOOSTERS,
    RobustForestClassifier(n_estimators=3),
    RobustClassifier(RobustForestClassifier(n_estimators=3)),
]


@pytest.mark.parametrize("dtype", ["int64[pyarrow]", "Int64", "int8", "bool[pyarrow]", "boolean", "bool"])
@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_labels_keep_their_type(model, dtype):
    labels = y.astype(dtype)
    predicted = model.fit(X, labels).predict(X)
    expected = np.array(0, dtype="bool" if "bool" in dtype else dtype.removesuffix("[pyarrow]").lower()).dtype
    assert predicted.dtype == model.classes_.dtype == expected
    assert model.score(X, labels) > 0.9


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_missing_labels_of_arrow_are_refused(model):
    labels = y.astype("int64[pyarrow]")
    labels[3] = pd.NA
    with pytest.raises(ValueError, match=r"(?i)missing labels|nan|<NA>"):
        model.fit(X, labels)


@pytest.mark.parametrize("model", BOOSTERS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("dtype", ["double[pyarrow]", "Float64", "float32[pyarrow]"])
def test_numbers_of_arrow_with_missing_values(model, dtype):
    frame = X.astype(dtype)
    frame.iloc[::3, 0] = pd.NA
    same = X.astype(np.float32 if "32" in dtype else float)
    same.iloc[::3, 0] = np.nan
    one = model.fit(frame, y, eval_set=[(frame, y)]).predict_proba(frame)
    np.testing.assert_array_equal(one, model.fit(same, y, eval_set=[(same, y)]).predict_proba(same))


def test_frames_of_numpy_columns_stay_as_they_are():
    assert with_numpy_columns(X) is X
    assert with_numpy_columns(3) == 3
    mixed = pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": ["x", "y"], "c": [0.5, 1.5]}).astype(
        {"b": "category"}
    )
    found = with_numpy_columns(mixed)
    assert found.dtypes.astype(str).to_dict() == {"a": "float64", "b": "category", "c": "float64"}
    assert mixed["a"].dtype == "Int64"


@pytest.mark.parametrize("model", BOOSTERS, ids=lambda model: type(model).__name__)
def test_columns_are_taken_by_position_on_request(model):
    p = model.fit(X, y).predict_proba(X)
    renamed = X.add_prefix("other ")
    with pytest.raises(ValueError, match="X must have the columns that fit saw"):
        model.predict(renamed)
    np.testing.assert_array_equal(model.predict_proba(renamed, validate_features=False), p)
    np.testing.assert_array_equal(model.predict(renamed, validate_features=False), p.argmax(axis=1))


@pytest.mark.parametrize(
    ("parameters", "n"),
    [({"passes": 1}, 1), ({"loss": "gce"}, 1), ({"passes": 1, "class_weight": "balanced"}, 2)],
)
def test_xgboost_reads_training_rows_once(monkeypatch, parameters, n):
    made = []

    class Counted(xgboost.QuantileDMatrix):
        def __init__(self, *args, **kwargs):
            made.append(self)
            super().__init__(*args, **kwargs)

    monkeypatch.setattr(xgboost.sklearn, "QuantileDMatrix", Counted)
    model = RobustXGBClassifier(n_estimators=2, n_jobs=1, **parameters)
    model.fit(X, y, eval_set=[(X, y)], verbose=False)
    assert len(made) == n
    assert all(len(values) == 2 for values in model.evals_result()["validation_0"].values())
