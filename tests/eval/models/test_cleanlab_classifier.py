import numpy as np
import pytest

pytest.importorskip("cleanlab")

from cleanlab.classification import CleanLearning
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_wine
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from boostnoise import CleanlabClassifier

X, Y = load_wine(return_X_y=True)
WRONG = np.random.default_rng(0).random(Y.size) < 0.25
NOISY = np.where(WRONG, (Y + 1) % 3, Y)


@pytest.mark.parametrize(
    "model", [DecisionTreeClassifier(max_depth=4, random_state=0), GaussianNB(), KNeighborsClassifier()]
)
def test_it_equals_clean_learning(model):
    ours = CleanlabClassifier(model, random_state=3).fit(X, NOISY)
    in_this_process = {"n_jobs": 1}
    theirs = CleanLearning(clone(model), seed=3, find_label_issues_kwargs=in_this_process).fit(X, NOISY)
    np.testing.assert_array_equal(ours.is_issue_, theirs.label_issues_mask)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_it_finds_wrong_labels():
    model = CleanlabClassifier(GaussianNB(), random_state=0).fit(X, NOISY)
    assert model.is_issue_[WRONG].mean() > 0.8
    assert model.is_issue_[~WRONG].mean() < 0.1


def test_it_can_be_fitted_again_with_other_classes_and_labels():
    model = CleanlabClassifier(GaussianNB(), random_state=0)
    assert is_classifier(model)
    names = np.array(["a", "c", "b"])
    expected = clone(model).fit(X, names[NOISY]).predict(X)
    model.fit(X[Y < 2], Y[Y < 2])
    np.testing.assert_array_equal(model.fit(X, names[NOISY]).predict(X), expected)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert (expected == names[Y]).mean() > 0.9


def test_the_seed_determines_the_result_and_the_global_state_is_kept():
    np.random.seed(1)
    before = np.random.get_state()[1].copy()
    masks = [
        CleanlabClassifier(DecisionTreeClassifier(random_state=0), random_state=s).fit(X, NOISY).is_issue_
        for s in (0, 0, 1)
    ]
    assert (np.random.get_state()[1] == before).all()
    assert (masks[0] == masks[1]).all()
    assert (masks[0] != masks[2]).any()


def test_classifiers_without_probabilities():
    model = CleanlabClassifier(RidgeClassifier(), random_state=0).fit(X, NOISY)
    assert not hasattr(model, "predict_proba")
    assert model.score(X, Y) > RidgeClassifier().fit(X, NOISY).score(X, Y)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("rows", [[50, 50, 1], [50, 3, 2], [3, 3, 3]])
def test_classes_with_few_rows(rows):
    y = np.repeat(np.arange(3), rows)
    rng = np.random.default_rng(0)
    model = CleanlabClassifier(DecisionTreeClassifier(random_state=0), random_state=0)
    predicted = model.fit(y[:, None] + 0.01 * rng.random((y.size, 1)), y).predict([[0.0], [1.0], [2.0]])
    assert predicted.tolist() == [0, 1, 2]


def test_it_prints_nothing(capfd):
    CleanlabClassifier(GaussianNB(), random_state=0).fit(X, NOISY)
    assert capfd.readouterr() == ("", "")


def test_groups_and_weights():
    groups = np.arange(Y.size) // 2
    rows = np.repeat(np.arange(Y.size), 2)  # each row twice, so that a model that saw its copy knows its label
    memory = KNeighborsClassifier(1)
    apart = CleanlabClassifier(memory, random_state=0).fit(X[rows], NOISY[rows])
    together = CleanlabClassifier(memory, random_state=0).fit(X[rows], NOISY[rows], groups=rows)
    assert apart.is_issue_[WRONG[rows]].mean() < 0.2
    assert together.is_issue_[WRONG[rows]].mean() > 0.4
    weights = np.where(Y == 0, 1e-6, 1.0)
    light = CleanlabClassifier(GaussianNB(), random_state=0).fit(X, NOISY, sample_weight=weights, groups=groups)
    plain = CleanlabClassifier(GaussianNB(), random_state=0).fit(X, NOISY)
    assert light.predict_proba(X)[:, 0].mean() < plain.predict_proba(X)[:, 0].mean()


def test_cleanlab_is_imported_by_the_first_fit_only(slow_imports):
    assert "cleanlab" not in slow_imports("import boostnoise; boostnoise.CleanlabClassifier(None)")
