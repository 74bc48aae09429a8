import json

import numpy as np
import pytest
import xgboost
from sklearn.datasets import load_digits, load_iris

from boostnoise import RobustXGBClassifier
from boostnoise.boosting.xgboost_booster import labels_from_json

LABELS = {
    "strings": np.array(["zebra", "ä b", "ox"]),
    "objects": np.array(["zebra", "ä b", "ox"], dtype=object),
    "integers": np.array([7, -3, 2**40]),
    "floats": np.array([0.0, 3.0, -1.0]),
}


@pytest.mark.parametrize("label_type", LABELS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["model.json", "model.ubj"])
def test_a_saved_model_predicts_the_same_labels(tmp_path, label_type, classes, name):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], LABELS[label_type][y[y < classes]]
    boosted = RobustXGBClassifier(passes=1, n_estimators=5, n_jobs=1).fit(X, y)
    boosted.save_model(tmp_path / name)
    assert "boostnoise_labels" not in boosted.get_booster().attributes()
    loaded = RobustXGBClassifier(passes=1)
    loaded.load_model(tmp_path / name)
    np.testing.assert_array_equal(loaded.predict_proba(X), boosted.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), boosted.predict(X))
    assert loaded.classes_.dtype == boosted.classes_.dtype
    assert set(loaded.predict(X)) == set(LABELS[label_type][:classes])


def test_xgboost_reads_a_saved_model(tmp_path):
    X, y = load_digits(return_X_y=True)
    boosted = RobustXGBClassifier(passes=1, n_estimators=5, n_jobs=1).fit(X, y)
    boosted.save_model(tmp_path / "model.json")
    plain = xgboost.XGBClassifier()
    plain.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(plain.predict_proba(X), boosted.predict_proba(X))
    plain.save_model(tmp_path / "plain.json")
    boosted.get_booster().save_model(tmp_path / "booster.json")
    loaded = RobustXGBClassifier(passes=1)
    loaded.load_model(tmp_path / "booster.json")
    np.testing.assert_array_equal(loaded.predict(X), boosted.predict(X))


@pytest.mark.parametrize(
    "labels",
    [
        {"type": "<U250000000", "labels": ["a", "b", 3]},
        {"type": "|O", "labels": [{"a": 1}, {}, {"b": 2}]},
        {"type": "<i8", "labels": ["a", "b", "c"]},
        {"type": "<i8", "labels": [1, 2, 2**70]},
        {"type": "<f8", "labels": [1.0, 2.0]},
        {"type": "<U1", "labels": ["a", "b", "b"]},
        {"type": "V99999999999", "labels": ["a", "b", "c"]},
        {"type": "<M8[Y]", "labels": [1, 2, 3]},
        ["a", "b", "c"],
        "no labels",
    ],
)
def test_labels_of_a_file_from_a_stranger(tmp_path, labels):
    X, y = load_iris(return_X_y=True)
    booster = RobustXGBClassifier(passes=1, n_estimators=2, n_jobs=1).fit(X, y).get_booster()
    booster.set_attr(boostnoise_labels=labels if labels == "no labels" else json.dumps(labels))
    booster.save_model(tmp_path / "model.json")
    with pytest.raises(ValueError, match="labels in the saved model must be 3 different strings or numbers"):
        RobustXGBClassifier(passes=1).load_model(tmp_path / "model.json")


def test_a_type_of_long_strings_is_not_allocated():
    """It would be 3 GB."""
    loaded = labels_from_json('{"type": "<U250000000", "labels": ["a", "b", "cd"]}', 3)
    assert loaded.dtype == "<U2"


def test_save_model_rejects_labels_other_than_strings_and_numbers(tmp_path):
    X, y = load_iris(return_X_y=True)
    boosted = RobustXGBClassifier(passes=1, n_estimators=2, n_jobs=1).fit(
        X, np.array(["2001", "2002", "2003"], dtype="datetime64[Y]")[y]
    )
    with pytest.raises(TypeError, match=r"labels must be strings or numbers.*datetime64"):
        boosted.save_model(tmp_path / "model.json")


def test_columns_of_any_frame_must_be_in_order():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    y = X["a"] > 0
    boosted = RobustXGBClassifier(passes=1, n_estimators=3, n_jobs=1).fit(X, y)
    expected = boosted.predict_proba(X)
    for frame in (X, pl.from_pandas(X), pa.Table.from_pandas(X)):
        np.testing.assert_array_equal(boosted.predict_proba(frame), expected)
        swapped = frame.select(["b", "a"]) if frame is not X else X[["b", "a"]]
        for method in (boosted.predict, boosted.predict_proba, boosted.predict_log_proba):
            with pytest.raises(ValueError, match=r"in the order that fit saw, \['a', 'b'\], got \['b', 'a'\]"):
                method(swapped)
    with pytest.raises(ValueError, match=r"not numbers: 'day' \(dates\)"):
        boosted.fit(X.assign(day=pd.Timestamp("2020-01-01")), y)
