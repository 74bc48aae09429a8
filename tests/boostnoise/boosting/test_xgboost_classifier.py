import numpy as np
import pytest
import xgboost
from sklearn.datasets import load_digits, load_iris

from boostnoise import RobustXGBClassifier

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


def test_save_model_rejects_labels_other_than_strings_and_numbers(tmp_path):
    X, y = load_iris(return_X_y=True)
    boosted = RobustXGBClassifier(passes=1, n_estimators=2, n_jobs=1).fit(
        X, np.array(["2001", "2002", "2003"], dtype="datetime64[Y]")[y]
    )
    with pytest.raises(TypeError, match=r"labels must be strings or numbers.*datetime64"):
        boosted.save_model(tmp_path / "model.json")
