"""Growth and leaf values of trees and forests, against scikit-learn and direct recomputation."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest, weibull_max
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from robust_splits import Credal, DistributionCriterion, FunctionCriterion
from robust_splits import RobustDecisionTreeClassifier as OurTree
from robust_splits import RobustExtraTreesClassifier as ExtraTrees
from robust_splits import RobustForestClassifier as Forest
from robust_splits.criteria import CRITERIA

PLAIN = {"criterion": "gini", "min_samples_split": 2, "shrinkage": 0.0, "random_state": 0}
PLAIN_FOREST = PLAIN | {"passes": 1}
both_forests = pytest.mark.parametrize("forest", [Forest, ExtraTrees])


@pytest.fixture(scope="module")
def data():
    """Continuous columns: with large leaves no two splits have the same gain."""
    X, y = make_classification(
        2_000, 8, n_informative=5, n_classes=3, weights=[0.5, 0.3], flip_y=0.3, random_state=0
    )
    return X.astype(np.float32), y


@pytest.fixture(scope="module")
def weight():
    return np.random.default_rng(1).uniform(0.2, 3, 2_000)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "limits",
    [
        {"max_depth": 5}, {"max_depth": 5, "criterion": "entropy"},
        {"max_leaf_nodes": 2}, {"max_leaf_nodes": 13}, {"max_leaf_nodes": 40, "max_depth": 5, "criterion": "entropy"},
        {"max_leaf_nodes": 1_000}, {"max_leaf_nodes": 20, "min_impurity_decrease": 0.003},
        {"min_impurity_decrease": 0.002}, {"min_weight_fraction_leaf": 0.07}, {"min_samples_split": 0.2},
        {"min_samples_leaf": 0.0333},
    ],
    ids=str,
)  # fmt: skip
def test_same_tree_as_scikit_learn(data, weight, limits, weighted):
    limits = {"criterion": "gini", "min_samples_leaf": 30, "random_state": 0} | limits
    ours, theirs = (
        tree(**limits).fit(*data, weight if weighted else None) for tree in (OurTree, DecisionTreeClassifier)
    )
    assert ours.tree_.n_nodes == theirs.tree_.node_count
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert ours.get_depth() == theirs.get_depth()
    grid = np.random.default_rng(0).normal(size=(5_000, 8)).astype(np.float32)
    np.testing.assert_allclose(ours.predict_proba(grid), theirs.predict_proba(grid), atol=1e-12)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-12)
    assert ours.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("leaf_value", "criterion", "power"),
    [("proportions", "gini", 1), ("gce(0.5)", "gini", 2), ("gce", "gce(0.75)", 4), ("gce", "gini", 1 / 0.3)],
)
def test_leaf_values(data, leaf_value, criterion, power):
    model = OurTree(criterion, leaf_value=leaf_value, min_samples_leaf=30).fit(*data)
    p = model.tree_.proportions[model.apply(data[0])] ** power
    np.testing.assert_allclose(model.predict_proba(data[0]), p / p.sum(axis=1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("leaf_value", ["majority", "gce(1)"])
def test_majority_leaf_values_are_one_hot(data, leaf_value):
    tree = OurTree("gini", leaf_value=leaf_value, min_samples_leaf=30).fit(*data).tree_
    np.testing.assert_array_equal(np.sort(tree.values, axis=1), [[0, 0, 1]] * tree.n_nodes)
    np.testing.assert_array_equal((tree.counts * tree.values).sum(axis=1), tree.counts.max(axis=1))
    tied = OurTree(leaf_value=leaf_value)
    tied = [tied.set_params(random_state=i % 20).fit([[0], [0]], [0, 1]).predict([[0]])[0] for i in range(40)]
    assert tied[:20] == tied[20:]
    assert set(tied) == {0, 1}


@pytest.mark.parametrize("leaf_value", ["mean", "gce(x)", "gce(.)", "gce(-1)", None])
def test_bad_leaf_values(data, leaf_value):
    with pytest.raises(ValueError, match="leaf_value must be 'proportions', 'majority', 'gce' or"):
        OurTree(leaf_value=leaf_value).fit(*data)


def shrunk_leaves(tree, shrinkage, node, value):
    """Values of the leaves below a node."""
    if tree.left[node] < 0:
        return {node: value}
    means, leaves = tree.proportions, {}
    for child in tree.children[node]:
        of_child = value + (means[child] - means[node]) / (1 + shrinkage / tree.counts[node].sum())
        leaves |= shrunk_leaves(tree, shrinkage, child, of_child)
    return leaves


@pytest.mark.parametrize("shrinkage", [0.0, 0.7, 40.0])
def test_shrinkage_by_its_recursion(data, weight, shrinkage):
    parameters = PLAIN | {"shrinkage": shrinkage}
    forest = Forest(3, passes=1, **parameters).fit(*data, weight)
    for model in (OurTree(**parameters).fit(*data, weight), *forest):
        leaves = shrunk_leaves(model.tree_, shrinkage, 0, model.tree_.proportions[0])
        expected = [leaves[leaf] for leaf in model.apply(data[0])]
        np.testing.assert_allclose(model.predict_proba(data[0]), expected, atol=1e-12)


@pytest.mark.parametrize("shrinkage", [1e-30, 1.0])
@pytest.mark.parametrize("model", [OurTree(), Forest(5, bootstrap=False)])
def test_shrunk_values_are_probabilities(model, shrinkage):
    rng = np.random.default_rng(0)
    X, y, weight = rng.random((200, 2)), rng.integers(3, size=200), 10.0 ** rng.uniform(-20, 3, 200)
    p = model.set_params(**PLAIN | {"shrinkage": shrinkage}).fit(X, y, weight).predict_proba(X)
    assert p.min() >= 0
    assert p.max() <= 1
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-14)


@pytest.mark.parametrize("model", [OurTree(), Forest(5, passes=1), ExtraTrees(5, passes=1)])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 2, 2: 0.5}], ids=str)
def test_class_weights_are_weights_of_rows(data, weight, model, class_weight):
    X, y = data
    of_class = y.size / (3 * np.bincount(y)) if class_weight == "balanced" else np.array([2, 1, 0.5])
    model.set_params(**PLAIN, class_weight=class_weight)
    actual = model.fit(X, y, weight).predict_proba(X)
    expected = model.set_params(class_weight=None).fit(X, y, weight * of_class[y]).predict_proba(X)
    np.testing.assert_allclose(actual, expected, atol=1e-12)


@pytest.mark.parametrize("bootstrap", [True, False])
def test_balanced_subsamples_hold_classes_of_equal_weight(data, bootstrap):
    for model in Forest(3, class_weight="balanced_subsample", bootstrap=bootstrap, **PLAIN_FOREST).fit(*data):
        np.testing.assert_allclose(model.tree_.proportions[0], 1 / 3)


def test_balanced_subsamples_of_negligible_weights(data):
    """A bootstrap sample may lack the only row of considerable weight."""
    X, y = data[0][:50], data[1][:50]
    weight = np.where(np.arange(50) == 0, 1.0, 1e-300)
    forest = Forest(20, class_weight="balanced_subsample", random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(forest.predict_proba(X).sum(axis=1), 1)


def test_balanced_subsample_is_for_forests(data):
    with pytest.raises(ValueError, match="class_weight"):
        OurTree(class_weight="balanced_subsample").fit(*data)


@pytest.mark.parametrize(("max_samples", "n_draws"), [(None, 2_000), (150, 150), (0.25, 500), (1e-9, 1)])
def test_max_samples_is_the_number_of_draws(data, max_samples, n_draws):
    assert [model.tree_.weight[0] for model in Forest(3, max_samples=max_samples, passes=1).fit(*data)] == [
        n_draws
    ] * 3


def draws(forest, X, **parameters):
    """Number of draws of each row by each tree, (n_estimators, n_samples): class counts if each row is a class."""
    return np.array([model.tree_.counts[0] for model in forest(**parameters).fit(X, np.arange(len(X)))])


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize(
    "parameters", [{}, {"max_samples": 0.5}, {"shrinkage": 3.0, "leaf_value": "majority"}], ids=str
)
@both_forests
def test_out_of_bag_predictions_use_trees_that_have_not_drawn_the_row(data, parameters, forest):
    X, y = data[0][:300], data[1][:300]
    parameters = {"n_estimators": 6, "bootstrap": True, "passes": 1, "random_state": 7} | parameters
    model = forest(oob_score=True, n_jobs=2, **parameters).fit(X, y)
    unseen = draws(forest, X, **parameters) == 0
    some = unseen.any(axis=0)
    votes = np.einsum("ti,tik->ik", unseen, [tree.predict_proba(X) for tree in model])[some]
    p = model.oob_decision_function_
    np.testing.assert_array_equal(np.isnan(p).all(axis=1), ~some)
    np.testing.assert_allclose(p[some], votes / unseen.sum(axis=0)[some, None], atol=1e-12)
    right = p[some].argmax(axis=1) == y[some]
    assert model.oob_score_ == right.mean()
    model.set_params(oob_score=lambda true, predicted: (true != predicted).mean())
    assert model.fit(X, y).oob_score_ == (~right).mean()


@both_forests
def test_heavy_rows_are_out_of_bag_like_others(data, forest):
    X, y = data[0][:300], data[1][:300]
    weight = np.where(np.arange(300) < 30, 1000.0, 1.0)
    model = forest(40, bootstrap=True, passes=1, oob_score=True, random_state=0).fit(X, y, weight)
    assert np.isfinite(model.oob_decision_function_).all()


def test_without_out_of_bag_rows_the_score_is_nan(data):
    X, y = data[0][:50], data[1][:50]
    model = Forest(4, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="no row is out of bag, so oob_score_ is NaN") as caught:
        model.fit(X, y, groups=np.zeros(50))
    assert caught[0].filename == __file__
    assert np.isnan(model.oob_score_)


@both_forests
@pytest.mark.parametrize("shrinkage", ["auto", 5.0])
def test_warm_start_adds_trees_as_one_fit_would(data, forest, shrinkage):
    parameters = PLAIN_FOREST | {"bootstrap": True, "shrinkage": shrinkage, "oob_score": True}
    once = forest(7, **parameters).fit(*data)
    model = forest(3, warm_start=True, **parameters).fit(*data).set_params(n_estimators=7).fit(*data)
    np.testing.assert_array_equal(model.predict_proba(data[0]), once.predict_proba(data[0]))
    np.testing.assert_array_equal(model.oob_decision_function_, once.oob_decision_function_)


def named(X):
    return pd.DataFrame(X).add_prefix("x")


def test_warm_start_without_more_trees_changes_nothing(data):
    X, y = data
    model = Forest(3, warm_start=True, random_state=0).fit(X, y)
    expected, trees = model.predict_proba(X), model.estimators_
    with pytest.warns(UserWarning, match="a warm start without more trees changes nothing"):
        model.set_params(shrinkage=100.0).fit(X, y)
    assert model.estimators_ is trees
    np.testing.assert_array_equal(model.predict_proba(X), expected)


@pytest.mark.parametrize(
    ("make", "other", "message"),
    [
        (np.asarray, lambda X: X[:, :3], "X has 3 features, but RobustForestClassifier is expecting 8"),
        (named, lambda X: X.iloc[:, ::-1], "feature names should match"),
    ],
    ids=["array", "frame"],
)
def test_warm_start_needs_the_columns_and_classes_of_the_earlier_fit(data, make, other, message):
    X, y = make(data[0]), data[1]
    model = Forest(3, warm_start=True, **PLAIN_FOREST).fit(X, y).set_params(n_estimators=5)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=message):
        model.fit(other(X), y)
    with pytest.raises(ValueError, match=r"y must have the classes .* \[0 1 2\]; got \[1 2\]"):
        model.fit(X[y > 0], y[y > 0])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    model.set_params(warm_start=False).fit(other(X), y).predict_proba(other(X))


def test_warm_start_grows_new_trees_with_the_current_parameters(data):
    model = Forest(2, warm_start=True, **PLAIN_FOREST).fit(*data)
    trees = [estimator.tree_.threshold for estimator in model]
    model.set_params(n_estimators=4, criterion="misclassification", max_depth=2).fit(*data)
    assert [str(estimator.criterion_) for estimator in model] == ["Gini()"] * 2 + ["Misclassification()"] * 2
    assert [estimator.max_depth for estimator in model] == [None, None, 2, 2]
    for estimator, before in zip(model[:2], trees, strict=True):
        np.testing.assert_array_equal(estimator.tree_.threshold, before)
    assert all(estimator.get_depth() <= 2 for estimator in model[2:])


@pytest.mark.parametrize("leaf_value", ["gce(0.5)", "majority"])
def test_warm_start_gives_all_trees_the_current_leaf_value(data, leaf_value):
    parameters = PLAIN_FOREST | {"min_samples_leaf": 30, "shrinkage": 5.0}
    once = Forest(4, leaf_value=leaf_value, **parameters).fit(*data)
    model = Forest(2, warm_start=True, **parameters).fit(*data)
    model.set_params(n_estimators=4, leaf_value=leaf_value).fit(*data)
    np.testing.assert_array_equal(model.predict_proba(data[0]), once.predict_proba(data[0]))


@pytest.mark.parametrize("random_state", [0, None, np.random.RandomState(0)], ids=str)
def test_warm_start_remembers_the_rows_that_its_trees_drew(random_state):
    """Random labels cannot be predicted, except by trees that have seen them."""
    rng = np.random.default_rng(0)
    X, y = rng.random((500, 4)), rng.integers(0, 2, 500)
    parameters = PLAIN_FOREST | {"random_state": random_state, "oob_score": True, "warm_start": True}
    model = Forest(30, **parameters).fit(X, y).set_params(n_estimators=31)
    assert model.fit(X, y).oob_score_ < 0.6


def test_thresholds_of_extra_trees_are_uniform_between_the_values_at_the_node():
    x = np.sort(np.random.default_rng(0).exponential(size=200))
    X, y = x[:, None], np.arange(200) >= 100
    roots = []
    for seed in (0, 1):
        forest = ExtraTrees(300, bootstrap=False, **PLAIN | {"random_state": seed}).fit(X, y)
        roots += [model.tree_.threshold[0] for model in forest]
        for model in forest[:20]:
            passed = model.decision_path(X).toarray().astype(bool)
            for node in np.flatnonzero(model.tree_.feature >= 0):
                assert x[passed[:, node]].min() <= model.tree_.threshold[node] < x[passed[:, node]].max()
    assert len(set(roots)) == 600
    assert kstest(roots, "uniform", args=(x[0], x[-1] - x[0])).pvalue > 0.01


def distance(left, right):
    return np.abs(left / left.sum() - right / right.sum()).sum()


OTHERS = [Credal(2, gain_ratio=True), FunctionCriterion(distance), DistributionCriterion(weibull_max(1, loc=1))]


@both_forests
@pytest.mark.parametrize("criterion", [*CRITERIA, "ane", *OTHERS], ids=lambda c: str(c).partition("(")[0])
def test_every_criterion_in_forests_of_any_number_of_threads(data, forest, criterion):
    X, y = data[0][:600], data[1][:600] > 0
    one, two = (forest(8, criterion=criterion, passes=1, random_state=0, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.predict_proba(X).tobytes() == two.predict_proba(X).tobytes()
    for name in ("feature", "threshold", "children", "counts", "n_rows"):
        for a, b in zip(one, two, strict=True):
            assert getattr(a.tree_, name).tobytes() == getattr(b.tree_, name).tobytes()
    assert one.score(X, y) > max(y.mean(), 1 - y.mean())
    assert one.feature_importances_.sum() == pytest.approx(1)


def test_an_unfitted_model_raises():
    for model in (OurTree(), Forest()):
        for method in (model.predict, model.apply, model.decision_path):
            with pytest.raises(NotFittedError):
                method([[0.0]])


@both_forests
def test_decision_paths_end_in_the_leaves_of_apply(data, forest):
    X, y = data
    forest = forest(4, max_leaf_nodes=30, random_state=0).fit(X, y)
    paths, pointer = forest.decision_path(X)
    for i, model in enumerate(forest):
        tree, passed = model.tree_, model.decision_path(X).toarray().astype(bool)
        np.testing.assert_array_equal(passed, paths[:, pointer[i] : pointer[i + 1]].toarray())
        assert passed[:, 0].all()
        assert passed[:, tree.parent[1:]][passed[:, 1:]].all()
        # Children come after their parents, so the leaf is the last node of a path.
        leaf = [np.flatnonzero(row)[-1] for row in passed]
        np.testing.assert_array_equal(leaf, model.apply(X))
        np.testing.assert_array_equal(leaf, forest.apply(X)[:, i])
        np.testing.assert_array_equal(passed.sum(axis=1) - 1, tree.node_depth[leaf])
        assert model.get_depth() == passed.sum(axis=1).max() - 1
        assert model.get_n_leaves() == len(set(leaf)) <= 30
