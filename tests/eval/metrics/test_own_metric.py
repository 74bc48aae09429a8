import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, matthews_corrcoef, roc_auc_score
from sklearn.svm import LinearSVC

from boostnoise.eval import Metric
from boostnoise.eval.metrics.measures import Predictions
from boostnoise.eval.metrics.own_metric import as_metric, check_function, score


def predictions(n_classes=2, model=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=60), np.linspace(-0.5, 0.5, n_classes - 1))
    model = (LogisticRegression() if model is None else model).fit(X, y)
    return Predictions(model, X, y, model.predict(X), np.arange(n_classes))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_numbers_are_those_of_scikit_learn(n_classes):
    found = predictions(n_classes)
    metric = Metric(matthews_corrcoef, minimum=-1)
    assert score(metric, found) == matthews_corrcoef(found.y, found.labels)
    metric = Metric(log_loss, maximum=10, higher_is_better=False, response_method="predict_proba")
    assert score(metric, found) == log_loss(found.y, found.probabilities)


def test_two_classes_have_one_column_of_probabilities():
    found = predictions()
    metric = Metric(roc_auc_score, response_method="predict_proba")
    assert score(metric, found) == roc_auc_score(found.y, found.probabilities[:, 1])
    assert score(metric, predictions(model=LinearSVC())) is None


def test_names():
    metric = as_metric(matthews_corrcoef)
    assert (metric.name, metric.label) == ("matthews_corrcoef", "matthews corrcoef")
    assert as_metric(metric) is metric
    assert Metric(lambda a, b: 1, name="one", label="One").label == "One"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"function": 3}, TypeError, "function of Metric must be callable, got 3"),
        ({"function": lambda a, b: 1}, ValueError, "name of Metric must be an identifier .* got '<lambda>'"),
        ({"function": max, "name": "_max"}, ValueError, "name of Metric must be an identifier of ASCII letters"),
        ({"function": max, "label": "<b>"}, ValueError, "label of Metric must have letters, digits, blanks"),
        ({"function": max, "minimum": 1}, ValueError, "minimum of Metric must be below maximum, got 1 and 1"),
        ({"function": max, "response_method": "score"}, ValueError, "must be 'predict' or 'predict_proba', got 'score'"),
    ],
)  # fmt: skip
def test_mistakes(arguments, error, message):
    with pytest.raises(error, match=message):
        Metric(**arguments)


@pytest.mark.parametrize("value", [1.5, np.nan, "one", None, [0.1, 0.2]])
def test_values_out_of_range(value):
    with pytest.raises(ValueError, match="metric 'mine' must be a number from 0 to 1, got"):
        score(Metric(lambda a, b: value, name="mine"), predictions())


def test_a_metric_takes_two_arguments():
    check_function(matthews_corrcoef)
    check_function(max)
    with pytest.raises(
        ValueError, match=r"function of \(y_true, y_pred\), but <lambda> has the arguments \(a\)"
    ):
        check_function(lambda a: 0)
