import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from boostnoise.eval import ClassConditionalNoise, LabelNoise, SoftLabels, UniformNoise
from boostnoise.eval.config.model_spec import ModelSpec
from boostnoise.eval.datasets.dataset import Dataset
from boostnoise.eval.datasets.train_test import split
from boostnoise.eval.execution import cell
from boostnoise.eval.execution.cell import run_cell
from boostnoise.eval.execution.jobs import Job
from boostnoise.eval.metrics.correct_rows import pack_rows
from boostnoise.eval.models.resolved_model import resolve

X, Y = load_wine(return_X_y=True)
WINE = Dataset("wine", X, Y.astype(np.int64), np.array(["a", "b", "c"]))


CLEAN = UniformNoise(0.0)


def outcome(dataset=WINE, model="robust_tree", params=None, noise=CLEAN, **changes):
    module, model = ("sklearn.tree", "DecisionTreeClassifier") if model == "tree" else (None, model)
    described = {"model": model, "params": params or {}} | ({"module": module} if module else {})
    settings = {
        "noise_kind": "any",
        "noise_rate": getattr(noise, "noise_rate", None),
        "noise": noise,
        "noise_on": "train",
        "repeat": 1,
        "seed": 11,
        "test_fraction": 0.3,
        "stratify": True,
    }
    job = Job(
        dataset=dataset.name,
        fingerprint=dataset.fingerprint,
        model=resolve(ModelSpec.model_validate(described)),
        **{**settings, **changes},
    )
    return run_cell(job, dataset)


def test_soft_labels_are_weighted_copies():
    rng = np.random.default_rng(0)
    soft = SoftLabels(rng.dirichlet(np.ones(3), 178))
    weighted = dataclasses.replace(WINE, weights=rng.uniform(0.5, 2, 178))
    _, X_test, rows, _, _, y_test = train_test_split(
        X, np.arange(178), Y, test_size=0.3, random_state=11, stratify=Y
    )
    copies = np.repeat(rows, 3)
    p = soft.probabilities[rows].ravel()
    for dataset, weights in ((WINE, p), (weighted, p * weighted.weights[copies])):
        tree = DecisionTreeClassifier(max_depth=3, random_state=11)
        tree.fit(X[copies], np.tile([0, 1, 2], len(rows)), sample_weight=weights)
        result = outcome(dataset, "tree", {"max_depth": 3}, soft, noise_rate=0.4)
        assert result.scores["accuracy"] == tree.score(X_test, y_test)
        wrong = 1 - soft.probabilities[rows, Y[rows]].mean()
        assert result.scores["realised_rate"] == pytest.approx(wrong)


def test_copies_of_a_row_stay_together(monkeypatch):
    """Models that take groups get the number of the row as its group."""
    seen = {}

    class Spy(ClassifierMixin, BaseEstimator):
        def fit(self, X, y, sample_weight=None, groups=None):
            seen.update(X=X, groups=groups)
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    monkeypatch.setattr(cell, "build", lambda *_, **__: Spy())
    soft = SoftLabels(np.full((178, 3), 1 / 3))
    assert outcome(WINE, "tree", noise=soft, noise_rate=0.4).error is None
    assert len(seen["groups"]) == 3 * 124
    assert (seen["X"] == X[seen["groups"]]).all()


def test_it_can_be_made_by_hand():
    X_train, X_test, y_train, y_test = train_test_split(X, Y, test_size=0.3, random_state=11, stratify=Y)
    tree = DecisionTreeClassifier(random_state=11).fit(X_train, y_train)
    predicted, probabilities = tree.predict(X_test), tree.predict_proba(X_test)
    result = outcome(model="tree")
    assert result.scores["accuracy"] == tree.score(X_test, y_test)
    assert result.scores["balanced_accuracy"] == pytest.approx(
        metrics.balanced_accuracy_score(y_test, predicted)
    )
    assert result.scores["macro_f1"] == pytest.approx(metrics.f1_score(y_test, predicted, average="macro"))
    auc = metrics.roc_auc_score(y_test, probabilities, multi_class="ovr")
    assert result.scores["roc_auc"] == pytest.approx(auc)
    assert result.scores["log_loss"] == pytest.approx(metrics.log_loss(y_test, probabilities))
    assert (result.scores["leaves"], result.scores["depth"]) == (tree.get_n_leaves(), tree.get_depth())
    assert result.is_score


def test_with_the_noise_of_the_2020_study_it_can_be_made_by_hand():
    train, test = train_test_split(np.arange(len(X)), test_size=0.3, random_state=11)
    noisy, y_test = LabelNoise(0.4).corrupt_split(Y, train, test, random_state=11)
    expected = DecisionTreeClassifier(random_state=11).fit(X[train], noisy.labels).score(X[test], y_test)
    result = outcome(model="tree", noise=LabelNoise(0.4), noise_on="train+test", stratify=False)
    assert result.scores["accuracy"] == expected
    assert result.scores["realised_rate"] == noisy.realised_rate


