import pickle
import warnings
from dataclasses import dataclass
from functools import partial

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import compute_sample_weight
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostnoise import CrossEntropy, GeneralizedCrossEntropy, RobustLGBMClassifier, RobustXGBClassifier

QUIET = {"verbose": -1}
# One thread: on small data, several threads mostly wait for each other.
BOTH = [
    RobustXGBClassifier(loss="gce", budget=0, n_estimators=10, n_jobs=1),
    RobustLGBMClassifier(loss="gce", budget=0, n_estimators=10, n_jobs=1, **QUIET),
]
LIBRARIES = [
    (xgboost.XGBClassifier, RobustXGBClassifier, {}),
    (lightgbm.LGBMClassifier, RobustLGBMClassifier, QUIET),
]


@pytest.fixture(params=["xgboost", "lightgbm"])
def model(request):
    return clone(BOTH[["xgboost", "lightgbm"].index(request.param)])


@pytest.mark.parametrize(("built_in", "robust", "parameters"), LIBRARIES, ids=["xgboost", "lightgbm"])
@pytest.mark.parametrize(
    "load", [load_breast_cancer, partial(load_digits, n_class=4)], ids=["binary", "4 classes"]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_with_cross_entropy_it_equals_the_library(built_in, robust, parameters, load, weighted):
    X, y = load(return_X_y=True)
    X_train, X_test, y_train, _ = train_test_split(X, y, random_state=0)
    weight = np.random.default_rng(0).random(len(y_train)) + 0.1 if weighted else None
    # With several threads, XGBoost's sums depend on timing, and so do its trees where gains tie.
    parameters = {"n_estimators": 20, "n_jobs": 1, **parameters}
    expected = built_in(**parameters).fit(X_train, y_train, sample_weight=weight).predict_proba(X_test)
    found = (
        robust(loss="ce", budget=0, **parameters)
        .fit(X_train, y_train, sample_weight=weight)
        .predict_proba(X_test)
    )
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
    np.testing.assert_allclose(
        robust(loss="ce", budget=0, **parameters).fit(X, y).predict_proba(X), expected, atol=1e-5
    )


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
    """Mislabelled rows far from the boundary have a lower probability of their label than with cross entropy."""
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


def test_parameters_of_a_loss_in_a_grid_search(model):
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), model)
    name = f"{pipeline.steps[-1][0]}__loss_params__q"
    search = GridSearchCV(pipeline, {name: [0.2, 0.9]}, cv=2).fit(X, y)
    assert search.best_estimator_[-1].loss_ == GeneralizedCrossEntropy(search.best_params_[name])
    assert search.cv_results_["mean_test_score"].min() > 0.8


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        ({"q": 0.4}, {"loss": "ce"}, None),
        ({"q": 0.4}, {"loss": GeneralizedCrossEntropy(0.2)}, None),
        ({"q": 0.4}, {"loss": "gce"}, {"q": 0.4}),
        ({"q": 0.4}, {"loss": "focal", "loss_params__gamma": 1.0}, {"gamma": 1.0}),
        ({"q": 0.4}, {"loss": "ce", "loss_params": {"q": 0.4}}, {"q": 0.4}),
        ({"q": 0.4}, {"loss_params__q": 0.5}, {"q": 0.5}),
        (None, {"loss_params__q": 0.5}, {"q": 0.5}),
        ({"q": 0.4}, {"loss_params": {"q": 0.3}, "loss_params__q": 0.5}, {"q": 0.5}),
        ({"q": 0.4}, {"n_estimators": 3}, {"q": 0.4}),
    ],
)
def test_a_new_loss_keeps_the_parameters_that_it_has(model, before, changes, after):
    given = {"loss": "gce", "loss_params": before}
    assert model.set_params(**given).set_params(**changes).get_params()["loss_params"] == after
    assert given["loss_params"] is before


def test_loss_params_that_are_no_dict_are_not_merged(model):
    for changes in ({"loss": "ce"}, {"loss_params__q": 0.5}):
        with pytest.raises(TypeError, match=r"loss_params must be a dict or None, got \[0.7\]"):
            clone(model).set_params(loss_params=[0.7]).set_params(**changes)


@pytest.mark.parametrize("cls", [RobustXGBClassifier, RobustLGBMClassifier])
def test_a_parameter_of_the_loss_as_an_argument_of_the_estimator(cls):
    model = cls(loss_params={"q": 0.4}, loss_params__q=0.5, max_depth=2)
    assert clone(model).get_params()["loss_params"] == {"q": 0.5}
    assert "loss_params__q" not in model.get_params()


def test_repr_shows_the_loss():
    assert repr(RobustXGBClassifier(n_estimators=20)) == "RobustXGBClassifier(loss='ce', n_estimators=20)"
    shown = repr(RobustLGBMClassifier(loss="ce", loss_params={}, verbose=-1))
    assert shown == "RobustLGBMClassifier(loss='ce', loss_params={}, verbose=-1)"


def test_libraries_do_not_warn_about_unknown_parameters(model, capfd):
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y).predict(X)
    printed = "".join([*capfd.readouterr(), *(str(warning.message) for warning in caught)])
    assert "loss" not in printed
    assert "Unknown parameter" not in printed


