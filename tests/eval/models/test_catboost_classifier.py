import numpy as np
import pytest

pytest.importorskip("catboost")

from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris

from boostnoise.eval.models.catboost_classifier import CatBoostClassifier

X, Y = load_iris(return_X_y=True)


def test_it_is_a_scikit_learn_estimator_without_output_and_files(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    model = CatBoostClassifier(n_estimators=10, class_weights=[1.0, 2.0, 1.0], random_state=1)
    assert is_classifier(model)
    again = clone(model).set_params(thread_count=1)
    assert again.get_params()["n_estimators"] == 10
    predicted = model.fit(X, Y).predict(X)
    assert predicted.shape == Y.shape
    np.testing.assert_array_equal(again.fit(X, Y).predict(X), predicted)
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "name",
    [
        "train_dir",
        "allow_writing_files",
        "save_snapshot",
        "snapshot_file",
        "output_borders",
        "devices",
        "bogus",
    ],
)
def test_forbidden_parameters(name):
    with pytest.raises(TypeError, match=f"parameter '{name}'"):
        CatBoostClassifier(**{name: "x"})
    with pytest.raises(TypeError, match=f"parameter '{name}'"):
        CatBoostClassifier().set_params(**{name: "x"})