def test_noise_depends_on_data_seed_and_setting_but_not_on_the_model():
    def rate(noise_rate=0.4, **changes):
        return outcome(noise=UniformNoise(noise_rate), **changes).scores["realised_rate"]

    assert rate(model="tree") == rate(model="robust_tree")
    other = Dataset("other", X + 1, WINE.y, WINE.classes)
    assert len({rate(), rate(seed=12), rate(noise_rate=0.41), rate(dataset=other)}) >= 3


def test_a_split_that_the_data_set_gives():
    is_test = np.arange(178) % 4 == 1
    given = Dataset("wine", X, WINE.y, WINE.classes, is_test)
    tree = DecisionTreeClassifier(random_state=11).fit(X[~is_test], Y[~is_test])
    result = outcome(given, "tree", test_fraction=0.1)
    assert result.scores["accuracy"] == tree.score(X[is_test], Y[is_test])
    # Every repeat has these test rows, so tests and intervals come from them.
    assert result.correct_rows == pack_rows(tree.predict(X[is_test]) == Y[is_test])
    assert outcome().correct_rows is None


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
            assert result.is_score
            assert None not in (result.scores["roc_auc"], result.scores["log_loss"], result.scores["leaves"])


def test_a_class_that_noise_leaves_no_row_has_the_probability_zero():
    y = np.repeat([0, 1, 2], [30, 3, 30])
    is_test = np.arange(63) % 3 == 0
    given = Dataset("given", np.random.default_rng(0).random((63, 2)), y, np.arange(3), is_test)
    all_but_one = ClassConditionalNoise([[1, 0, 0], [1, 0, 0], [0, 0, 1]])
    result = outcome(given, "tree", noise=all_but_one)
    noisy = np.where(y == 1, 0, y)[~is_test]
    tree = DecisionTreeClassifier(random_state=11).fit(given.X[~is_test], noisy)
    whole = np.zeros((is_test.sum(), 3))
    whole[:, [0, 2]] = tree.predict_proba(given.X[is_test])
    assert result.scores["roc_auc"] == pytest.approx(
        metrics.roc_auc_score(y[is_test], whole, multi_class="ovr")
    )
    assert result.scores["log_loss"] == pytest.approx(metrics.log_loss(y[is_test], whole))


def test_an_error_becomes_part_of_the_outcome():
    result = outcome(model="tree", params={"max_depth": -1})
    assert result.scores == {}
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
        (lambda n: np.zeros((n, 2)), "ValueError: predict returned shape (54, 2), expected (54,)"),
        (
            lambda n: np.full(n, np.nan),
            "ValueError: predict returned labels that are not in the training labels",
        ),
        (lambda n: np.full(n, 3), "ValueError: predict returned labels that are not in the training labels"),
        (lambda n: np.full(n, "a"), "ValueError: predict returned labels that are not in the training labels"),
    ],
)
def test_models_that_predict_nonsense(monkeypatch, predicted, message):
    monkeypatch.setattr(cell, "build", lambda *_, **__: Wrong(predicted))
    assert outcome(model="tree").error == message


def test_models_of_a_repeat_share_the_encoded_features(monkeypatch):
    """But each gets rows of its own: what one changes, no other sees."""
    fits, seen = [], []

    class Spy(Wrong):
        def fit(self, X, y):
            seen.append(X.copy())
            X.iloc[:] = np.nan
            return self

    def encode(dataset, *arguments):
        fits.append(arguments[0])
        return original(dataset, *arguments)

    original = Dataset.encode
    monkeypatch.setattr(Dataset, "encode", encode)
    monkeypatch.setattr(cell, "build", lambda *_, **__: Spy(lambda n: np.zeros(n, int)))
    monkeypatch.setattr(cell, "input_form", lambda _: "frame")
    text = pd.DataFrame(X).assign(town=pd.Series(["a", "b"]).repeat(89).to_numpy())
    data = dataclasses.replace(WINE, X=text)
    for noise_rate in (0.1, 0.2, 0.1):
        assert outcome(data, "tree", noise=UniformNoise(noise_rate)).error is None
    assert fits == ["frame"]
    pd.testing.assert_frame_equal(seen[0], seen[2])
    assert seen[0].notna().all(axis=None)
    assert outcome(data, "tree", seed=12).error is None
    assert fits == ["frame"] * 2


def test_weights_and_groups_reach_the_model():
    weights = np.where(Y == 1, 5.0, 1.0)
    groups = np.arange(178) // 3
    data = dataclasses.replace(WINE, weights=weights, groups=groups)
    train, test = split(data, 0.3, True, 11)
    tree = DecisionTreeClassifier(random_state=11, max_depth=1)
    tree.fit(X[train], Y[train], sample_weight=weights[train])
    result = outcome(data, model="tree", params={"max_depth": 1})
    assert result.scores["log_loss"] == pytest.approx(metrics.log_loss(Y[test], tree.predict_proba(X[test])))
    assert result.scores["log_loss"] != outcome(WINE, model="tree", params={"max_depth": 1}).scores["log_loss"]
    assert outcome(data, model="robust_forest", params={"n_estimators": 5}).is_score
