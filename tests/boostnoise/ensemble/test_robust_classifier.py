import pickle

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostnoise import RobustClassifier
from boostnoise.ensemble.default_candidates import default_candidates
from boostnoise.eval import ClassConditionalNoise
from boostnoise.label_noise.judges import judge_labels
from robust_splits import RobustForestClassifier
from robust_splits.label_noise.folds import make_weighted_folds

RARE = [[0.98, 0.02], [0.6, 0.4]]  # six of ten rows of class 1 have the label 0
LOGISTIC = LogisticRegression()


def noisy_data(n=1500, T=RARE, seed=0, **params):
    """Features, noisy and clean labels of training rows, and clean test rows."""
    params = {"n_informative": 5, "class_sep": 1.5, "weights": [0.75], **params}
    X, clean = make_classification(n + 1000, 8, random_state=seed, **params)
    noisy = ClassConditionalNoise(T).corrupt(clean, X, random_state=seed).labels
    return X[:n], noisy[:n], clean[:n], X[n:], clean[n:]


@pytest.mark.parametrize("model", [None, LOGISTIC, LGBMClassifier(n_estimators=30, verbose=-1)], ids=str)
def test_overlooked_rows_are_found(model):
    X, y, clean, X_test, y_test = noisy_data(seed=3)
    plain = (RobustForestClassifier(passes=1, random_state=0) if model is None else clone(model)).fit(X, y)
    robust = RobustClassifier(model, random_state=0).fit(X, y)
    assert robust.passes_ == 2
    assert robust.score(X_test, y_test) > plain.score(X_test, y_test) + 0.05
    assert log_loss(y_test, robust.predict_proba(X_test)) < log_loss(y_test, plain.predict_proba(X_test))
    assert robust.transition_matrix_[1, 0] == pytest.approx(0.6, abs=0.15)
    assert robust.class_shares_[1] == pytest.approx(clean.mean(), abs=0.08)
    wrong = y != clean
    assert robust.p_wrong_[wrong].mean() > 0.5 > 0.15 > robust.p_wrong_[~wrong].mean()


def test_importances_are_the_mean_of_those_of_the_classifiers():
    X, y, *_ = noisy_data(400)
    models = [RobustForestClassifier(20, random_state=3), LGBMClassifier(n_estimators=20, verbose=-1)]
    robust = RobustClassifier(models, random_state=7).fit(X, y)
    shares = robust.candidates_["weight"].to_numpy()
    assert (shares > 0).all()
    forest, booster = (model.feature_importances_ for model in robust.estimators_)
    expected = shares[0] * forest + shares[1] * booster / booster.sum()
    np.testing.assert_allclose(robust.feature_importances_, expected)
    assert robust.feature_importances_.sum() == pytest.approx(1)
    assert not hasattr(RobustClassifier(LOGISTIC).fit(X, y), "feature_importances_")
    assert RFE(RobustClassifier(models, passes=1, cv=2), n_features_to_select=2).fit(X, y).support_.sum() == 2


def test_the_mixture_is_of_fits_to_the_posterior():
    X, y, _, X_test, _ = noisy_data(400)
    models = [RobustForestClassifier(30, random_state=3), LOGISTIC, KNeighborsClassifier(5)]
    robust = RobustClassifier(models, random_state=7).fit(X, y)
    table = robust.candidates_
    assert table["estimator"].tolist() == models
    assert table["weight"].sum() == pytest.approx(1)
    soft = judge_labels(X, y, random_state=7).soft_labels()
    at, codes = np.nonzero(soft)
    weighted = [(codes[i], soft[at[i], codes[i]]) for i in range(at.size)]
    logistic = clone(LOGISTIC).fit(X[at], [k for k, _ in weighted], [w for _, w in weighted])
    sure = soft.max(axis=1) >= 0.5
    neighbours = clone(models[2]).fit(X[sure], soft[sure].argmax(axis=1))
    forest = clone(models[0]).fit(X, soft)
    parts = [model.predict_proba(X_test) for model in (forest, logistic, neighbours)]
    expected = sum(weight * p for weight, p in zip(table["weight"], parts, strict=True))
    np.testing.assert_allclose(robust.predict_proba(X_test), expected, atol=1e-12)
    best = clone(robust).set_params(combine="best").fit(X, y)
    chosen = best.candidates_["log_likelihood"].argmax()
    assert best.candidates_["weight"].tolist() == np.eye(3)[chosen].tolist()
    np.testing.assert_allclose(best.predict_proba(X_test), parts[chosen])
    assert len(best.estimators_) == 1


