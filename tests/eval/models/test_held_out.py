import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from boostnoise.eval.models.held_out import held_out_probabilities, predicts_out_of_bag
from robust_splits import RobustExtraTreesClassifier, RobustForestClassifier

X, Y = load_wine(return_X_y=True)


def test_the_default_is_the_mean_of_two_forests():
    p = held_out_probabilities(X, Y, random_state=3)
    parts = [
        forest(passes=1, oob_score=True, random_state=3).fit(X, Y).oob_decision_function_
        for forest in (RobustForestClassifier, RobustExtraTreesClassifier)
    ]
    np.testing.assert_allclose(p, np.mean(parts, axis=0), rtol=1e-12)
    np.testing.assert_array_equal(p, held_out_probabilities(X, Y, random_state=3, n_jobs=2))
    assert (p != held_out_probabilities(X, Y, random_state=4)).any()


def test_other_forests_predict_out_of_bag():
    forest = RandomForestClassifier(oob_score=True, random_state=0).fit(X, Y)
    p = held_out_probabilities(X, Y, RandomForestClassifier(random_state=0))
    np.testing.assert_allclose(p, forest.oob_decision_function_)
    assert predicts_out_of_bag(BaggingClassifier())
    assert not predicts_out_of_bag(ExtraTreesClassifier())
    assert not predicts_out_of_bag(GaussianNB())


def test_own_forests_predict_the_given_labels():
    expected = held_out_probabilities(X, Y, RobustForestClassifier(passes=1, random_state=0))
    for passes in ("auto", 2):
        p = held_out_probabilities(X, Y, RobustForestClassifier(passes=passes, random_state=0))
        np.testing.assert_array_equal(p, expected)


def test_other_models_predict_by_folds():
    p = held_out_probabilities(X, Y, GaussianNB(), random_state=1)
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    np.testing.assert_allclose(p, cross_val_predict(GaussianNB(), X, Y, cv=folds, method="predict_proba"))


@pytest.mark.parametrize("model", [KNeighborsClassifier(1), RandomForestClassifier(random_state=0)])
def test_groups_are_held_out_as_a_whole(model):
    rows = np.repeat(np.arange(Y.size), 2)  # a model that saw the copy of a row would know its label
    labels = np.random.default_rng(0).integers(3, size=Y.size)
    apart = held_out_probabilities(X[rows], labels[rows], model)
    together = held_out_probabilities(X[rows], labels[rows], model, groups=rows)
    assert (apart.argmax(axis=1) == labels[rows]).mean() > 0.6
    assert (together.argmax(axis=1) == labels[rows]).mean() < 0.5


def test_rows_that_are_never_left_out_are_trusted():
    few = RandomForestClassifier(n_estimators=1, random_state=0)
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        p = held_out_probabilities(X, Y, few)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    labels = np.where(np.arange(Y.size) == 0, 3, Y)  # a class of one row
    p = held_out_probabilities(X, labels, GaussianNB())
    assert p[0].tolist() == [0, 0, 0, 1]
