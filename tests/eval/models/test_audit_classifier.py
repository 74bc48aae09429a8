import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from boostnoise import AuditClassifier

X, Y = load_breast_cancer(return_X_y=True)
WRONG = np.random.default_rng(0).random(Y.size) < 0.25
NOISY = np.where(WRONG, 1 - Y, Y)
TREE = DecisionTreeClassifier(random_state=0)


def test_it_leaves_wrong_labels_out():
    model = AuditClassifier(TREE, random_state=0).fit(X, NOISY)
    assert is_classifier(model)
    assert model.is_issue_[WRONG].mean() > 0.55
    assert model.is_issue_[~WRONG].mean() < 0.03
    assert model.score(X, Y) > 0.84 > clone(TREE).fit(X, NOISY).score(X, Y)
    kept = ~model.is_issue_
    expected = clone(TREE).fit(X[kept], NOISY[kept]).predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    np.testing.assert_array_equal(clone(model).fit(X, NOISY).predict(X), model.predict(X))


def test_as_many_rows_as_the_noise_rate_says():
    model = AuditClassifier(TREE, random_state=0).fit(X, NOISY)
    found = model.label_errors_
    assert model.is_issue_.sum() == round(found.noise_rate * Y.size)
    assert found.p_wrong[model.is_issue_].min() >= found.p_wrong[~model.is_issue_].max()
    assert not AuditClassifier(TREE, random_state=0).fit(X[:, :3], X[:, 0] > 14).is_issue_.any()


def test_labels_that_features_do_not_predict():
    rng = np.random.default_rng(0)
    model = AuditClassifier(TREE, random_state=0).fit(rng.normal(size=(200, 2)), rng.integers(2, size=200))
    assert model.label_errors_ is None
    assert not model.is_issue_.any()


def test_no_class_is_lost():
    labels = np.where(np.arange(Y.size) < 5, 2, Y)  # rows of other classes
    model = AuditClassifier(TREE, random_state=0).fit(X, np.where(WRONG, 1 - Y, labels))
    kept = ~model.is_issue_
    assert set(model.classes_) == {0, 1, 2}
    assert (labels[kept] == 2).any()


def test_labels_of_any_type_and_weights():
    names = np.array(["bad", "good"])
    weights = np.where(WRONG, 0.01, 1.0)
    model = AuditClassifier(TREE, random_state=0).fit(X, names[NOISY], sample_weight=weights)
    assert model.classes_.tolist() == ["bad", "good"]
    assert model.score(X, names[Y]) > 0.85
    assert not hasattr(AuditClassifier(RidgeClassifier()).fit(X, NOISY), "predict_proba")


def test_groups_and_categories():
    rows = np.repeat(np.arange(Y.size), 2)
    model = AuditClassifier(KNeighborsClassifier(1), random_state=0).fit(X[rows], NOISY[rows], groups=rows)
    assert model.is_issue_[WRONG[rows]].mean() > 0.8
    frame = pd.DataFrame(X).rename(columns=str).assign(part=pd.Categorical(np.where(X[:, 0] > 14, "a", None)))
    booster = AuditClassifier(LGBMClassifier(n_estimators=20, verbose=-1), random_state=0)
    assert booster.fit(frame, NOISY).score(frame, Y) > 0.9
