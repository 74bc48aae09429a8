import pickle
import warnings

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.model_selection import GridSearchCV, train_test_split

from boostnoise import GeneralizedCrossEntropy, RobustLGBMClassifier, RobustXGBClassifier

QUIET = {"verbose": -1}
BOTH = [RobustXGBClassifier(n_estimators=10), RobustLGBMClassifier(n_estimators=10, **QUIET)]
LIBRARIES = [
    (xgboost.XGBClassifier, RobustXGBClassifier, {}),
    (lightgbm.LGBMClassifier, RobustLGBMClassifier, QUIET),
]


@pytest.fixture(params=["xgboost", "lightgbm"])
def model(request):
    return clone(BOTH[["xgboost", "lightgbm"].index(request.param)])


@pytest.mark.parametrize(("built_in", "robust", "parameters"), LIBRARIES, ids=["xgboost", "lightgbm"])
@pytest.mark.parametrize("load", [load_breast_cancer, load_digits], ids=["binary", "10 classes"])
@pytest.mark.parametrize("weighted", [False, True])
def test_with_cross_entropy_it_is_the_library_itself(built_in, robust, parameters, load, weighted):
    X, y = load(return_X_y=True)
    X_train, X_test, y_train, _ = train_test_split(X, y, random_state=0)
    weight = np.random.default_rng(0).random(len(y_train)) + 0.1 if weighted else None
    # With several threads XGBoost's own sums depend on their timing, and where gains tie so do its trees.
    parameters = {"n_estimators": 50, "n_jobs": 1, **parameters}
    expected = built_in(**parameters).fit(X_train, y_train, sample_weight=weight).predict_proba(X_test)
    found = robust(loss="ce", **parameters).fit(X_train, y_train, sample_weight=weight).predict_proba(X_test)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("library", "parameters"),
    [(0, {"scale_pos_weight": 3.0}), (0, {"base_score": 0.2}), (1, {"scale_pos_weight": 3.0}),
     (1, {"class_weight": "balanced"}), (1, {"class_weight": {0: 1, 1: 5}}), (1, {"boost_from_average": False}),
     (1, {"extra_trees": True, "random_state": 3}), (0, {"subsample": 0.5, "random_state": 3})],
)  # fmt: skip
def test_parameters_reach_the_library(library, parameters):
    X, y = load_breast_cancer(return_X_y=True)
    built_in, robust, quiet = LIBRARIES[library]
    parameters = {"n_estimators": 20, "learning_rate": 0.2, "max_depth": 3, "n_jobs": 1, **quiet, **parameters}
    expected = built_in(**parameters).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(robust(loss="ce", **parameters).fit(X, y).predict_proba(X), expected, atol=1e-5)


def test_labels_of_any_type(model):
    X, y = load_iris(return_X_y=True)
    for classes in (np.array(["c", "a", "b"]), np.array([10, -3, 5])):
        for n_classes in (2, 3):
            rows = y < n_classes
            fitted = clone(model).fit(X[rows], classes[y[rows]])
            np.testing.assert_array_equal(fitted.classes_, np.unique(classes[:n_classes]))
            assert set(fitted.predict(X[rows])) <= set(classes)
            assert fitted.score(X[rows], classes[y[rows]]) > 0.95
            probabilities = fitted.predict_proba(X[rows])
            assert probabilities.shape == (rows.sum(), n_classes)
            np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)


