import sys

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from matplotlib.figure import Figure
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from robust_splits import RobustDecisionTreeClassifier, RobustForestClassifier
from robust_splits.export import export_text, plot_tree

IRIS = load_iris()


@pytest.fixture(scope="module")
def tree():
    return RobustDecisionTreeClassifier("gini", min_samples_leaf=5, random_state=0).fit(IRIS.data, IRIS.target)


@pytest.fixture
def ax():
    return Figure(figsize=(10, 6)).subplots()


@pytest.fixture(scope="module")
def missing():
    X, y = IRIS.data.copy(), IRIS.target
    X[y == 0] = np.nan
    return RobustDecisionTreeClassifier("gini", max_depth=2, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_depth": 0},
        {"max_depth": 2, "show_weights": True},
        {"decimals": 0, "show_weights": True},
        {"feature_names": IRIS.feature_names, "class_names": IRIS.target_names},
    ],
)
def test_text_is_that_of_scikit_learn(tree, options):
    same = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(IRIS.data, IRIS.target)
    assert export_text(tree, **options) == sklearn.tree.export_text(same, **options)


def test_text_shows_the_branch_of_missing_values(tree, missing):
    lines = export_text(tree, show_missing=True, max_depth=0).splitlines()
    assert lines[0] == "|--- feature_3 <= 0.80"
    assert lines[2] == "|--- feature_3 >  0.80 or missing"
    lines = export_text(missing, class_names=IRIS.target_names).splitlines()
    assert lines[0] == "|--- feature_3 is present"
    assert lines[-2:] == ["|--- feature_3 is missing", "|   |--- class: setosa"]


def test_feature_names_seen_by_fit():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 0.0]})
    assert "|--- a <= 1.50\n" in export_text(RobustDecisionTreeClassifier().fit(X, [0, 1]))


def test_text_of_a_chain_that_is_deeper_than_the_stack():
    y = np.arange(3000) % 2
    tree = RobustDecisionTreeClassifier("gini", random_state=0).fit(np.arange(3000)[:, None], y)
    assert tree.get_depth() > sys.getrecursionlimit()
    assert export_text(tree, max_depth=None).count("class:") == tree.get_n_leaves()


def test_a_root_alone(ax):
    tree = RobustDecisionTreeClassifier().fit([[1], [2]], ["a", "a"])
    assert export_text(tree) == "|--- class: a\n"
    assert [text.get_text() for text in plot_tree(tree, ax=ax).texts] == ["weights: [2]\nclass: a"]


def test_boxes_show_the_contents_of_nodes(tree, missing, ax):
    assert plot_tree(tree, class_names=IRIS.target_names, ax=ax) is ax
    boxes = [text.get_text() for text in ax.texts]
    assert boxes[0] == "feature_3 <= 0.8\ngain: 0.333\nweights: [50, 50, 50]\nclass: setosa"
    assert boxes[1] == "weights: [50, 0, 0]\nclass: setosa"
    assert boxes[tree.tree_.n_nodes :] == ["true ", " false"]
    assert plot_tree(missing, ax=Figure().subplots()).texts[0].get_text().startswith("feature_3 is present\n")


