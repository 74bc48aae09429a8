import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification

from boostnoise import fit_forest_by_parts
from boostnoise.ensemble import dask_forest as module
from boostnoise.ensemble.dask_forest import _divide
from boostnoise.eval import ClassConditionalNoise
from robust_splits import RobustExtraTreesClassifier, RobustForestClassifier

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

T = np.array([[0.9, 0.1], [0.35, 0.65]])
FORESTS = [RobustForestClassifier, RobustExtraTreesClassifier]


@pytest.mark.parametrize(
    ("n_trees", "lengths", "counts"), [(3, [5, 5, 5], [1] * 3), (10, [100, 300], [3, 7]), (6, [9], [6])]
)
def test_trees_in_proportion_to_the_rows(n_trees, lengths, counts):
    assert _divide(n_trees, lengths) == counts


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"oob_score": True}, ValueError, "oob_score needs all rows at once"),
        ({"warm_start": True}, ValueError, "warm_start needs all rows at once"),
        ({"class_weight": "balanced_subsample"}, ValueError, "needs all rows at once"),
    ],
)
def test_what_needs_all_rows(change, error, message):
    X = da.ones((4, 2))
    with pytest.raises(error, match=message):
        fit_forest_by_parts(RobustForestClassifier(**change), X, X[:, 0])


def test_other_arguments():
    with pytest.raises(
        TypeError, match="forest must be a RobustForestClassifier or RobustExtraTreesClassifier, got str"
    ):
        fit_forest_by_parts("forest", da.ones((4, 2)), da.ones(4))
    with pytest.raises(TypeError, match="X must be a Dask collection, got ndarray; call fit"):
        fit_forest_by_parts(RobustForestClassifier(), np.ones((4, 2)), da.ones(4))
    with pytest.raises(ValueError, match=r"create a distributed\.Client first"):
        fit_forest_by_parts(RobustForestClassifier(), da.ones((4, 2)), da.ones(4))


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(6_000, 10, n_informative=6, class_sep=1.5, random_state=0)
    noisy = ClassConditionalNoise(T).corrupt(y[:4_000], random_state=0).labels
    return X[:4_000], noisy, X[4_000:], y[4_000:]


@pytest.mark.release
@pytest.mark.parametrize("forest", FORESTS)
def test_as_good_as_all_rows_on_one_machine(dask_client, rows, forest, monkeypatch):
    monkeypatch.setattr(module, "SAMPLED_ROWS", 1_500)
    X, noisy, X_test, y_test = rows
    model = forest(60, random_state=0, n_jobs=1)
    parts = fit_forest_by_parts(model, da.from_array(X, (1_000, 10)), da.from_array(noisy, 1_000))
    whole = clone(model).fit(X, noisy)
    assert not hasattr(model, "estimators_")
    assert len(parts.estimators_) == 60
    assert parts.passes_ == 2
    np.testing.assert_allclose(parts.transition_matrix_, T, atol=0.1)
    assert parts.score(X_test, y_test) > whole.score(X_test, y_test) - 0.015
    # Its probabilities are those of the clean classes.
    assert parts.predict_proba(X_test)[:, 1].mean() == pytest.approx(y_test.mean(), abs=0.05)
    # Each tree has seen the rows of one part, as often as it has drawn them.
    assert max(tree.tree_.n_node_samples[0] for tree in parts.estimators_) <= 1_000
    copy = pickle.loads(pickle.dumps(parts))
    np.testing.assert_array_equal(copy.predict_proba(X_test), parts.predict_proba(X_test))
    assert parts.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.release
def test_the_same_seed_grows_the_same_trees(dask_client, rows):
    X, noisy, X_test, _ = rows
    model = RobustForestClassifier(8, random_state=3, n_jobs=1)
    data = da.from_array(X, (2_000, 10)), da.from_array(noisy, 2_000)
    one, other = (fit_forest_by_parts(model, *data).predict_proba(X_test) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    seeds = {tree.random_state for tree in fit_forest_by_parts(model, *data).estimators_}
    assert len(seeds) == 8


@pytest.mark.release
def test_frames_with_categories_weights_and_text_labels(dask_client, rows):
    X, noisy, X_test, y_test = rows
    names = np.array(["no", "yes"])

    def frame(X):
        colour = pd.Categorical.from_codes((X[:, 0] > 0).astype(int), ["red", "blue"])
        return pd.DataFrame(X[:, 1:], columns=list("abcdefghi")).assign(colour=colour)

    weights = np.where(np.arange(4_000) < 1_000, 0.0, 2.0)
    table = dd.from_pandas(frame(X).assign(label=names[noisy], weight=weights), npartitions=3)
    model = RobustForestClassifier(12, random_state=0, n_jobs=1, class_weight="balanced")
    fitted = fit_forest_by_parts(
        model, table.drop(columns=["label", "weight"]), table["label"], sample_weight=table["weight"]
    )
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.feature_names_in_[-1] == "colour"
    assert fitted.is_categorical_.tolist() == [False] * 9 + [True]
    assert fitted.score(frame(X_test), names[y_test]) > 0.85


@pytest.mark.release
def test_sorted_rows_cause_a_warning(dask_client, rows):
    X, noisy, _, _ = rows
    order = np.argsort(noisy, kind="stable")
    model = RobustForestClassifier(4, passes=1, random_state=0, n_jobs=1)
    data = da.from_array(X[order], (1_000, 10)), da.from_array(noisy[order], 1_000)
    with pytest.warns(
        UserWarning, match=r"the share of the label . in part . differs by .* so shuffle the rows first"
    ):
        fit_forest_by_parts(model, *data)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        fit_forest_by_parts(model, da.from_array(X, (1_000, 10)), da.from_array(noisy, 1_000))


@pytest.mark.release
def test_more_parts_than_trees(dask_client):
    with pytest.raises(
        ValueError, match="n_estimators must be at least the number of parts, 4, got 3; join parts"
    ):
        fit_forest_by_parts(RobustForestClassifier(3), da.ones((4, 2), chunks=(1, 2)), da.arange(4, chunks=1))


@pytest.mark.release
def test_parquet_parts_and_a_killed_worker(start_dask, rows, tmp_path):
    X, noisy, X_test, y_test = rows
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(10)]).assign(label=noisy)
    for part in range(4):
        table[1_000 * part : 1_000 * (part + 1)].to_parquet(tmp_path / f"{part}.parquet")
    frame = dd.read_parquet(tmp_path)
    with start_dask() as client:
        grow, killed = module._grow, tmp_path / "killed"

        def grow_after_a_loss(*arguments, **options):
            import os
            import signal

            try:  # the first worker that comes here
                killed.open("x").close()
                os.kill(os.getpid(), signal.SIGKILL)
            except FileExistsError:
                pass
            return grow(*arguments, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_grow", grow_after_a_loss)
            model = RobustForestClassifier(20, random_state=0, n_jobs=1)
            fitted = fit_forest_by_parts(model, frame.drop(columns="label"), frame["label"])
        assert killed.exists()
        assert len(fitted.estimators_) == 20
        assert fitted.score(pd.DataFrame(X_test, columns=fitted.feature_names_in_), y_test) > 0.85
        del client