def test_noisy_labels_are_trusted_less(model):
    """Rows given a wrong label far from the boundary keep a lower probability of it than with cross entropy."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 2))
    y = (X[:, 0] > 0).astype(int)
    flipped = (rng.random(2_000) < 0.2) & (np.abs(X[:, 0]) > 0.5)
    given = np.where(flipped, 1 - y, y)

    def trust(loss):
        fitted = clone(model).set_params(loss=loss, n_estimators=100).fit(X, given)
        return fitted.predict_proba(X)[flipped, given[flipped]].mean()

    assert trust("gce") < trust("ce") - 0.05


def test_clone_pickle_and_grid_search(model):
    X, y = load_iris(return_X_y=True)
    configured = clone(model).set_params(loss_params={"q": 0.4}, learning_rate=0.05)
    assert clone(configured).get_params() == configured.get_params()
    assert clone(model).set_params(loss=GeneralizedCrossEntropy(0.4)).fit(X, y).score(X, y) > 0.9
    parameters = configured.get_params()
    fitted = configured.fit(X, y)
    assert fitted.get_params() == parameters
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict_proba(X), fitted.predict_proba(X))
    search = GridSearchCV(model, {"loss": ["ce", "gce"], "learning_rate": [0.1, 0.3]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9


def test_the_loss_is_shown():
    assert repr(RobustXGBClassifier(n_estimators=20)) == "RobustXGBClassifier(loss='gce', n_estimators=20)"
    shown = repr(RobustLGBMClassifier(loss="ce", loss_params={}, verbose=-1))
    assert shown == "RobustLGBMClassifier(loss='ce', loss_params={}, verbose=-1)"


def test_small_data():
    X, y = np.arange(16.0).reshape(-1, 1), np.array([0, 1, 1, 1] * 4)
    expected = lightgbm.LGBMClassifier(**QUIET).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(RobustLGBMClassifier(loss="ce", **QUIET).fit(X, y).predict_proba(X), expected)


def test_parameters_set_later():
    X, y = load_breast_cancer(return_X_y=True)
    later = RobustLGBMClassifier(n_estimators=5, **QUIET).set_params(loss="ce", loss_params=None).fit(X, y)
    at_once = RobustLGBMClassifier(n_estimators=5, loss="ce", **QUIET).fit(X, y)
    np.testing.assert_array_equal(later.predict_proba(X), at_once.predict_proba(X))


def test_early_stopping_reads_the_right_metric():
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    y_train, y_test = np.array(["no", "yes"])[y_train], np.array(["no", "yes"])[y_test]

    boosted = RobustXGBClassifier(loss="ce", n_estimators=300, early_stopping_rounds=5)
    boosted.fit(X_train, y_train, eval_set=[(X_test, y_test)], verbose=False)
    probabilities = boosted.predict_proba(X_test)[np.arange(len(y_test)), (y_test == "yes").astype(int)]
    assert boosted.best_iteration < 299
    assert boosted.best_score == pytest.approx(-np.log(probabilities).mean(), rel=1e-4)

    stop = lightgbm.early_stopping(5, verbose=False)
    boosted = RobustLGBMClassifier(loss="ce", n_estimators=300, **QUIET)
    boosted.fit(X_train, y_train, eval_set=[(X_test, y_test)], callbacks=[stop])
    probabilities = boosted.predict_proba(X_test)[np.arange(len(y_test)), (y_test == "yes").astype(int)]
    assert boosted.best_iteration_ < 300
    assert boosted.best_score_["valid_0"]["log_loss"] == pytest.approx(-np.log(probabilities).mean())


def test_margins_on_request():
    X, y = load_breast_cancer(return_X_y=True)
    boosted = BOTH[0].fit(X, y)
    sigmoid = 1 / (1 + np.exp(-boosted.predict(X, output_margin=True)))
    np.testing.assert_allclose(sigmoid, boosted.predict_proba(X)[:, 1], rtol=1e-5)
    boosted = BOTH[1].fit(X, y)
    sigmoid = 1 / (1 + np.exp(-boosted.predict_proba(X, raw_score=True)))
    np.testing.assert_allclose(sigmoid, boosted.predict_proba(X)[:, 1])
    assert boosted.predict_proba(X, pred_leaf=True).shape == (len(X), 10)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_intercept_is_in_the_saved_model(tmp_path, classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    boosted = clone(BOTH[1]).fit(X, y)
    boosted.booster_.save_model(tmp_path / "model.txt")
    loaded = lightgbm.Booster(model_file=tmp_path / "model.txt")
    np.testing.assert_allclose(loaded.predict(X, raw_score=True), boosted.predict_proba(X, raw_score=True))


def test_nothing_is_said_about_unknown_parameters(model, capfd):
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y).predict(X)
    printed = "".join([*capfd.readouterr(), *(str(warning.message) for warning in caught)])
    assert "loss" not in printed
    assert "Unknown parameter" not in printed


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"loss": "gcee"}, ValueError, "loss 'gcee' is unknown"),
        ({"loss_params": {"q": 7}}, ValueError, r"q of GeneralizedCrossEntropy must be in \[0, 1\]"),
        ({"loss_params": {"r": 7}}, ValueError, "has no parameter 'r'"),
        ({"objective": "multiclass"}, ValueError, "objective is set by the loss"),
        ({"loss_params": [0.7]}, TypeError, r"loss_params must be a dict or None, got \[0.7\]"),
    ],
)
def test_bad_parameters(model, parameters, error, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(error, match=message):
        model.set_params(**parameters).fit(X, y)


def test_bad_data(model):
    X = load_iris().data
    with pytest.raises(ValueError, match="y must hold at least two classes, got only 1"):
        model.fit(X, np.ones(150, dtype=int))
    with pytest.raises(ValueError, match=r"y holds \d+ missing labels"):
        model.fit(X, np.where(X[:, 0] > 5, "a", None))
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, X[:, 0] + 0.01)


def test_lightgbms_own_metrics_are_refused():
    X, y = load_iris(return_X_y=True)
    for parameters, fit_parameters in (({}, {"eval_metric": "multi_logloss"}), ({"metric": "multi_error"}, {})):
        with pytest.raises(ValueError, match="reads the margins of a robust loss as probabilities"):
            RobustLGBMClassifier(**parameters).fit(X, y, eval_set=[(X, y)], **fit_parameters)
    for parameters, message in (
        ({"metrics": ["auc"]}, "reads the margins"),
        ({"is_unbalance": True}, "is_unbalance"),
        ({"unbalance": True}, "is_unbalance"),
        ({"application": "regression"}, "objective is set by the loss"),
        ({"linear_tree": True}, "linear_tree is not supported"),
    ):
        with pytest.raises(ValueError, match=message):
            RobustLGBMClassifier(**parameters).fit(X, y)
