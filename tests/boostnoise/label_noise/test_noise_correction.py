import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostnoise import NoiseCorrectedClassifier, RobustLGBMClassifier, estimate_transition_matrix
from boostnoise.eval import ClassConditionalNoise
from robust_splits import RobustForestClassifier

RARE = [[0.98, 0.02], [0.6, 0.4]]  # six of ten rows of class 1 have the label 0


class Given(ClassifierMixin, BaseEstimator):
    """Classifier whose features are the probabilities."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.asarray(X)


def overlooked(n=3000, seed=0):
    """Features, noisy labels that call most rows of class 1 class 0, and clean labels."""
    X, clean = make_classification(n, 8, n_informative=5, class_sep=1.5, weights=[0.75], random_state=seed)
    return X, ClassConditionalNoise(RARE).corrupt(clean, X, random_state=seed).labels, clean


@pytest.mark.parametrize("T", [RARE, [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0, 0.5, 0.5]]], ids=["2", "3"])
def test_probabilities_of_noisy_labels_become_those_of_clean_ones(T):
    rng = np.random.default_rng(0)
    n_classes = len(T)
    clean = rng.dirichlet(np.ones(n_classes), 200)
    noisy = clean @ T
    y = np.array([rng.choice(n_classes, p=row) for row in noisy])
    model = NoiseCorrectedClassifier(Given(), T=T).fit(noisy, y)
    p = model.predict_proba(noisy)
    np.testing.assert_allclose(p, (200 * clean + noisy) / 201)
    np.testing.assert_array_equal(model.predict(noisy), p.argmax(axis=1))
    np.testing.assert_allclose(model.T_, T)
    np.testing.assert_allclose(model.label_shares_, np.bincount(y) / 200)


def test_probabilities_that_the_noise_cannot_produce_are_clipped():
    noisy = np.array([[0.99, 0.01], [0.3, 0.7], [0.5, 0.5], [0.31, 0.69]])  # T allows at most 0.4 for label 1
    model = NoiseCorrectedClassifier(Given(), T=RARE).fit(noisy, [0, 1, 1, 0])
    p = model.predict_proba(noisy)
    np.testing.assert_allclose(p[:, 1], [0.01 / 5, 4.7 / 5, 4.5 / 5, 4.69 / 5])


def test_the_balanced_decision_on_several_classes_compares_multiples_of_corrected_shares():
    T = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0, 0.5, 0.5]])
    rng = np.random.default_rng(0)
    clean = rng.dirichlet([6.0, 3.0, 1.0], 2000)
    y = np.array([rng.choice(3, p=row) for row in clean @ T])
    model = NoiseCorrectedClassifier(Given(), T=T, decision="balanced_accuracy").fit(clean @ T, y)
    shares = np.linalg.solve(T.T, np.bincount(y) / 2000)
    np.testing.assert_array_equal(model.predict(clean @ T), (clean / shares).argmax(axis=1))
    all_ones = model.fit(clean @ T, np.where(rng.random(2000) < 0.01, y, 1))  # T allows at most 0.6 of them
    assert all_ones.predict(np.eye(3) @ T).tolist() == [0, 1, 2]


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_the_balanced_decision_on_two_classes_does_not_depend_on_the_noise(data):
    n = data.draw(st.integers(4, 30))
    q = data.draw(st.lists(st.floats(0.01, 0.99), min_size=n, max_size=n))
    X = np.column_stack([1 - np.array(q), q])
    y = np.array([0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    share = y.mean()
    low, high = data.draw(st.floats(0, share - 0.01)), data.draw(st.floats(share + 0.01, 1))
    T = [[1 - low, low], [1 - high, high]]
    turned = data.draw(st.booleans())  # most labels of either class are wrong
    model = NoiseCorrectedClassifier(Given(), T=T[::-1] if turned else T, decision="balanced_accuracy")
    decided = np.abs(X[:, 1] - share) > 1e-9
    expected = (X[:, 1] > share) ^ turned
    np.testing.assert_array_equal(model.fit(X, y).predict(X)[decided], expected[decided])


@pytest.mark.parametrize(
    ("groups", "folds"),
    [(None, StratifiedKFold), (np.arange(400) // 8, StratifiedGroupKFold)],
    ids=["rows", "groups"],
)
def test_T_is_estimated_out_of_fold(groups, folds):
    X, y, _ = overlooked(400)
    inner = LogisticRegression()
    model = NoiseCorrectedClassifier(inner, cv=4, random_state=7).fit(X, y, groups=groups)
    folds = folds(4, shuffle=True, random_state=7)
    p = cross_val_predict(inner, X, y, groups=groups, cv=folds, method="predict_proba")
    np.testing.assert_allclose(model.T_, estimate_transition_matrix(y, p, "anchor"))
    np.testing.assert_array_equal(model.estimator_.coef_, inner.fit(X, y).coef_)


def test_estimators_that_choose_parameters_get_the_groups():
    X, y, _ = overlooked(120)
    groups = np.arange(120) // 4
    passed = []

    class Grouped(LogisticRegression):
        def fit(self, X, y, groups=None):
            passed.append(groups)
            return super().fit(X, y)

    NoiseCorrectedClassifier(Grouped(), cv=3).fit(X, y, groups=groups)
    folds = StratifiedGroupKFold(3, shuffle=True, random_state=0)
    expected = [groups[seen] for seen, _ in folds.split(X, y, groups)]
    for found, some in zip(passed, [*expected, groups], strict=True):
        np.testing.assert_array_equal(found, some)


@pytest.mark.parametrize(
    "inner",
    [
        RobustForestClassifier(n_estimators=50, random_state=0),
        RobustLGBMClassifier(n_jobs=1, budget=1, verbose=-1),
    ],
    ids=["forest", "booster"],
)
def test_overlooked_rows_are_found(inner):
    X, y, clean = overlooked()
    plain = inner.fit(X[:2000], y[:2000])
    corrected = NoiseCorrectedClassifier(inner, cv=3).fit(X[:2000], y[:2000])
    balanced = NoiseCorrectedClassifier(inner, T=None, decision="balanced_accuracy").fit(X[:2000], y[:2000])
    X_test, y_test = X[2000:], clean[2000:]
    accuracy = [model.score(X_test, y_test) for model in (plain, corrected)]
    assert accuracy[1] > accuracy[0] + 0.05
    found = [balanced_accuracy_score(y_test, model.predict(X_test)) for model in (plain, corrected, balanced)]
    assert found[2] > found[1] > found[0] + 0.1
    ranked = [
        roc_auc_score(y_test, model.predict_proba(X_test)[:, 1]) for model in (plain, corrected, balanced)
    ]
    assert ranked[0] == ranked[2] == pytest.approx(ranked[1], abs=1e-3)


def test_weights_are_equivalent_to_repeated_or_removed_rows():
    X, y, _ = overlooked(300)
    weight = np.random.default_rng(0).integers(0, 3, 300)
    weighted = NoiseCorrectedClassifier(LogisticRegression(), T=RARE).fit(X, y, sample_weight=weight)
    repeated = NoiseCorrectedClassifier(LogisticRegression(), T=RARE).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(weighted.label_shares_, repeated.label_shares_)
    used = (weight > 0).astype(float)
    alone = clone(weighted).fit(X[weight > 0], y[weight > 0])
    found = clone(weighted).fit(X, y, sample_weight=used).predict_proba(X)
    np.testing.assert_allclose(found, alone.predict_proba(X), rtol=1e-3)
    estimated = NoiseCorrectedClassifier(LogisticRegression())
    alone = clone(estimated).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(estimated.fit(X, y, sample_weight=used).T_, alone.T_, rtol=1e-3)
    weight = weight + 1
    folds = list(StratifiedKFold(3).split(X, y))
    estimated = NoiseCorrectedClassifier(LogisticRegression(), cv=folds).fit(X, y, sample_weight=weight)
    p = np.zeros((300, 2))
    for seen, unseen in folds:
        model = LogisticRegression().fit(X[seen], y[seen], sample_weight=weight[seen])
        p[unseen] = model.predict_proba(X[unseen])
    np.testing.assert_allclose(estimated.T_, estimate_transition_matrix(y, p, "anchor", weight))


def test_data_frames_text_labels_pipelines_and_searches():
    X, y, _ = overlooked(300)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(8)])
    text = np.array(["good", "bad"])[y]
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    model = NoiseCorrectedClassifier(inner, decision="balanced_accuracy", cv=2).fit(frame, text)
    assert model.classes_.tolist() == ["bad", "good"]
    assert model.feature_names_in_.tolist() == list(frame)
    assert set(model.predict(frame)) == {"bad", "good"}
    np.testing.assert_allclose(model.predict_proba(frame).sum(axis=1), 1)
    grid = {"decision": ["accuracy", "balanced_accuracy"], "estimator__logisticregression__C": [0.1, 1]}
    search = GridSearchCV(model, grid, cv=2, scoring="balanced_accuracy").fit(frame, text)
    assert search.best_params_["decision"] == "balanced_accuracy"


@pytest.mark.parametrize(
    ("params", "kind", "message"),
    [
        ({"T": "guess"}, ValueError, "T must be 'auto', a matrix or None, got 'guess'"),
        ({"T": np.eye(3)}, ValueError, "T is for 3 classes, but there are 2"),
        ({"decision": "f1"}, ValueError, "decision must be one of accuracy, balanced_accuracy, got 'f1'"),
        ({"estimator": RidgeClassifier()}, TypeError, "estimator must have predict_proba, got RidgeClassifier"),
        ({"cv": 1}, ValueError, "cv must be at least 2 folds, got 1"),
    ],
)
def test_bad_parameters(params, kind, message):
    X, y, _ = overlooked(60)
    with pytest.raises(kind, match=message):
        NoiseCorrectedClassifier(**{"estimator": LogisticRegression(), **params}).fit(X, y)


def test_bad_data():
    X, y, _ = overlooked(60)
    model = NoiseCorrectedClassifier(LogisticRegression())
    with pytest.raises(ValueError, match="got 60 and 59"):
        model.fit(X, y[1:])
    with pytest.raises(ValueError, match="at least two classes"):
        model.fit(X, np.zeros(60))
    with pytest.raises(ValueError, match="no row with the label 2 is in a fold"):
        model.fit(X, np.append(y[:-1], 2))
    with pytest.raises(ValueError, match=r"sample_weight is zero for all rows of classes \[1\]"):
        model.fit(X, y, sample_weight=1 - y)
    with pytest.raises(TypeError, match="sample_weight"):
        NoiseCorrectedClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(60))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        NoiseCorrectedClassifier(LogisticRegression(), T=None).fit(X, y, groups=[1])


def test_an_estimate_that_hardly_distinguishes_the_classes_warns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(2, size=400)
    with pytest.warns(UserWarning, match=r"hardly distinguishes the classes \(condition number \d+\)"):
        NoiseCorrectedClassifier(LogisticRegression(C=1e-3)).fit(X, y)


def test_the_decision_can_be_changed_after_the_fit():
    X, y, _ = overlooked(300)
    model = NoiseCorrectedClassifier(LogisticRegression()).fit(X, y)
    p = model.predict_proba(X)
    balanced = NoiseCorrectedClassifier(LogisticRegression(), decision="balanced_accuracy").fit(X, y).predict(X)
    np.testing.assert_array_equal(model.set_params(decision="balanced_accuracy").predict(X), balanced)
    np.testing.assert_array_equal(model.set_params(T=None).predict_proba(X), p)
    with pytest.raises(ValueError, match="decision must be one of"):
        model.set_params(decision="f1").predict(X)


def test_searches_inside_accept_weights():
    X, y, _ = overlooked(300)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2)
    model = NoiseCorrectedClassifier(search, T=RARE).fit(X, y, sample_weight=np.ones(300))
    assert model.estimator_.best_params_["C"] in {0.1, 1}


def folds_differ(estimator):
    """Checks of scikit-learn that cannot hold."""
    reason = "folds of repeated rows differ from folds of weighted rows"
    names = ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"]
    return {} if estimator.T is None else dict.fromkeys(names, reason)


@parametrize_with_checks(
    [
        NoiseCorrectedClassifier(LogisticRegression(), cv=2),
        NoiseCorrectedClassifier(LogisticRegression(), T=None, decision="balanced_accuracy"),
    ],
    expected_failed_checks=folds_differ,
)
@pytest.mark.filterwarnings("ignore:the estimated T hardly distinguishes:UserWarning")
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
