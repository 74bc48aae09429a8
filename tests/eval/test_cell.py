import numpy as np
import pytest
from boostnoise.eval import LabelNoise, UniformNoise, cell
from boostnoise.eval.cell import run_cell, split
from boostnoise.eval.config import ModelSpec
from boostnoise.eval.datasets import Dataset
from boostnoise.eval.jobs import Job
from boostnoise.eval.models import ALLOWED_PACKAGES
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

X, Y = load_wine(return_X_y=True)
WINE = Dataset("wine", X, Y.astype(np.int64), np.array(["a", "b", "c"]))


CLEAN = UniformNoise(0.0)


def outcome(dataset=WINE, model="robust_tree", params=None, noise=CLEAN, **changes):
    module, model = ("sklearn.tree", "DecisionTreeClassifier") if model == "tree" else (None, model)
    described = {"model": model, "params": params or {}} | ({"module": module} if module else {})
    settings = {
        "noise_kind": "any",
        "noise_rate": noise.rate,
        "noise": noise,
        "noise_on": "train",
        "repeat": 1,
        "seed": 11,
        "test_fraction": 0.3,
        "stratify": True,
        "versions": (),
    }
    job = Job(
        dataset=dataset.name,
        fingerprint=dataset.fingerprint,
        model=ModelSpec.model_validate(described),
        **{**settings, **changes},
    )
    return run_cell(job, dataset, ALLOWED_PACKAGES)


def test_it_can_be_made_by_hand():
    parts = train_test_split(X, Y, test_size=0.3, random_state=11, stratify=Y)
    expected = DecisionTreeClassifier(random_state=11).fit(parts[0], parts[2]).score(parts[1], parts[3])
    assert outcome(model="tree").accuracy == expected


def test_with_the_noise_of_the_2020_study_it_can_be_made_by_hand():
    train, test = train_test_split(np.arange(len(X)), test_size=0.3, random_state=11)
    noisy, y_test = LabelNoise(0.4).corrupt_split(Y, train, test, random_state=11)
    expected = DecisionTreeClassifier(random_state=11).fit(X[train], noisy.labels).score(X[test], y_test)
    result = outcome(model="tree", noise=LabelNoise(0.4), noise_on="train+test", stratify=False)
    assert result.accuracy == expected
    assert result.realised_rate == noisy.realised_rate


def test_noise_depends_on_data_seed_and_setting_but_not_on_the_model():
    def rate(noise_rate=0.4, **changes):
        return outcome(noise=UniformNoise(noise_rate), **changes).realised_rate

    assert rate(model="tree") == rate(model="robust_tree")
    other = Dataset("other", X + 1, WINE.y, WINE.classes)
    assert len({rate(), rate(seed=12), rate(noise_rate=0.41), rate(dataset=other)}) >= 3


def test_splits():
    train, test = split(WINE, 0.25, True, 0)
    assert sorted([*train, *test]) == list(range(178))
    shares = [np.bincount(WINE.y[rows]) / rows.size for rows in (train, test)]
    np.testing.assert_allclose(*shares, atol=0.02)


def test_a_split_that_the_data_set_gives():
    is_test = np.arange(178) % 4 == 1
    given = Dataset("wine", X, WINE.y, WINE.classes, is_test)
    expected = (
        DecisionTreeClassifier(random_state=11).fit(X[~is_test], Y[~is_test]).score(X[is_test], Y[is_test])
    )
    assert outcome(given, "tree", test_fraction=0.1).accuracy == expected


def test_classes_that_the_training_rows_lack():
    # Without stratification, and after noise, numbers of classes may have gaps, which XGBoost does not take.
    y = np.repeat([0, 1, 2], [30, 2, 30])
    gaps = Dataset("gaps", np.random.default_rng(0).random((62, 1)), y, np.arange(3))
    for seed in range(8):
        for rate in (0.0, 0.3):
            result = outcome(
                gaps, "xgboost", seed=seed, stratify=False, test_fraction=0.5, noise=UniformNoise(rate)
            )
            assert result.error is None


def test_an_error_becomes_part_of_the_outcome():
    result = outcome(model="tree", params={"max_depth": -1})
    assert result.accuracy is None
    assert result.error.startswith("InvalidParameterError: The 'max_depth' parameter")
    assert "Traceback" in result.traceback


class Wrong(ClassifierMixin, BaseEstimator):
    def __init__(self, predicted):
        self.predicted = predicted

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.predicted(len(X))


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        (lambda n: np.zeros((n, 2)), "ValueError: predict returned the shape (54, 2) for 54 rows"),
        (lambda n: np.full(n, np.nan), "ValueError: predict returned labels that fit was not given"),
        (lambda n: np.full(n, 3), "ValueError: predict returned labels that fit was not given"),
        (lambda n: np.full(n, "a"), "ValueError: predict returned labels that fit was not given"),
    ],
)
def test_models_that_predict_nonsense(monkeypatch, predicted, message):
    monkeypatch.setattr(cell, "build", lambda *_, **__: Wrong(predicted))
    assert outcome(model="tree").error == message