@pytest.mark.parametrize("max_depth", [None, 1])
@pytest.mark.parametrize("figsize", [(4, 3), (10, 6)])
def test_boxes_neither_overlap_nor_leave_the_axes(tree, figsize, max_depth):
    figure = Figure(figsize=figsize)
    ax = plot_tree(tree, max_depth=max_depth, feature_names=IRIS.feature_names, ax=figure.subplots())
    figure.draw_without_rendering()
    boxes = [text.get_bbox_patch().get_window_extent() for text in ax.texts if text.get_bbox_patch()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(ax.bbox.containsx(x) and ax.bbox.containsy(y) for box in boxes for x, y in box.corners())


def test_parents_are_centred_over_leaves_at_equal_distances(tree, ax):
    x = np.array([text.get_position()[0] for text in plot_tree(tree, ax=ax).texts[: tree.tree_.n_nodes]])
    inner = np.flatnonzero(tree.tree_.left >= 0)
    np.testing.assert_array_equal(np.sort(np.delete(x, inner)), np.arange(tree.get_n_leaves()))
    np.testing.assert_array_equal(x[tree.tree_.children[inner]].mean(axis=1), x[inner])


def test_a_truncated_tree_is_marked(tree, ax):
    boxes = [text.get_text() for text in plot_tree(tree, max_depth=0, ax=ax).texts]
    assert boxes[2] == "truncated branch of\ndepth 4"
    assert len(boxes) == 5


def test_colour_and_font_size(tree):
    def style(**options):
        text = plot_tree(tree, ax=Figure().subplots(), **options).texts[1]
        return text.get_bbox_patch().get_facecolor()[:3], text.get_fontsize()

    assert style(filled=False, fontsize=3) == ((1, 1, 1), 3)
    assert style()[0] != (1, 1, 1)


def test_names_are_not_parsed_as_mathtext(ax):
    tree = RobustDecisionTreeClassifier().fit([[1], [2]], ["$x_", "$"])
    plot_tree(tree, feature_names=[r"$\oops$"], ax=ax)
    ax.figure.draw_without_rendering()
    assert ax.texts[0].get_text().startswith(r"$\oops$ <= 1.5")


def test_the_default_is_the_current_axes():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    tree = RobustDecisionTreeClassifier().fit([[1], [2]], [0, 1])
    try:
        assert plot_tree(tree) is plt.gca()
    finally:
        plt.close("all")


@pytest.mark.parametrize("show", [export_text, plot_tree])
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"feature_names": ["a"]}, ValueError, r"feature_names must be 4 names.*got 1: \['a'\]"),
        ({"class_names": "abc"}, TypeError, "class_names must be 3 names.*got 'abc'"),
        ({"max_depth": -1}, ValueError, "max_depth must be an integer of at least 0, got -1"),
    ],
)
def test_bad_arguments(tree, show, options, error, message):
    with pytest.raises(error, match=message):
        show(tree, **options)


def test_an_array_of_axes_is_rejected(tree):
    with pytest.raises(TypeError, match=r"ax must be one matplotlib.axes.Axes or None, got ndarray"):
        plot_tree(tree, ax=Figure().subplots(1, 2))


@pytest.mark.parametrize("show", [export_text, plot_tree])
def test_bad_models(show):
    with pytest.raises(NotFittedError):
        show(RobustDecisionTreeClassifier())
    with pytest.raises(TypeError, match="got RobustForestClassifier; pass one of its estimators_"):
        show(RobustForestClassifier())
    with pytest.raises(TypeError, match=r"must be a RobustDecisionTreeClassifier, got DecisionTreeClassifier$"):
        show(DecisionTreeClassifier())


def test_categories_are_named():
    towns = np.repeat(["Aachen", "Bonn", "Celle", "Dachau", "Erfurt", "Fulda"], 4)
    X = pd.DataFrame({"size": 1.5, "town": pd.Categorical(towns)})
    X.loc[0, "town"] = None
    tree = RobustDecisionTreeClassifier("gini", max_depth=1).fit(X, towns == "Aachen")
    assert export_text(tree, show_missing=True) == (
        "|--- town is Bonn, Celle, Dachau or 2 more\n|   |--- class: False\n"
        "|--- town is Aachen or missing\n|   |--- class: True\n"
    )
    assert plot_tree(tree, ax=Figure().subplots()).texts[0].get_text().startswith("town is Bonn, Celle,")
    forest = RobustForestClassifier(1, max_features=None, bootstrap=False).fit(X, towns == "Aachen")
    assert "t is Aachen\n" in export_text(forest.estimators_[0], feature_names=["s", "t"])
    tree.fit(X, X["town"].isin(["Aachen", "Bonn"]))
    text = export_text(tree, feature_names=["s", "t"])
    assert "t is Aachen or Bonn\n" in text
    assert "t is Celle, Dachau, Erfurt or Fulda\n" in text
