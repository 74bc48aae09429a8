import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

from boostnoise import (
    GeneralizedCrossEntropy,
    RobustLGBMClassifier,
    RobustXGBClassifier,
)
from boostnoise.boosting.loss_parameters import Q_CANDIDATES
from boostnoise.label_noise.judges import judge_labels

XGB = RobustXGBClassifier(passes=1, n_estimators=5, max_depth=3, n_jobs=1, random_state=3)
LGBM = RobustLGBMClassifier(passes=1, n_estimators=5, max_depth=3, n_jobs=1, random_state=3, verbose=-1)
AUTO = {"loss": "gce", "loss_params": {"q": "auto"}}
ESTIMATE = {"loss": "forward", "loss_params": {"T": "auto"}}
BOTH_CHOICES = pytest.mark.parametrize("choice", [AUTO, ESTIMATE], ids=["q", "T"])


@pytest.fixture(params=[XGB, LGBM], ids=["xgboost", "lightgbm"])
def model(request):
    return clone(request.param)


@pytest.fixture
def few_candidates(monkeypatch):
    """Two candidates for q: which they are makes no difference to the test, and each costs five fits."""
    monkeypatch.setattr("boostnoise.boosting.loss_parameters.Q_CANDIDATES", (0.0, 0.7))


def noisy(rates=(0.1, 0.3)):
    """Breast cancer data with class-conditional noise of the given rates."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :8]  # enough to tell the classes apart
    flipped = np.random.default_rng(0).random(y.size) < np.array(rates)[y]
    return X, np.array(["benign", "malign"])[np.where(flipped, 1 - y, y)]


def cross_fitted(model, X, y, seed=3, **params):
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    return cross_val_predict(model, X, y, cv=folds, method="predict_proba", params=params)


def test_q_has_the_highest_accuracy_on_noisy_labels(model):
    X, y = noisy()
    weight = np.random.default_rng(1).random(y.size) + 0.1
    fitted = clone(model).set_params(**AUTO).fit(X, y, sample_weight=weight)
    expected = {}
    for q in Q_CANDIDATES:
        candidate = clone(model).set_params(loss=GeneralizedCrossEntropy(q))
        found = cross_fitted(candidate, X, y, sample_weight=weight).argmax(axis=1)
        expected[q] = np.average(np.unique(y)[found] == y, weights=weight)
    assert fitted.loss_scores_ == pytest.approx(expected)
    assert len(set(expected.values())) > 1
    assert fitted.loss_ == GeneralizedCrossEntropy(max(expected, key=expected.get))
    last = clone(model).set_params(loss=fitted.loss_).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(fitted.predict_proba(X), last.predict_proba(X))


def test_ties_are_resolved_in_favour_of_the_smallest_q(model):
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    fitted = model.set_params(**AUTO).fit(X, X[:, 0])
    assert fitted.loss_scores_ == dict.fromkeys(Q_CANDIDATES, 1.0)
    assert fitted.loss_ == GeneralizedCrossEntropy(0.0)


@pytest.mark.usefixtures("few_candidates")
def test_noise_leads_to_a_larger_q():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 5))
    y = X[:, 0] + X[:, 1] > 0
    given = y ^ (rng.random(y.size) < 0.3)
    fitted = RobustXGBClassifier(passes=1, n_estimators=50, n_jobs=1, **AUTO).fit(X, given)
    assert fitted.loss_.q > 0.5
    assert fitted.loss_scores_[fitted.loss_.q] > fitted.loss_scores_[0.0] + 0.01
    cross_entropy = RobustXGBClassifier(passes=1, loss="ce", n_estimators=50, n_jobs=1).fit(X, given)
    assert fitted.score(X, y) > cross_entropy.score(X, y) + 0.05


@pytest.mark.parametrize("loss", ["forward", "backward"])
def test_T_is_that_of_the_judges(model, loss):
    X, y = noisy()
    fitted = clone(model).set_params(loss=loss, loss_params={"T": "auto"}, hessian="logistic").fit(X, y)
    expected = judge_labels(X, np.unique(y, return_inverse=True)[1], random_state=3).transition_matrix
    np.testing.assert_allclose(fitted.loss_.T, expected)
    np.testing.assert_allclose(fitted.loss_.T, [[0.9, 0.1], [0.3, 0.7]], atol=0.25)
    assert fitted.passes_ == 1
    assert not hasattr(fitted, "loss_scores_")
    last = clone(model).set_params(loss=fitted.loss_, hessian="logistic").fit(X, y)
    np.testing.assert_array_equal(fitted.predict_proba(X), last.predict_proba(X))


@BOTH_CHOICES
@pytest.mark.usefixtures("few_candidates")
def test_the_same_seed_gives_the_same_choice(model, choice):
    X, y = (part[:200] for part in noisy())

    def chosen(seed):
        fitted = clone(model).set_params(n_estimators=3, random_state=seed, **choice).fit(X, y)
        return getattr(fitted, "loss_scores_", fitted.loss_), fitted.predict_proba(X)

    (first, p), (second, again), (other, _) = map(chosen, (3, 3, 4))
    assert first == second != other
    np.testing.assert_array_equal(p, again)


@BOTH_CHOICES
@pytest.mark.usefixtures("few_candidates")
def test_class_weights_are_equivalent_to_sample_weights(model, choice):
    X, y = noisy()
    model.set_params(**choice)
    by_row = np.where(y == "malign", 3.0, 1.0)
    by_class = clone(model).set_params(class_weight={"malign": 3.0, "benign": 1.0}).fit(X, y)
    weighted, plain = clone(model).fit(X, y, sample_weight=by_row), clone(model).fit(X, y)
    if choice is AUTO:
        assert by_class.loss_scores_ == pytest.approx(weighted.loss_scores_)
        assert plain.loss_scores_[0.0] < weighted.loss_scores_[0.0] - 0.03
    else:
        np.testing.assert_allclose(by_class.loss_.T, weighted.loss_.T)
        assert np.abs(np.subtract(plain.loss_.T, weighted.loss_.T)).max() > 0.02


@pytest.mark.usefixtures("few_candidates")
def test_scale_pos_weight_counts_in_the_accuracy(model):
    X, y = noisy()
    scaled = clone(model).set_params(scale_pos_weight=3.0, **AUTO).fit(X, y)
    candidate = clone(model).set_params(loss="ce", scale_pos_weight=3.0)
    right = np.unique(y)[cross_fitted(candidate, X, y).argmax(axis=1)] == y
    assert scaled.loss_scores_[0.0] == pytest.approx(np.average(right, weights=np.where(y == "malign", 3, 1)))


@BOTH_CHOICES
@pytest.mark.usefixtures("few_candidates")
def test_data_frames_with_categories_and_missing_values(model, choice):
    X, y = noisy()
    columns = pd.DataFrame({"a": X[:, 0], "b": pd.cut(X[:, 1], 4, labels=list("wxyz"))}).mask(X[:, :2] < 11)
    if isinstance(model, RobustXGBClassifier):
        model.set_params(enable_categorical=True)
    fitted = model.set_params(**choice).fit(columns, pd.Series(y, index=np.arange(y.size)[::-1]))
    assert fitted.score(columns, y) > 0.6
    assert set(fitted.predict(columns)) == {"benign", "malign"}


@BOTH_CHOICES
@pytest.mark.usefixtures("few_candidates")
def test_several_classes_of_any_size(model, choice):
    X, y = load_iris(return_X_y=True)
    some = np.r_[:50, 50:53, 100:140]  # one class with three rows, fewer than folds
    fitted = model.set_params(min_child_weight=0.0, **choice).fit(X[some], y[some])
    assert fitted.predict_proba(X).shape == (150, 3)
    assert fitted.score(X[some], y[some]) > 0.9


@BOTH_CHOICES
@pytest.mark.usefixtures("few_candidates")
def test_candidates_stop_early_as_the_model_does(model, choice, monkeypatch):
    X, y = noisy()
    X_train, X_stop, y_train, y_stop = train_test_split(X, y, random_state=0)
    ours = isinstance(model, RobustXGBClassifier)
    library, rounds = (xgboost if ours else lightgbm), []
    train = library.sklearn.train

    def counted(*args, **kwargs):
        booster = train(*args, **kwargs)
        rounds.append(booster.num_boosted_rounds() if ours else booster.best_iteration)
        return booster

    monkeypatch.setattr(library.sklearn, "train", counted)
    model.set_params(n_estimators=400, **choice)
    if ours:
        model.set_params(callbacks=[xgboost.callback.EarlyStopping(rounds=3)])
        given = {"verbose": False}
    else:
        given = {"callbacks": [lightgbm.early_stopping(3, verbose=False)]}
    model.fit(X_train, y_train, eval_set=[(X_stop, y_stop)], **given)
    n_fits = 1 + (3 * 2 if choice is AUTO else 0)
    assert len(rounds) == n_fits
    assert max(rounds) < 400
    again = clone(model).set_params(loss=model.loss_, loss_params=None)
    if ours:  # its callback keeps state
        again.set_params(callbacks=[xgboost.callback.EarlyStopping(rounds=3)])
    again.fit(X_train, y_train, eval_set=[(X_stop, y_stop)], **given)
    assert rounds[-1] == rounds[-2]


@pytest.mark.usefixtures("few_candidates")
def test_only_the_last_fit_is_reported(capsys):
    X, y = noisy()
    X_train, X_stop, y_train, y_stop = train_test_split(X, y, random_state=0)
    clone(XGB).set_params(n_estimators=4, **AUTO).fit(X_train, y_train, eval_set=[(X_stop, y_stop)])
    assert len(capsys.readouterr().out.splitlines()) == 4


@pytest.mark.usefixtures("few_candidates")
def test_scores_of_an_earlier_fit_are_removed(model):
    X, y = noisy()
    fitted = model.set_params(**AUTO).fit(X, y)
    assert hasattr(fitted, "loss_scores_")
    fitted.set_params(loss_params={"q": 0.4}).fit(X, y)
    assert not hasattr(fitted, "loss_scores_")
    assert fitted.loss_ == GeneralizedCrossEntropy(0.4)


@pytest.mark.usefixtures("few_candidates")
def test_q_cannot_be_chosen_where_training_starts_from_given_labels(model):
    X, y = noisy()
    model.set_params(**AUTO)
    alone = np.where(np.arange(y.size) == 7, "other", y)
    assert set(clone(model).fit(X, alone).loss_scores_) == {0.0, 0.7}
    start = "base_margin" if isinstance(model, RobustXGBClassifier) else "init_score"
    with pytest.raises(ValueError, match=rf"{start} cannot be combined with q='auto'"):
        model.fit(X, y, **{start: np.zeros(y.size)})
    start = "xgb_model" if isinstance(model, RobustXGBClassifier) else "init_model"
    first = clone(model).set_params(loss="ce", loss_params=None).fit(X, y)
    first = first.get_booster() if start == "xgb_model" else first.booster_
    with pytest.raises(ValueError, match=f"{start} cannot be combined"):
        model.fit(X, y, **{start: first})


def test_T_needs_features_that_distinguish_the_classes(model):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="do not distinguish the classes"):
        model.set_params(**ESTIMATE).fit(rng.normal(size=(200, 3)), rng.integers(2, size=200))