def test_one_pass_is_the_classifier_itself():
    X, y, _, X_test, _ = noisy_data(400)
    robust = RobustClassifier(LOGISTIC, passes=1).fit(X, y)
    np.testing.assert_allclose(robust.predict_proba(X_test), clone(LOGISTIC).fit(X, y).predict_proba(X_test))
    assert robust.passes_ == 1
    assert not robust.p_wrong_.any()
    np.testing.assert_allclose(np.exp(robust.predict_log_proba(X_test)), robust.predict_proba(X_test))
    np.testing.assert_array_equal(robust.transition_matrix_, np.eye(2))
    random = np.random.default_rng(0).integers(2, size=400)  # which the features do not tell
    assert RobustClassifier(LOGISTIC).fit(X, random).passes_ == 1


def test_the_balanced_decision():
    X, y, _, X_test, y_test = noisy_data()
    robust = RobustClassifier(LOGISTIC, decision="balanced_accuracy").fit(X, y)
    p = robust.predict_proba(X_test)
    np.testing.assert_array_equal(robust.predict(X_test), (p / robust.class_shares_).argmax(axis=1))
    by_accuracy = clone(robust).set_params(decision="accuracy").fit(X, y)
    found = [balanced_accuracy_score(y_test, model.predict(X_test)) for model in (robust, by_accuracy)]
    assert found[0] >= found[1] - 0.01
    given = RobustClassifier(LOGISTIC, passes=1, decision="balanced_accuracy").fit(X, y)
    share = y.mean()
    np.testing.assert_array_equal(given.predict(X_test), given.predict_proba(X_test)[:, 1] > share)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_decision_by_costs(n_classes):
    X, y, _, X_test, _ = noisy_data(300, np.eye(n_classes), n_classes=n_classes, weights=None)
    costs = np.arange(n_classes**2).reshape(n_classes, n_classes) ** 2.0 + 1
    np.fill_diagonal(costs, 0)
    model = RobustClassifier(LOGISTIC, passes=1, decision=costs).fit(X, np.array(["a", "b", "c"])[y])
    p = model.predict_proba(X_test)
    expected = [min(range(n_classes), key=lambda j, q=q: sum(q * costs[:, j])) for q in p]
    np.testing.assert_array_equal(model.predict(X_test), model.classes_[expected])
    assert len(set(expected)) == n_classes
    if n_classes == 2:
        threshold = costs[0, 1] / (costs[0, 1] + costs[1, 0])
        np.testing.assert_array_equal(model.predict(X_test) == "b", p[:, 1] > threshold)


def test_held_out_probabilities():
    X, y, *_ = noisy_data(300)
    model = RobustClassifier([LOGISTIC, LogisticRegression(C=0.01)], passes=1, cv=3).fit(X, y)
    p = [
        cross_val_predict(each, X, y, cv=make_weighted_folds(y, None, 3, None, 0), method="predict_proba")
        for each in model.candidates_["estimator"]
    ]
    expected = sum(weight * one for weight, one in zip(model.candidates_["weight"], p, strict=False))
    np.testing.assert_allclose(model.held_out_probabilities_, expected)
    assert RobustClassifier(LOGISTIC, passes=1).fit(X, y).held_out_probabilities_ is None


def test_a_known_matrix():
    X, y, clean, _, _ = noisy_data()
    known = RobustClassifier(LOGISTIC, T=RARE).fit(X, y)
    np.testing.assert_array_equal(known.transition_matrix_, RARE)
    assert known.p_wrong_[y == 0].sum() == pytest.approx((clean[y == 0] == 1).sum(), rel=0.25)
    with pytest.raises(ValueError, match="T is for 3 classes, but there are 2"):
        RobustClassifier(LOGISTIC, T=np.eye(3)).fit(X, y)


def test_soft_labels_are_fitted_as_they_are():
    X, y, _, X_test, _ = noisy_data(300)
    P = np.where(np.eye(2)[y] == 1, 0.9, 0.1)
    frame = pd.DataFrame(P, columns=["no", "yes"])
    robust = RobustClassifier(LOGISTIC).fit(X, frame)
    assert robust.classes_.tolist() == ["no", "yes"]
    assert robust.passes_ == 1
    expected = (
        clone(LOGISTIC).fit(np.tile(X, (2, 1)), np.repeat([0, 1], 300), P.T.ravel()).predict_proba(X_test)
    )
    np.testing.assert_allclose(robust.predict_proba(X_test), expected, rtol=1e-4)
    several = RobustClassifier([LOGISTIC, KNeighborsClassifier()]).fit(X, P)
    assert several.candidates_["log_likelihood"].notna().all()


