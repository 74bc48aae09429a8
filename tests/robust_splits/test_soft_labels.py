"""Soft labels: trees on all rows against weighted copies of rows, and forests against hard labels."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

from robust_splits import RobustDecisionTreeClassifier as Tree
from robust_splits import RobustExtraTreesClassifier as ExtraTrees
from robust_splits import RobustForestClassifier as Forest
from robust_splits._soft_labels import SoftLabels

forests = pytest.mark.parametrize("forest", [Forest, ExtraTrees])


@pytest.fixture(scope="module")
def data():
    """Rows with missing values, and soft labels of three classes; about a third of the probabilities are 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    logits = 2 * np.c_[X[:, 0], X[:, 1], -X[:, 0]] + rng.normal(size=(300, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    P[P < 0.1] = 0.0
    return X, P / P.sum(axis=1, keepdims=True)


def one_hot(y, n_classes=3):
    return np.eye(n_classes)[y]


def copies(X, P, weight):
    """A row for each label of positive probability, the labels, and their weights."""
    rows, labels = np.nonzero(P)
    return X[rows], labels, P[rows, labels] * weight[rows]


@forests
@pytest.mark.parametrize(
    "parameters",
    [
        {}, {"bootstrap": False}, {"criterion": "entropy", "max_samples": 0.5}, {"max_leaf_nodes": 9},
        {"class_weight": "balanced"}, {"class_weight": "balanced_subsample"}, {"class_weight": {0: 2.0, 2: 0.5}},
        {"criterion": "ane"}, {"max_bins": 20, "leaf_value": "majority"},
    ],
    ids=str,
)  # fmt: skip
def test_certain_labels_give_the_forest_of_hard_labels(data, forest, parameters):
    X, P = data
    y, weight = P.argmax(axis=1), np.random.default_rng(1).uniform(0.2, 3, 300)
    for weights in (None, weight):
        model = forest(6, passes=1, oob_score=parameters.get("bootstrap", True), random_state=0, **parameters)
        p = model.fit(X, y, weights).predict_proba(X)
        oob = getattr(model, "oob_decision_function_", p)
        trees = [estimator.tree_ for estimator in model]
        model.set_params(passes="auto").fit(X, one_hot(y), weights)
        assert model.predict_proba(X).tobytes() == p.tobytes()
        assert getattr(model, "oob_decision_function_", p).tobytes() == oob.tobytes()
        for estimator, tree in zip(model, trees, strict=True):
            for name in ("feature", "threshold", "children", "counts", "n_rows"):
                assert getattr(estimator.tree_, name).tobytes() == getattr(tree, name).tobytes()
        assert (model.classes_.tolist(), model.passes_) == ([0, 1, 2], 1)


@pytest.mark.parametrize(
    "criterion", ["gini", "entropy", "negative_exponential", "gce", "misclassification", "twoing"]
)
@pytest.mark.parametrize(
    "parameters",
    [{}, {"max_leaf_nodes": 12}, {"min_samples_leaf": 7}, {"min_impurity_decrease": 0.01}],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_trees_are_those_of_weighted_copies(data, criterion, parameters, weighted):
    X, P = data
    weight = np.random.default_rng(1).uniform(0.2, 3, 300) if weighted else np.ones(300)
    tree = Tree(criterion, random_state=0, **parameters)
    p = tree.fit(X, P, weight if weighted else None).predict_proba(X)
    assert tree.get_n_leaves() > 2
    expected = tree.fit(*copies(X, P, weight)).predict_proba(X)
    np.testing.assert_allclose(p, expected, atol=1e-12)


@pytest.mark.parametrize(
    "model", [Tree(max_depth=6), Forest(4, bootstrap=False), ExtraTrees(4, bootstrap=False)]
)
@pytest.mark.parametrize("class_weight", ["balanced", {0: 3, 2: 0.5}, {1: 0}], ids=str)
def test_class_weights_are_those_of_the_copies(data, model, class_weight):
    X, P = data
    weight = np.random.default_rng(1).uniform(0.2, 3, 300)
    of_class = 300 / (3 * P.sum(axis=0))
    if class_weight != "balanced":
        of_class = np.array([class_weight.get(k, 1.0) for k in range(3)])
    X_copies, y, weights = copies(X, P, weight)
    # In small leaves, rounding decides between splits of equal gain.
    model.set_params(class_weight=class_weight, min_samples_leaf=10, random_state=0)
    p = model.fit(X, P, weight).predict_proba(X)
    expected = model.set_params(class_weight=None).fit(X_copies, y, weights * of_class[y]).predict_proba(X)
    np.testing.assert_allclose(p, expected, atol=1e-12)


def test_rows_of_weight_zero_do_not_count(data):
    X, P = data
    weight = (np.arange(300) % 3 > 0).astype(float)
    tree = Tree(random_state=0).fit(X, P, weight)
    expected = Tree(random_state=0).fit(X[weight > 0], P[weight > 0])
    np.testing.assert_allclose(tree.predict_proba(X), expected.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("model", [Tree(), Forest(5), ExtraTrees(5)])
def test_columns_of_a_frame_name_the_classes(data, model):
    X, P = data
    model.set_params(random_state=0)
    expected = model.fit(X, P).predict_proba(X)
    frame = pd.DataFrame(P, columns=["ash", "birch", "oak"])[["oak", "ash", "birch"]]
    np.testing.assert_array_equal(model.fit(X, frame).predict_proba(X), expected)
    assert model.classes_.tolist() == ["ash", "birch", "oak"]
    assert set(model.predict(X)) == {"ash", "birch", "oak"}
    np.testing.assert_array_equal(model.fit(X, P.tolist()).predict_proba(X), expected)


@forests
def test_groups_are_drawn_as_a_whole(forest):
    """Copies of rows with random labels, which cannot be predicted unless a copy was seen."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(150, 4)), 3, axis=0)
    P = np.repeat(rng.dirichlet([0.1, 0.1], size=150), 3, axis=0)
    groups = np.repeat(rng.permutation(150), 3)
    settings = {"min_samples_split": 2, "shrinkage": 0.0, "oob_score": True, "random_state": 0}
    assert forest(60, **settings).fit(X, P).oob_score_ > 0.8
    assert abs(forest(60, **settings).fit(X, P, groups=groups).oob_score_ - 0.5) < 0.12


def test_labels_are_drawn_by_their_probabilities(data):
    X, P = data
    trees = Forest(400, max_depth=1, min_samples_split=2, shrinkage=0.0, random_state=0).fit(X, P)
    counts = np.array([model.tree_.counts[0] for model in trees])
    np.testing.assert_array_equal(counts.sum(axis=1), 300)
    np.testing.assert_allclose(counts.mean(axis=0) / 300, P.mean(axis=0), atol=0.01)
    soft = SoftLabels.from_probabilities(P)
    state, n_draws = np.full(1, 7, dtype=np.uint64), np.arange(300.0) % 4
    drawn = np.mean([soft.draw(state, n_draws) for _ in range(2_000)], axis=0)
    np.testing.assert_allclose(drawn, n_draws[soft.rows] * soft.shares, atol=0.12)
    np.testing.assert_array_equal(soft.sum_by_row(soft.draw(state, n_draws)), n_draws)


def test_most_probable_labels():
    P = np.array([[0.2, 0.5, 0.3], [0.5, 0.0, 0.5], [0.0, 0.0, 1.0], [1 / 3, 1 / 3, 1 / 3]])
    assert SoftLabels.from_probabilities(P).most_probable().tolist() == [1, 0, 2, 0]


def test_out_of_bag_rows_are_scored_on_the_most_probable_label(data):
    X, P = data
    forest = Forest(30, oob_score=True, random_state=0).fit(X, P)
    found = forest.oob_decision_function_
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert forest.oob_score_ == (found.argmax(axis=1) == P.argmax(axis=1)).mean()
    assert forest.oob_score_ > 0.55
    assert not hasattr(forest, "transition_matrix_")


def test_certain_labels_of_some_rows_are_learnt_from_uncertain_ones():
    """Labels that are wrong in a known share of the rows, against hard labels that hide it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 5))
    clean = (X[:, 0] + X[:, 1] > 0).astype(int)
    doubtful = rng.random(2_000) < 0.5
    given = np.where(doubtful & (rng.random(2_000) < 0.45), 1 - clean, clean)
    P = one_hot(given, 2)
    P[doubtful] = 0.9 * 0.5 + 0.1 * P[doubtful]
    train, test = slice(0, 1_000), slice(1_000, None)
    soft = Forest(50, random_state=0).fit(X[train], P[train]).score(X[test], clean[test])
    hard = Forest(50, passes=1, random_state=0).fit(X[train], given[train]).score(X[test], clean[test])
    assert soft > hard + 0.01


@forests
def test_any_number_of_threads_and_pickles_give_the_same_forest(data, forest):
    X, P = data
    one, two = (forest(8, n_jobs=n, random_state=0).fit(X, P) for n in (1, 2))
    expected = one.predict_proba(X).tobytes()
    assert two.predict_proba(X).tobytes() == expected
    assert pickle.loads(pickle.dumps(one)).predict_proba(X).tobytes() == expected


@forests
def test_warm_start_adds_trees_as_one_fit_would(data, forest):
    X, P = data
    parameters = {"min_samples_split": 2, "random_state": 0}
    once = forest(6, **parameters).fit(X, P)
    model = forest(3, warm_start=True, **parameters).fit(X, P).set_params(n_estimators=6).fit(X, P)
    np.testing.assert_array_equal(model.predict_proba(X), once.predict_proba(X))


@pytest.mark.parametrize("model", [Tree(class_weight="balanced"), Forest(4, class_weight="balanced")])
def test_a_class_without_probability_is_never_predicted(data, model):
    X, P = data
    P = np.c_[P, np.zeros(300)]
    p = model.fit(X, P).predict_proba(X)
    assert p.shape == (300, 4)
    assert not p[:, 3].any()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("model", [Tree(), Forest(3)])
def test_a_column_of_labels_is_not_soft(data, model):
    X, y = data[0], data[1].argmax(axis=1)
    model.set_params(random_state=0)
    expected = model.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.fit(X, y[:, None]).predict_proba(X), expected)
    with pytest.warns(DataConversionWarning):
        model.fit(X, y[:, None])


@pytest.mark.parametrize("model", [Tree(), Forest(3)])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda P: P * 0.9, r"soft labels must sum to 1 in each row, got \[0.9"),
        (lambda P: P - [0.5, -0.5, 0], r"soft labels must be probabilities in \[0, 1\], got \["),
        (lambda P: np.where(P > 0.5, np.nan, P), r"soft labels must be probabilities in \[0, 1\], got \[nan"),
        (lambda P: P[:-1], "X and y must have the same number of rows, got 300 and 299"),
        (
            lambda P: pd.DataFrame(P, columns=list("aba")),
            "columns of soft labels must have different names, got",
        ),
        (lambda P: P.astype(str).astype(object) + "x", "soft labels must be probabilities of shape"),
    ],
)
def test_bad_soft_labels(data, model, change, message):
    X, P = data
    with pytest.raises(ValueError, match=message):
        model.fit(X, change(P))


def test_soft_labels_are_not_judged(data):
    with pytest.raises(ValueError, match="passes=2 judges class labels, but y has soft labels"):
        Forest(3, passes=2).fit(*data)


def test_warm_start_needs_the_classes_of_the_earlier_fit(data):
    X, P = data
    model = Forest(3, warm_start=True).fit(X, P).set_params(n_estimators=5)
    with pytest.raises(ValueError, match="y must have the classes of the fit that warm_start continues"):
        model.fit(X, np.c_[P, np.zeros(300)])


def test_several_targets_are_fitted_by_scikit_learn():
    Y = np.eye(2, dtype=int)[[0, 1, 1, 0]]
    Y[0] = 1
    with pytest.raises(
        ValueError, match=r"to fit several targets, use sklearn\.multioutput\.MultiOutputClassifier"
    ):
        Forest(2).fit(np.eye(4), Y)
