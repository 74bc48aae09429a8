import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from boostnoise import CleanScores, audit, clean_scores
from boostnoise.eval import ConfigError
from boostnoise.eval.audit.checked import make_sample, read_draws


@pytest.fixture(scope="module")
def noisy():
    """Features, right labels, noisy labels, and predictions of two models that have not seen them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 3))
    X[:, 2] = X[:, 0] + X[:, 1]
    right = np.where(X[:, 2] > 0, "yes", "no")
    flipped = np.where(right == "yes", "no", "yes")
    given = np.where(rng.random(800) < np.where(right == "yes", 0.3, 0.1), flipped, right)
    good = 1 / (1 + np.exp(-2 * X[:, 2] - rng.normal(size=800)))
    weak = np.where(X[:, 0] > 0, "yes", "no")
    return X, right, given, {"good": np.column_stack([1 - good, good]), "weak": weak}


@pytest.fixture(scope="module")
def found(noisy):
    X, _, given, _ = noisy
    return audit(X, given)


def accuracies(noisy):
    _, right, _, predictions = noisy
    good = np.where(predictions["good"][:, 1] > 0.5, "yes", "no")
    return {"good": (good == right).mean(), "weak": (predictions["weak"] == right).mean()}


def accuracy(scores):
    return scores.scores[scores.scores["measure"] == "accuracy"].set_index("model")


def test_without_checked_rows(noisy, found):
    _, _, given, predictions = noisy
    scores = found.clean_scores(predictions)
    assert not scores.uses_checked_rows
    table = accuracy(scores)
    for name, truth in accuracies(noisy).items():
        assert table["low"][name] <= truth <= table["high"][name]
        assert abs(table["estimate"][name] - truth) < abs(table["on_given_labels"][name] - truth) / 2
    assert table["on_given_labels"]["weak"] == (predictions["weak"] == given).mean()
    assert scores.scores.groupby("model", sort=False).size().to_dict() == {"good": 4, "weak": 2}
    assert scores.by_class.shape == (8, 7)
    joint = scores.confusion["weak"]
    assert joint.to_numpy().sum() == pytest.approx(1)
    assert joint.to_numpy().trace() == pytest.approx(table["estimate"]["weak"])
    (row,) = scores.differences.itertuples()
    assert (row.model, row.other) == ("good", "weak")
    assert row.low < row.estimate < row.high
    assert "without checked ones" in repr(scores)
    assert "accuracy on given labels" in scores._repr_html_()


def test_two_rounds_of_checked_rows(noisy, found):
    X, right, given, predictions = noisy
    first = found.rows_to_check(40, predictions)
    first["label"] = right[first.index]
    once = audit(X, given, checked=first)
    assert once.rows_to_check(5)["round"].unique().tolist() == [2]
    second = once.rows_to_check(40, predictions)
    assert not set(first.index) & set(second.index)
    second["label"] = right[second.index]
    second.loc[second.index[:5], "label"] = None
    both = pd.concat([first, second.dropna()])
    scores = audit(X, given, checked=both).clean_scores(predictions)
    assert scores.uses_checked_rows
    assert scores.n_checked == 75
    table = accuracy(scores)
    for name, truth in accuracies(noisy).items():
        assert table["low"][name] <= truth <= table["high"][name]
    text = repr(scores)
    assert "good is better than weak on clean labels: +" in text
    assert "75 checked ones. With 100 more checked rows, accuracies would be known to ± " in text
    again = audit(X, given, checked=both).clean_scores(predictions)
    pd.testing.assert_frame_equal(scores.scores, again.scores)


def test_expected_costs(noisy, found):
    costs = np.array([[0.0, 1.0], [5.0, 0.0]])
    scores = found.clean_scores({"no": np.repeat(" NO", 800), **noisy[3]}, costs=costs)
    table = scores.scores[scores.scores["measure"] == "expected cost"].set_index("model")
    share = (noisy[1] == "yes").mean()
    assert table["low"]["no"] < 5 * share < table["high"]["no"]
    given = (found.labels == "yes").mean()
    assert table["on_given_labels"]["no"] == pytest.approx(5 * given)
    assert "expected cost" in repr(scores)
    probabilities = noisy[3]["good"][:, 1]
    one, other = (found.clean_scores(p).scores for p in (probabilities, noisy[3]["good"]))
    pd.testing.assert_frame_equal(one, other)


def test_predictions_for_some_rows(noisy, found):
    _, right, _, predictions = noisy
    rows = np.arange(300, 800)[::-1]
    some = {name: values[rows] for name, values in predictions.items()}
    scores = found.clean_scores(some, rows=rows)
    assert scores.n_rows == 500
    drawn = found.rows_to_check(30, some, rows=rows)
    assert drawn.index.isin(rows).all()
    checked = drawn.assign(label=right[drawn.index])
    given = found.labels
    scores = audit(noisy[0], given, checked=checked).clean_scores(some, rows=rows)
    assert scores.n_checked == 30


def test_how_rows_were_drawn():
    ranking = np.random.default_rng(0).permutation(1000)
    first = {int(row): 0 for row in ranking[:30]}
    at_random = {int(row): 0 for row in ranking[40::25]}
    sample, remarks = make_sample(first | at_random, None, ranking)
    assert sample.is_random.sum() == len(at_random)
    assert remarks == ["39 checked rows are taken as drawn at random, and the first 30 suspects as chosen"]
    np.testing.assert_allclose(sample.probabilities[sample.is_random], 39 / 970)
    sample, remarks = make_sample({int(row): 0 for row in ranking[5:60]}, None, ranking)
    assert not sample.is_random.any()
    assert "not drawn at random" in remarks[0]
    draws = pd.DataFrame({"label": ["a", "b"], "probability": [0.1, None]}, index=[3, 4])
    sample, remarks = make_sample({3: 0, 4: 1}, read_draws(draws), ranking)
    np.testing.assert_array_equal(sample.rounds, [1, 0])
    assert remarks == ["1 checked row without a probability is taken as chosen"]


def test_classifiers_are_cross_validated(noisy):
    X, right, given, _ = noisy
    frame = pd.DataFrame(X, columns=list("abc")).assign(d=np.where(X[:, 2] > 0, "u", "v"))
    models = {"logistic": LogisticRegression(), "bayes": GaussianNB()}
    scores = clean_scores(models, frame, given, checked=dict(enumerate(right[:60])))
    assert isinstance(scores, CleanScores)
    assert scores.n_checked == 60
    truth = np.mean(LogisticRegression().fit(X, right).predict(X) == right)
    assert accuracy(scores)["estimate"]["logistic"] == pytest.approx(truth, abs=0.12)


def test_mistakes(noisy, found):
    X, right, given, predictions = noisy
    with pytest.raises(ConfigError, match="weak has 'maybe', which is no label of the data"):
        found.clean_scores({"weak": np.repeat("maybe", 800)})
    with pytest.raises(ConfigError, match="good has 10 rows, expected 800"):
        found.clean_scores({"good": predictions["good"][:10]})
    with pytest.raises(ConfigError, match="good: probabilities must be in"):
        found.clean_scores({"good": 2 * predictions["good"]})
    with pytest.raises(ConfigError, match="empty dict"):
        found.clean_scores({})
    with pytest.raises(ConfigError, match="model is a model; give its predictions"):
        found.clean_scores(GaussianNB())
    with pytest.raises(ConfigError, match="rows must be different whole numbers from 0 to 799"):
        found.clean_scores(given[:1], rows=[800])
    with pytest.raises(
        ConfigError, match="n must be a whole number from 1 to 800, the number of unchecked rows"
    ):
        found.rows_to_check(801)
    with pytest.raises(ConfigError, match="rows must be different whole numbers"):
        found.rows_to_check(5, rows=[800])
    with pytest.raises(ConfigError, match="random_state must be a whole number from 0, got -1"):
        found.rows_to_check(5, random_state=-1)
    with pytest.raises(ConfigError, match="x must be a vector or a matrix, got shape"):
        found.clean_scores({"x": 3})
    with pytest.raises(ConfigError, match="checked: row 3 occurs more than once"):
        audit(X, given, checked=pd.DataFrame({"label": ["yes", "no"]}, index=[3, 3]))
    with pytest.raises(ValueError, match="costs has costs for 3 classes"):
        found.clean_scores(predictions, costs=np.ones((3, 3)))
    with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
        found.clean_scores(predictions, confidence=95)
    with pytest.raises(TypeError, match="models: x must be a classifier with predict_proba"):
        clean_scores({"x": GaussianNB}, X, given)
    with pytest.raises(ConfigError, match="checked must have the column 'label'"):
        audit(X, given, checked=pd.DataFrame({"right": right[:3]}))
