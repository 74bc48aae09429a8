"""Splits of categories into subsets."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from robust_splits import (
    Credal,
    Gini,
    Misclassification,
    NegativeExponential,
    RobustDecisionTreeClassifier,
    RobustExtraTreesClassifier,
    RobustForestClassifier,
    Twoing,
)
from robust_splits.export import export_text
from robust_splits.tree_sums import TreeSums

CRITERIA = [Gini(), Misclassification(), NegativeExponential(0.5), Twoing(), Credal(1.0)]


def small_sample(rng, n_classes, with_missing):
    """Rows of one column of few categories, labels and weights."""
    n = rng.integers(10, 60)
    x = rng.integers(0, rng.integers(2, 8), n).astype(float) * 7 - 3
    y = rng.permutation(np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)))
    if with_missing:
        x[rng.random(n) < 0.2] = np.nan
    return x, y, rng.integers(1, 4, n) * rng.choice([1.0, 0.37])


def best_gain(criterion, x, y, weights, n_classes):
    """The largest gain of all splits of the categories, and of the missing values, into two subsets."""
    _, group = np.unique(x, return_inverse=True)
    counts = np.array(
        [np.bincount(y[group == g], weights[group == g], n_classes) for g in range(group.max() + 1)]
    )
    gains = [0.0]
    for subset in range(1, 1 << (len(counts) - 1)):
        on_left = (subset >> np.arange(len(counts))) & 1 == 1
        gains.append(criterion.gain(counts[on_left].sum(axis=0), counts[~on_left].sum(axis=0)))
    return max(gains)


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda criterion: type(criterion).__name__)
def test_the_split_of_two_classes_is_the_best_of_all_subsets(criterion):
    rng = np.random.default_rng(0)
    for i in range(40):
        x, y, weights = small_sample(rng, 2, with_missing=i % 2 == 0)
        model = RobustDecisionTreeClassifier(criterion, max_depth=1, categorical_features=[0])
        tree = model.fit(x[:, None], y, weights).tree_
        assert tree.gain[0] == pytest.approx(best_gain(criterion, x, y, weights, 2), abs=1e-9)


def test_the_split_of_more_classes_is_nearly_the_best():
    rng = np.random.default_rng(1)
    shares = []
    for i in range(100):
        x, y, weights = small_sample(rng, 4, with_missing=i % 2 == 0)
        model = RobustDecisionTreeClassifier("gini", max_depth=1, categorical_features=[0])
        gain = model.fit(x[:, None], y, weights).tree_.gain[0]
        best = best_gain(Gini(), x, y, weights, 4)
        assert gain <= best + 1e-9
        shares.append(gain / best)
    assert np.mean(np.array(shares) > 1 - 1e-9) > 0.95
    assert min(shares) > 0.8


def categorical_sample(n=3000, n_categories=40, n_classes=2, seed=0):
    """A frame with a column of categories whose order means nothing, one of numbers, and noisy labels."""
    rng = np.random.default_rng(seed)
    codes, z = rng.integers(0, n_categories, n), rng.normal(size=n)
    effect = rng.normal(size=(n_categories, n_classes)) * 1.5
    scores = effect[codes] + z[:, None] * np.linspace(-1, 1, n_classes) + rng.gumbel(size=(n, n_classes))
    column = pd.Categorical.from_codes(codes, [f"k{i}" for i in range(n_categories)])
    return pd.DataFrame({"kind": column, "z": z}), scores.argmax(axis=1)


MODELS = [
    RobustDecisionTreeClassifier("gini", min_samples_leaf=5, random_state=0),
    RobustForestClassifier(20, random_state=0, criterion="ne"),
    RobustExtraTreesClassifier(20, random_state=0),
]


@pytest.mark.parametrize("model", MODELS[:2], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_subsets_are_more_accurate_than_ranks(model, n_classes):
    X, y = categorical_sample(n_categories=100, n_classes=n_classes)
    train, test = slice(0, 1500), slice(1500, None)
    by_subsets = clone(model).fit(X[train], y[train])
    by_ranks = clone(model).set_params(categorical_features=None).fit(X[train], y[train])
    assert by_subsets.is_categorical_.tolist() == [True, False]
    assert not by_ranks.is_categorical_.any()
    assert by_subsets.score(X[test], y[test]) > by_ranks.score(X[test], y[test])


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_frames_and_arrays_with_the_same_categories(model):
    X, y = categorical_sample(600)
    expected = clone(model).fit(X, y).predict_proba(X)
    numbers = X.assign(kind=X["kind"].cat.codes).astype(float)
    for chosen in ([0], [True, False], ["kind"]):
        same = clone(model).set_params(categorical_features=chosen).fit(numbers, y)
        np.testing.assert_array_equal(same.predict_proba(numbers), expected)
    of_array = clone(model).set_params(categorical_features=[0]).fit(numbers.to_numpy("f4"), y)
    restored = pickle.loads(pickle.dumps(of_array))
    assert np.mean(restored.predict(numbers.to_numpy()) == expected.argmax(axis=1)) > 0.95


def test_columns_with_an_order_are_split_at_a_category():
    X, y = categorical_sample(300)
    ordered = X.assign(kind=X["kind"].cat.as_ordered())
    model = RobustDecisionTreeClassifier("gini", random_state=0)
    assert not clone(model).fit(ordered, y).is_categorical_.any()
    assert clone(model).set_params(categorical_features=["kind"]).fit(ordered, y).is_categorical_.any()


def test_frames_of_polars_and_arrow():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    X, y = categorical_sample(600)
    X.loc[::9, "kind"], X.loc[::7, "z"] = None, np.nan
    model = RobustForestClassifier(5, random_state=0)
    expected = clone(model).fit(X, y).predict_proba(X)
    frames = (pl.from_pandas(X), pa.Table.from_pandas(X))
    for frame in frames:
        same = clone(model).fit(frame, y)
        assert same.feature_names_in_.tolist() == ["kind", "z"]
        assert same.is_categorical_.tolist() == [True, False]
        for rows in (X, *frames):
            np.testing.assert_array_equal(same.predict_proba(rows), expected)
    swapped = pl.from_pandas(X[["z", "kind"]])
    with pytest.raises(ValueError, match="order"):
        clone(model).fit(X, y).predict(swapped)
    enum = pl.from_pandas(X).with_columns(
        pl.col("kind").cast(pl.String).cast(pl.Enum(list(X["kind"].cat.categories)))
    )
    assert not clone(model).fit(enum, y).is_categorical_.any()  # has an order
    text = enum.with_columns(pl.col("kind").cast(pl.String))
    for frame in (text, text.to_arrow()):
        with pytest.raises(ValueError, match=r"not numbers: 'kind' \(text\)"):
            clone(model).fit(frame, y)


def test_unknown_and_missing_categories_go_the_same_way():
    X, y = categorical_sample(600)
    X.loc[y == 1, "kind"] = X.loc[y == 1, "kind"].where(np.arange((y == 1).sum()) % 3 > 0)
    model = RobustForestClassifier(5, random_state=0).fit(X, y)
    unknown = X.assign(kind="unheard of")
    np.testing.assert_array_equal(
        model.predict_proba(unknown), model.predict_proba(X.assign(kind=pd.Categorical([None] * 600)))
    )
    assert (model.predict(unknown) == 1).mean() > 0.9  # learnt: missing values are of class 1


def test_each_row_reaches_the_leaf_that_it_was_trained_in():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.integers(0, n, 2000) for n in (3, 30, 1999)]).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = rng.integers(0, 3, 2000)
    for best_first in (None, 300):
        model = RobustDecisionTreeClassifier("ne", categorical_features=[0, 1, 2], max_leaf_nodes=best_first)
        tree = model.fit(X, y).tree_
        for pruned in (tree, tree.pruned(50)):
            leaves, sizes = np.unique(pruned.apply(X), return_counts=True)
            np.testing.assert_array_equal(sizes, pruned.n_rows[leaves])
            assert leaves.size == pruned.n_leaves


def test_many_categories():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 5000, 20_000) * 400_000  # up to 2^31
    y = (rng.permutation(5000) < 2500)[codes // 400_000]
    X = codes[:, None].astype(float)
    tree = RobustDecisionTreeClassifier("gini", categorical_features=[0], max_bins=16).fit(X, y)
    assert tree.score(X, y) == 1
    assert tree.get_n_leaves() == 2


def test_text_names_the_categories():
    X, y = np.array([[3], [5], [5], [8]]), [0, 1, 1, 0]
    tree = RobustDecisionTreeClassifier("gini", categorical_features=[0]).fit(X, y)
    assert export_text(tree, feature_names=["kind"]).splitlines()[::2] == [
        "|--- kind is 3 or 8",
        "|--- kind is any other",
    ] or (
        export_text(tree, feature_names=["kind"]).splitlines()[::2]
        == ["|--- kind is any other", "|--- kind is 5"]
    )


def test_trees_with_subsets_are_not_stored_without_them():
    X, y = categorical_sample(300)
    tree = RobustDecisionTreeClassifier("gini").fit(X, y).tree_
    with pytest.raises(ValueError, match="trees with subsets of categories cannot be stored"):
        TreeSums.of([tree], [tree.values])


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (["town"], "categorical_features has 'town', but X has columns 'kind', 'z'"),
        ([2], "categorical_features must be indices from 0 to 1"),
        ([True], "categorical_features must have 2 booleans"),
        ([0.5], "categorical_features must be 'from_dtype', None, or a list of"),
        ("kind", "categorical_features must be 'from_dtype', None, or a list of"),
    ],
)
def test_invalid_features(chosen, message):
    X, y = categorical_sample(50)
    with pytest.raises((ValueError, TypeError), match=message):
        RobustDecisionTreeClassifier(categorical_features=chosen).fit(X, y)
    if chosen == ["town"]:
        with pytest.raises(ValueError, match="but X has no column names"):
            RobustDecisionTreeClassifier(categorical_features=chosen).fit(np.zeros((50, 2)), y)