def never(*_, **__):
    raise AssertionError("training started")


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"loss": "gcee"}, ValueError, "loss 'gcee' is unknown"),
        ({"loss_params": {"q": 7}}, ValueError, r"q of GeneralizedCrossEntropy must be in \[0, 1\]"),
        ({"loss_params": {"r": 7}}, ValueError, "has no parameter 'r'"),
        ({"objective": "multiclass"}, ValueError, "objective is set by the loss"),
        ({"hessian": "newton"}, ValueError, "hessian strategy 'newton' is unknown.*irls"),
        ({"loss": "savage"}, ValueError, "SavageLoss is for two classes, got 3"),
        (
            {"loss": "unbiased", "loss_params": {"noise_rate_pos": 0.1, "noise_rate_neg": 0.2}},
            ValueError,
            "T is for 2 classes, but there are 3",
        ),
        (
            {"loss": "unbiased", "loss_params": {"noise_rate_pos": 0.5, "noise_rate_neg": 0.5}},
            ValueError,
            "must sum to less than 1",
        ),
        (
            {"loss": "forward", "loss_params": {"T": np.eye(2)}},
            ValueError,
            "T is for 2 classes, but there are 3",
        ),
        ({"loss": "forward", "loss_params": {"T": np.ones((3, 3))}}, ValueError, "the rows of T must sum to 1"),
        ({"loss": "backward", "loss_params": {"T": np.full((4, 4), 0.25)}}, ValueError, "T must be invertible"),
        ({"loss": "negative_exponential"}, ValueError, "needs the parameter 'mu'|is for two classes"),
        ({"loss": 7}, TypeError, "loss must be a name or a Loss, got 7"),
        ({"q": 0.5}, TypeError, r"q=0.5 has no effect.*loss_params=\{'q': 0.5\}"),
        ({"loss": GeneralizedCrossEntropy(0.4), "q": 0.5}, TypeError, "q=0.5 has no effect"),
        ({"loss_params": [0.7]}, TypeError, r"loss_params must be a dict or None, got \[0.7\]"),
    ],
)
def test_bad_parameters_stop_before_training(model, parameters, error, message, monkeypatch):
    X, y = load_iris(return_X_y=True)
    model.set_params(**parameters)
    monkeypatch.setattr(xgboost.sklearn, "train", never)
    monkeypatch.setattr(lightgbm.sklearn, "train", never)
    with pytest.raises(error, match=message):
        model.fit(X, y)


def test_bad_data(model):
    X = load_iris().data
    with pytest.raises(ValueError, match="y must contain at least two classes, got one class, 1"):
        model.fit(X, np.ones(150, dtype=int))
    with pytest.raises(ValueError, match=r"y contains \d+ missing labels"):
        model.fit(X, np.where(X[:, 0] > 5, "a", None))
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, X[:, 0] + 0.01)
    with pytest.raises(ValueError, match="sample_weight is zero for all rows"):
        model.fit(X, load_iris().target, sample_weight=np.zeros(150))
    for weight, message in (
        (np.where(X[:, 0] > 7, np.nan, 1.0), r"finite and not negative, got \[nan, nan, nan\]"),
        (np.where(X[:, 0] > 7, np.inf, 1.0), "finite and not negative"),
        (np.where(X[:, 0] > 7, -1, 1), "finite and not negative"),
        (np.ones(149), r"sample_weight must have shape \(150,\), got \(149,\)"),
        (np.full(150, "a"), "sample_weight must contain numbers, got dtype"),
        (np.full(150, 1j), "sample_weight must contain numbers, got dtype complex128"),
        (np.full(150, 1e-46), r"sample_weight must sum to at least 1e-06 and at most 1e\+18 .*, got 1.5e-44"),
        (np.full(150, 1e300), r"sample_weight must sum to at least 1e-06 and at most 1e\+18 .*, got 1.5e\+302"),
        (np.full(150, 1e308), "sample_weight must sum to at least .*, got inf"),
        (np.append(np.ones(149), 1e300), r"sample_weight must sum to at least .*, got 1e\+300"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, load_iris().target, sample_weight=weight)
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        model.fit(X, None)
    with pytest.raises(ValueError, match="same number of rows, got 150 and 149"):
        model.fit(X, load_iris().target[:-1])
    with pytest.raises(ValueError, match="class_weight must be a dict, 'balanced' or None, got 'balance'"):
        clone(model).set_params(class_weight="balance").fit(X, load_iris().target)
    for class_weight in ({0: -1.0, 1: 1.0, 2: 1.0}, {0: np.nan, 1: 1.0, 2: 1.0}):
        with pytest.raises(ValueError, match="class_weight must be finite and not negative"):
            clone(model).set_params(class_weight=class_weight).fit(X, load_iris().target)
    with pytest.raises(ValueError, match="sample_weight times class_weight is zero for all rows"):
        clone(model).set_params(class_weight=dict.fromkeys(range(3), 0)).fit(X, load_iris().target)
    with pytest.raises(ValueError, match="sample_weight times class_weight must sum to at least 1e-06"):
        clone(model).set_params(class_weight=dict.fromkeys(range(3), 1e-46)).fit(X, load_iris().target)


def test_negligible_weights_equal_zero_weights(model):
    X, y = load_iris(return_X_y=True)
    negligible = np.arange(150) % 7 == 0
    actual = model.fit(X, y, sample_weight=np.where(negligible, 1e-46, 1.0)).predict_proba(X)
    expected = model.fit(X, y, sample_weight=np.where(negligible, 0.0, 1.0)).predict_proba(X)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "d"], r"eval_set\[1\].*unseen labels: .*d"),
        (["a", None], r"eval_set\[1\]"),
        (3.0, r"eval_set\[1\]"),
    ],
)
def test_bad_labels_of_an_eval_set(model, labels, message):
    X, y = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, eval_set=[(X, y), (X[:2], labels)])
    with pytest.raises(ValueError, match=r"eval_set\[0\].*NaN"):
        model.fit(X, load_iris().target, eval_set=[(X[:2], np.array([0, np.nan]))])


