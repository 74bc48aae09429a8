import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from boostnoise.eval.metrics.measures import Predictions
from boostnoise.eval.metrics.registry import measure

X = np.zeros((1, 1))


class Model(ClassifierMixin, BaseEstimator):
    """Returns what it is told to."""

    def __init__(self, **returned):
        self.returned = returned
        if "classes" in returned:
            self.classes_ = np.asarray(returned["classes"])

    def __getattr__(self, name):
        returned = self.__dict__.get("returned", {})
        if name not in returned:
            raise AttributeError(name)
        return lambda X: returned[name]


def of_labels(y, labels):
    return measure(Predictions(Model(), X, np.array(y), np.array(labels), np.arange(max(*y, *labels) + 1)))


def of_scores(y, scores, classes=None, **more):
    scores, y = np.asarray(scores), np.asarray(y)
    classes = np.arange(scores.shape[1]) if classes is None else np.asarray(classes)
    return measure(Predictions(Model(predict_proba=scores, **more), X, y, scores.argmax(axis=1), classes))


def test_from_a_table_of_confusion_by_hand():
    # Rows are the true classes, columns the predicted: [[5, 1, 0], [2, 3, 1], [0, 0, 4]].
    y = [0] * 6 + [1] * 6 + [2] * 4
    labels = [0] * 5 + [1] + [0] * 2 + [1] * 3 + [2] + [2] * 4
    found = of_labels(y, labels)
    assert found["accuracy"] == 12 / 16
    assert found["balanced_accuracy"] == pytest.approx((5 / 6 + 3 / 6 + 4 / 4) / 3)
    assert found["macro_f1"] == pytest.approx((10 / 13 + 6 / 10 + 8 / 9) / 3)
    none = ("roc_auc", "log_loss", "brier_score", "calibration_error", "leaves", "depth")
    assert all(found[name] is None for name in none)


def test_from_probabilities_by_hand():
    # Of the 2 x 3 pairs of a positive and a negative row, 4 are in order and one is a tie.
    p = np.array([0.9, 0.4, 0.4, 0.5, 0.1])
    found = of_scores([1, 1, 0, 0, 0], np.column_stack([1 - p, p]))
    assert found["roc_auc"] == pytest.approx(4.5 / 6)
    assert found["log_loss"] == pytest.approx(-np.log([0.9, 0.4, 0.6, 0.5, 0.9]).mean())
    assert found["brier_score"] == pytest.approx(np.square([0.1, 0.6, 0.4, 0.5, 0.1]).mean())
    # Bins of a fifteenth: one with .9 twice, both right; one with .6 twice, one of them right; and .5, right.
    assert found["calibration_error"] == pytest.approx((2 * 0.1 + abs(2 * 0.6 - 1) + 0.5) / 5)


def test_calibrated_probabilities_have_a_small_calibration_error():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1.0, 1.0, 1.0], size=20_000)
    y = (rng.random(20_000)[:, np.newaxis] > p.cumsum(axis=1)[:, :2]).sum(axis=1)
    sharper = p**2 / (p**2).sum(axis=1, keepdims=True)
    assert of_scores(y, p)["calibration_error"] < 0.02
    gap = np.abs(sharper.max(axis=1).mean() - p.max(axis=1).mean())
    assert of_scores(y, sharper)["calibration_error"] == pytest.approx(gap, abs=0.02)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_numbers_are_those_of_scikit_learn(n_classes):
    rng = np.random.default_rng(n_classes)
    for n_rows in (20, 200):
        y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)])
        p = rng.multinomial(10, rng.dirichlet(np.full(n_classes, 0.3), n_rows)) / 10  # with ties and zeros
        for dtype in (np.float64, np.float32):
            scores = p.astype(dtype)
            labels = scores.argmax(axis=1)
            found = of_scores(y, scores)
            assert found["accuracy"] == metrics.accuracy_score(y, labels)
            assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, labels))
            assert found["macro_f1"] == pytest.approx(metrics.f1_score(y, labels, average="macro"))
            auc = metrics.roc_auc_score(y, scores[:, 1] if n_classes == 2 else scores, multi_class="ovr")
            assert found["roc_auc"] == pytest.approx(auc, abs=1e-12)
            assert found["log_loss"] == pytest.approx(metrics.log_loss(y, scores), rel=1e-6)
            squares = [metrics.brier_score_loss(y == k, scores[:, k]) for k in range(n_classes)]
            brier_score = squares[1] if n_classes == 2 else np.sum(squares)
            assert found["brier_score"] == pytest.approx(brier_score, rel=1e-6)