def test_weights_groups_names_and_pipelines():
    X, y, *_ = noisy_data(300)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(8)])
    text = np.array(["good", "bad"])[y]
    pipeline = make_pipeline(StandardScaler(), LOGISTIC)
    model = RobustClassifier([pipeline, LOGISTIC], cv=2)
    model.fit(frame, text, sample_weight=np.linspace(0.5, 2, 300), groups=np.arange(300) // 3)
    assert model.classes_.tolist() == ["bad", "good"]
    assert model.feature_names_in_.tolist() == list(frame)
    assert model.n_features_in_ == 8
    assert set(model.predict(frame)) == {"bad", "good"}
    zero = np.where(np.arange(300) < 250, 1.0, 0.0)
    weighted = RobustClassifier(LOGISTIC, T=RARE).fit(X, y, sample_weight=zero).class_shares_
    alone = RobustClassifier(LOGISTIC, T=RARE).fit(X[:250], y[:250]).class_shares_
    np.testing.assert_allclose(weighted, alone, atol=0.03)
    with pytest.raises(TypeError, match=r"sample_weight must be None, since KNeighborsClassifier"):
        RobustClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(300))
    search = GridSearchCV(RobustClassifier(LOGISTIC), {"estimator__C": [0.1, 1]}, cv=2).fit(X, y)
    assert search.best_params_["estimator__C"] in {0.1, 1}


def test_the_same_seed_gives_the_same_model_for_any_number_of_threads():
    X, y, _, X_test, _ = noisy_data(300)
    one, other = (RobustClassifier(n_jobs=n, random_state=1).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(X_test), other.predict_proba(X_test))
    loaded = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(loaded.predict_proba(X_test), one.predict_proba(X_test))


def test_default_boosters_grow_with_the_rows():
    leaves = [[model.num_leaves for model in default_candidates(n, 0, 1)[2:]] for n in (500, 5_000, 50_000)]
    assert leaves == [[8, 16, 31], [16, 31, 63], [31, 63, 127]]


@pytest.mark.parametrize(
    ("params", "kind", "message"),
    [
        ({"T": "guess"}, ValueError, "T must be 'auto' or a matrix, got 'guess'"),
        ({"T": RARE, "passes": 1}, ValueError, "T has no effect with passes=1"),
        ({"passes": 3}, ValueError, "passes must be 1, 2 or 'auto', got 3"),
        ({"combine": "vote"}, ValueError, "combine must be one of mixture, best, got 'vote'"),
        (
            {"decision": "f1"},
            ValueError,
            "decision must be one of accuracy, balanced_accuracy, or a matrix of costs, got 'f1'",
        ),
        ({"decision": [[0, 1], [1]]}, TypeError, "decision must be a matrix of numbers"),
        (
            {"decision": [0, 1]},
            ValueError,
            r"decision must be a square matrix, one row for each class, got shape \(2,\)",
        ),
        ({"decision": [[0, np.inf], [1, 0]]}, ValueError, "decision must be finite"),
        (
            {"decision": [[2, 1], [1, 0]]},
            ValueError,
            "decision: predicting class number 1 for a row of class number 0 costs 1, less than the right",
        ),
        ({"decision": 1 - np.eye(3)}, ValueError, "decision has costs for 3 classes, but there are 2"),
        ({"estimator": RidgeClassifier()}, TypeError, "estimator must have predict_proba, got RidgeClassifier"),
        ({"estimator": []}, ValueError, "estimator must have at least one classifier, got an empty list"),
        (
            {"estimator": [LOGISTIC, LogisticRegression]},
            TypeError,
            "estimator must have predict_proba, got <class",
        ),
        ({"cv": 1}, ValueError, "cv must be at least 2 folds, got 1"),
    ],
)
def test_bad_parameters(params, kind, message):
    X, y, *_ = noisy_data(60)
    with pytest.raises(kind, match=message):
        RobustClassifier(**{"estimator": LOGISTIC, **params}).fit(X, y)


def test_bad_data():
    X, y, *_ = noisy_data(60)
    model = RobustClassifier(LOGISTIC)
    with pytest.raises(ValueError, match="got 60 and 59"):
        model.fit(X, y[1:])
    with pytest.raises(ValueError, match="at least two classes"):
        model.fit(X, np.zeros(60))
    with pytest.raises(ValueError, match=r"sample_weight is zero for all rows of classes \[1\]"):
        model.fit(X, y, sample_weight=1 - y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y, groups=[1])
    with pytest.raises(ValueError, match="passes=2 judges class labels, but y has soft labels"):
        RobustClassifier(LOGISTIC, passes=2).fit(X, np.full((60, 2), 0.5))
    with pytest.raises(ValueError, match="soft labels must sum to 1"):
        model.fit(X, np.full((60, 2), 0.4))


@parametrize_with_checks([RobustClassifier(LOGISTIC), RobustClassifier(LOGISTIC, passes=1)])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


WEIGHTED_ROWS = "forests of weighted rows differ from forests of repeated rows"


@pytest.mark.release
@parametrize_with_checks(
    [RobustClassifier(cv=2)],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTED_ROWS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTED_ROWS,
    },
)
def test_scikit_learn_estimator_checks_of_the_default(estimator, check):
    check(estimator)