def test_an_eval_set_is_a_list_of_pairs(model):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"eval_set must be a list of pairs, such as \[\(X, y\)\]; .*ndarray"):
        model.fit(X, y, eval_set=[X, y])
    with pytest.raises(ValueError, match="item 0 is a tuple with 3 parts"):
        model.fit(X, y, eval_set=[(X, y, y)])


def test_a_column_of_labels_warns_once(model):
    X, y = load_iris(return_X_y=True)
    with pytest.warns(DataConversionWarning) as caught:
        model.fit(X, y.reshape(-1, 1))
    assert len(caught) == 1


def test_alpha_is_a_parameter_of_the_libraries(model):
    """It is XGBoost's name of a penalty, although a loss also has a parameter of this name."""
    X, y = load_iris(return_X_y=True)
    model.set_params(loss="sce", alpha=0.5).fit(X, y)
    assert model.loss_.alpha != 0.5


def expected_failures(estimator):
    """Other checks pass, although the parent classes fail some, XGBoost's on labels other than 0 to K - 1."""
    if estimator.budget:
        reason = "folds and samples of repeated rows differ from those of weighted rows"
    elif isinstance(estimator, RobustXGBClassifier):
        reason = "XGBoost's bins depend on weights"
    else:
        reason = "min_child_samples of LightGBM counts rows, not weights"
    return dict.fromkeys(
        [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")], reason
    )


@parametrize_with_checks(
    [
        RobustXGBClassifier(budget=0, n_estimators=5, n_jobs=1),
        RobustLGBMClassifier(budget=0, n_estimators=5, n_jobs=1),
        RobustLGBMClassifier(budget=0.2, cv=2, n_jobs=1),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both libraries warn about column names and sparse formats
        check(estimator)


@dataclass(frozen=True)
class Broken(CrossEntropy):
    """Valid at first, but NaN for margins beyond 1."""

    def gradient(self, y, margin):
        gradient = super().gradient(y, margin)
        return np.where(np.abs(np.asarray(margin)) > 1, np.nan, gradient)


def test_a_loss_that_yields_nan_stops_training(model):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(FloatingPointError, match=r"the gradient of Broken\(\) is not finite"):
        model.set_params(loss=Broken(), n_estimators=50).fit(X, y)


def test_the_hessian_strategy_matters(model):
    X, y = load_iris(return_X_y=True)
    default, irls, unit = (
        clone(model).set_params(hessian=strategy).fit(X, y).predict_proba(X)
        for strategy in (None, "irls", "unit")
    )
    np.testing.assert_array_equal(default, irls)
    assert np.abs(default - unit).max() > 0.01


@pytest.mark.parametrize("class_weight", ["balanced", {"a": 1, "b": 5, "c": 2}])
def test_class_weights_multiply_sample_weights(model, class_weight):
    X, y = load_iris(return_X_y=True)
    X, y = X[:120], np.array(["a", "b", "c"])[y[:120]]
    given = np.random.default_rng(0).random(120) + 0.5
    by_class = compute_sample_weight(class_weight, y)
    model.set_params(n_jobs=1)
    expected = clone(model).fit(X, y, sample_weight=given * by_class).predict_proba(X)
    found = clone(model).set_params(class_weight=class_weight).fit(X, y, sample_weight=given).predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    unweighted = clone(model).fit(X, y, sample_weight=given).predict_proba(X)
    assert np.abs(found - unweighted).max() > 1e-3


@pytest.mark.parametrize(("built_in", "robust", "parameters"), LIBRARIES, ids=["xgboost", "lightgbm"])
def test_importances_equal_those_of_the_library(built_in, robust, parameters):
    X, y = load_iris(return_X_y=True)
    expected = built_in(n_estimators=10, n_jobs=1, **parameters).fit(X, y).feature_importances_
    found = robust(loss="ce", budget=0, n_estimators=10, n_jobs=1, **parameters).fit(X, y).feature_importances_
    np.testing.assert_allclose(found, expected, rtol=1e-4)