def test_classes_that_the_test_rows_lack():
    y = np.array([0, 0, 3, 3, 3])
    p = np.array([[5, 1, 2, 2], [1, 6, 1, 2], [0, 1, 1, 8], [3, 3, 3, 1], [2, 2, 2, 4]]) / 10
    found = of_scores(y, p)
    aucs = [metrics.roc_auc_score(y == k, p[:, k]) for k in (0, 3)]
    assert found["roc_auc"] == pytest.approx(np.mean(aucs))
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, p, labels=range(4)))
    labels = p.argmax(axis=1)  # 0, 1, 3, 0, 3: a class that is predicted alone counts for F1
    assert found["macro_f1"] == pytest.approx((2 / 4 + 0 + 4 / 5) / 3)
    assert found["macro_f1"] == pytest.approx(metrics.f1_score(y, labels, average="macro"))
    assert found["balanced_accuracy"] == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_test_rows_of_one_class():
    found = of_scores([1, 1], [[0.2, 0.8], [0.6, 0.4]])
    assert found["roc_auc"] is None
    assert found["log_loss"] == pytest.approx(-np.log([0.8, 0.4]).mean())
    assert found["accuracy"] == 0.5


def test_columns_are_those_of_the_classes_that_training_rows_held():
    y = np.array([0, 1, 2, 3, 2, 0])
    p = np.array([[7, 2, 1], [5, 3, 2], [2, 5, 3], [1, 1, 8], [2, 6, 2], [4, 5, 1]]) / 10
    found = of_scores(y, p, classes=[0, 2, 3])
    whole = np.zeros((6, 4))
    whole[:, [0, 2, 3]] = p
    assert found["roc_auc"] == pytest.approx(metrics.roc_auc_score(y, whole, multi_class="ovr"))
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, whole))
    assert found["brier_score"] == pytest.approx(((whole - np.eye(4)[y]) ** 2).sum() / 6)
    assert found["accuracy"] == 4 / 6


def test_a_model_that_did_not_see_every_label_it_was_given():
    y = np.array([0, 1, 2, 2])
    p = np.array([[0.7, 0.3], [0.2, 0.8], [0.4, 0.6], [0.1, 0.9]])
    model = Model(predict_proba=p, classes=[0, 2])
    found = measure(Predictions(model, X, y, [0, 2, 2, 2], np.arange(3)))
    whole = np.column_stack([p[:, 0], np.zeros(4), p[:, 1]])
    assert found["roc_auc"] == pytest.approx(metrics.roc_auc_score(y, whole, multi_class="ovr"))


