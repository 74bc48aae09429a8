import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits

from boostnoise import RobustLGBMClassifier, RobustXGBClassifier

MODELS = {
    "xgboost": RobustXGBClassifier(n_estimators=20, n_jobs=1),
    "lightgbm": RobustLGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1),
}
DATA = {2: load_breast_cancer, 4: load_digits}


@pytest.fixture(params=MODELS)
def model(request):
    return clone(MODELS[request.param])


@pytest.fixture(params=DATA)
def rows(request):
    """Features and labels of two or four classes."""
    X, y = DATA[request.param](return_X_y=True)
    return X[y < request.param], y[y < request.param]


def soften(y, seed=0):
    """Probabilities whose highest ones are mostly those of y."""
    p = np.random.default_rng(seed).dirichlet(np.ones(y.max() + 1), y.size)
    return 0.3 * p + 0.7 * np.eye(y.max() + 1)[y]


@pytest.mark.parametrize("parameters", [{}, {"loss": "gce"}, {"hessian": "unit"}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_certain_labels_equal_hard_ones(model, rows, parameters, weighted):
    X, y = rows
    weight = np.random.default_rng(0).random(y.size) + 0.5 if weighted else None
    model.set_params(passes=1, **parameters)
    expected = clone(model).fit(X, y, sample_weight=weight).predict_proba(X)
    found = clone(model).fit(X, np.eye(y.max() + 1)[y], sample_weight=weight)
    np.testing.assert_allclose(found.predict_proba(X), expected, atol=2e-5)
    np.testing.assert_array_equal(
        found.predict(X), clone(model).fit(X, y).predict(X) if weight is None else found.predict(X)
    )


@pytest.mark.parametrize("parameters", [{}, {"loss": "gce"}], ids=str)
def test_probabilities_equal_weighted_copies(model, rows, parameters):
    """But for bins and the rows in a leaf, which both libraries count by copies."""
    X, y = rows
    X = np.round(X)  # few values, so that bins are the same
    p = soften(y)
    model.set_params(max_depth=2, **parameters)
    model.set_params(**({"min_child_samples": 0} if isinstance(model, RobustLGBMClassifier) else {}))
    found = clone(model).fit(X, p)
    copied, classes = np.repeat(X, p.shape[1], axis=0), np.tile(np.arange(p.shape[1]), len(X))
    expected = clone(model).set_params(passes=1).fit(copied, classes, sample_weight=p.ravel())
    difference = found.predict_proba(X) - expected.predict_proba(X)
    assert np.abs(difference).mean() < 0.01
    assert found.passes_ == 1


def test_names_of_classes(model, rows):
    X, y = rows
    p = soften(y)
    names = np.array(["d", "b", "c", "a"][: p.shape[1]])
    named = clone(model).fit(X, pd.DataFrame(p, columns=names))
    plain = clone(model).fit(X, p[:, np.argsort(names)])
    assert list(named.classes_) == sorted(names)
    assert list(plain.classes_) == list(range(p.shape[1]))
    np.testing.assert_array_equal(named.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(named.predict(X), named.classes_[plain.predict(X)])


def test_the_given_probabilities_are_not_changed(model):
    X, y = load_breast_cancer(return_X_y=True)
    p = soften(y) * 0.9995  # sums within the tolerance
    before = p.copy()
    p.flags.writeable = False
    model.fit(X, p)
    np.testing.assert_array_equal(p, before)


def test_a_class_that_is_nowhere_the_most_probable(model):
    X, y = load_breast_cancer(return_X_y=True)
    p = np.column_stack([0.8 * np.eye(2)[y], np.full(y.size, 0.2)])
    fitted = clone(model).fit(X, p)
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 2].mean(), 0.2, atol=0.02)
    never = clone(model).fit(X, np.column_stack([np.eye(2)[y], np.zeros(y.size)]))
    assert never.predict_proba(X)[:, 2].max() < 1e-3


@pytest.mark.parametrize(
    "class_weight", ["balanced", {0: 1.0, 1: 5.0, 2: 1.0, 3: 1.0}], ids=["balanced", "dict"]
)
def test_class_weights(model, rows, class_weight):
    X, y = rows
    if isinstance(class_weight, dict):
        class_weight = {label: class_weight[label] for label in range(y.max() + 1)}
    model.set_params(class_weight=class_weight)
    expected = clone(model).set_params(passes=1).fit(X, y).predict_proba(X)
    found = clone(model).fit(X, np.eye(y.max() + 1)[y]).predict_proba(X)
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_saved_boosters_predict_without_this_package(model, rows, tmp_path):
    X, y = rows
    fitted = model.fit(X, soften(y))
    expected = fitted.predict_proba(X)
    if isinstance(fitted, RobustXGBClassifier):
        fitted.save_model(tmp_path / "model.json")
        loaded = xgboost.XGBClassifier()
        loaded.load_model(tmp_path / "model.json")
        np.testing.assert_array_equal(loaded.predict_proba(X), expected)
        again = RobustXGBClassifier()
        again.load_model(tmp_path / "model.json")
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        objective = "binary:logistic" if y.max() == 1 else "multi:softprob"
        assert f'"name":"{objective}"' in fitted.get_booster().save_config().replace(" ", "")
    else:
        fitted.booster_.save_model(tmp_path / "model.txt")
        loaded = lightgbm.Booster(model_file=tmp_path / "model.txt").predict(X)
        np.testing.assert_allclose(loaded, expected[:, 1] if y.max() == 1 else expected, rtol=1e-12)
        objective = "binary sigmoid:1" if y.max() == 1 else "multiclass num_class:4"
        assert f"\nobjective={objective}\n" in fitted.booster_.model_to_string()


@pytest.mark.parametrize("early", [False, True])
def test_evaluation_sets(model, rows, early):
    X, y = rows
    train, stop = slice(0, None, 2), slice(1, None, 2)
    model.set_params(n_estimators=200)
    arguments = {"eval_set": [(X[stop], y[stop])]}
    if isinstance(model, RobustXGBClassifier):
        model.set_params(early_stopping_rounds=5 if early else None)
        arguments["verbose"] = False
    elif early:
        arguments["callbacks"] = [lightgbm.early_stopping(5, verbose=False)]
    fitted = model.fit(X[train], soften(y)[train], **arguments)
    xgb = isinstance(model, RobustXGBClassifier)
    scores = fitted.evals_result()["validation_0"] if xgb else fitted.evals_result_["valid_0"]
    ((name, losses),) = scores.items()
    assert "logloss" in name
    p = fitted.predict_proba(X[stop])
    loss = -np.log(p[np.arange(len(p)), y[stop]]).mean()
    assert loss == pytest.approx(min(losses) if early else losses[-1], rel=1e-4)


@pytest.mark.parametrize(
    ("p", "message"),
    [
        (np.full((569, 2), 0.6), "soft labels must sum to 1 in each row"),
        (np.tile([1.5, -0.5], (569, 1)), r"soft labels must be probabilities in \[0, 1\], got"),
        (np.full((568, 2), 0.5), "same number of rows, got 569 and 568"),
    ],
)
def test_bad_soft_labels(model, p, message):
    X, _ = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        model.fit(X, p)


def test_soft_labels_cannot_choose_loss_parameters(model):
    X, y = load_breast_cancer(return_X_y=True)
    for loss, loss_params in (("gce", {"q": "auto"}), ("forward", {"T": "auto"})):
        with pytest.raises(ValueError, match="='auto' is chosen for given labels, but y contains soft labels"):
            clone(model).set_params(loss=loss, loss_params=loss_params).fit(X, soften(y))