def of_clean_probabilities(y, p, q):
    """Measures of the probabilities p, if the true labels have the probabilities q."""
    return measure(Predictions(Model(predict_proba=p), X, y, p.argmax(axis=1), np.arange(p.shape[1]), q))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_labels_that_are_known_by_their_probabilities(n_classes):
    """The measures are those of a copy of each row for each class, with its probability as weight."""
    rng = np.random.default_rng(n_classes)
    n = 200
    p, q = rng.dirichlet(np.ones(n_classes), size=(2, n))
    found = of_clean_probabilities(q.argmax(axis=1), p, q)
    rows, classes = np.repeat(np.arange(n), n_classes), np.tile(np.arange(n_classes), n)
    labels, weight = p.argmax(axis=1)[rows], {"sample_weight": q.ravel()}
    multiclass = {"multi_class": "ovr"} if n_classes > 2 else {}
    scores = [p[rows]] if n_classes > 2 else [p[rows, 1]]
    expected = {
        "accuracy": metrics.accuracy_score(classes, labels, **weight),
        "balanced_accuracy": metrics.balanced_accuracy_score(classes, labels, **weight),
        "macro_f1": metrics.f1_score(classes, labels, average="macro", **weight),
        "roc_auc": metrics.roc_auc_score(classes, *scores, **multiclass, **weight),
        "log_loss": metrics.log_loss(classes, p[rows], **weight),
        "brier_score": np.average(((p[rows] - np.eye(n_classes)[classes]) ** 2).sum(axis=1), weights=q.ravel())
        / (2 if n_classes == 2 else 1),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    correct = q[np.arange(n), p.argmax(axis=1)]
    bins = np.ceil(p.max(axis=1) * 15)
    gaps = [abs((p.max(axis=1) - correct)[bins == b].sum()) / n for b in np.unique(bins)]
    assert found["calibration_error"] == pytest.approx(sum(gaps))


def test_certain_probabilities_are_labels():
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(4), size=50), rng.choice([0, 1, 3], size=50)
    assert of_clean_probabilities(np.zeros(50, dtype=int), p, np.eye(4)[y]) == of_scores(y, p)


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_models_of_all_kinds(load):
    X, y = load(return_X_y=True)
    train = np.arange(y.size) % 3 > 0
    noisy = np.where(np.arange(y.size) % 7 == 0, 0, y)
    for model in (
        RandomForestClassifier(20, random_state=0),
        GaussianNB(),
        SVC(),
        RidgeClassifier(),
        make_pipeline(StandardScaler(), LinearSVC()),
        make_pipeline(StandardScaler(), LogisticRegression(C=0.01)),
        SVC(decision_function_shape="ovo"),
        KNeighborsClassifier(),
    ):
        model.fit(X[train], noisy[train])
        found = measure(Predictions(model, X[~train], y[~train], model.predict(X[~train]), np.unique(y)))
        if hasattr(model, "predict_proba"):
            p = model.predict_proba(X[~train])
            assert found["log_loss"] == pytest.approx(metrics.log_loss(y[~train], p))
        else:
            assert found["log_loss"] is None
            if getattr(model, "decision_function_shape", "") == "ovo":
                assert found["roc_auc"] is None
                continue
            p = model.decision_function(X[~train])
        aucs = [metrics.roc_auc_score(y[~train] == k, p[:, k]) for k in np.unique(y)]
        assert found["roc_auc"] == pytest.approx(np.mean(aucs), abs=1e-12)


def test_decisions_between_two_classes():
    y, decision = np.array([0, 1, 1, 0]), np.array([-1.0, 2.0, -2.0, -3.0])
    found = measure(Predictions(Model(decision_function=decision), X, y, decision > 0, np.arange(2)))
    assert found["roc_auc"] == metrics.roc_auc_score(y, decision) == 0.75
    assert found["log_loss"] is None


@pytest.mark.parametrize(
    "p",
    [
        [[0.9, 0.9], [0.2, 0.4], [0.3, 0.2]],  # each class against the rest
        [[1.2, -0.2], [0.5, 0.5], [0.3, 0.7]],
    ],
)
def test_scores_that_are_no_probabilities_have_no_log_loss(p):
    found = of_scores([0, 1, 0], p)
    assert found["log_loss"] is None
    assert found["roc_auc"] == metrics.roc_auc_score([0, 1, 0], np.array(p)[:, 1])


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ({"predict_proba": np.ones((3, 3)) / 3}, r"predict_proba returned shape \(3, 3\), expected \(3, 2\)"),
        ({"predict_proba": np.ones(3)}, r"predict_proba returned shape \(3,\), expected \(3, 2\)"),
        ({"predict_proba": np.ones((2, 2)) / 2}, r"predict_proba returned shape \(2, 2\), expected \(3, 2\)"),
        ({"predict_proba": np.full((3, 2), np.nan)}, "predict_proba returned NaN or infinity"),
        ({"predict_proba": np.full((3, 2), "a")}, "predict_proba returned values of type <U1"),
        ({"predict_proba": None}, r"predict_proba returned shape \(\)"),
        ({"decision_function": np.array([0.0, np.inf, 1.0])}, "decision_function returned NaN or infinity"),
        ({"decision_function": np.ones((3, 4))}, r"decision_function returned shape \(3, 4\)"),
        (
            {"predict_proba": np.ones((3, 2)) / 2, "classes": [0, 5]},
            "classes_ contains labels that are not in the training labels",
        ),
        ({"predict_proba": np.ones((3, 2)) / 2, "classes": ["a", "b"]}, "classes_ contains labels that"),
    ],
)
def test_models_that_return_nonsense(returned, message):
    with pytest.raises(ValueError, match=message):
        measure(Predictions(Model(**returned), X, np.array([0, 1, 0]), [0, 0, 0], np.arange(2)))
