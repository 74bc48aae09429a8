"""Sparse rows give the models of the same dense rows, without a dense copy."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix, random_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from boostnoise import RobustClassifier, RobustLGBMClassifier, RobustXGBClassifier
from robust_splits import RobustDecisionTreeClassifier, RobustExtraTreesClassifier, RobustForestClassifier


def rows(n_samples=300, n_features=40, dtype=np.float64, density=0.2, missing=True):
    """Sparse rows: columns of few values, one with a value for each row, and one of zeros; and labels."""
    rng = np.random.default_rng(0)
    X = random_array(
        (n_samples, n_features),
        density=density,
        format="lil",
        rng=rng,
        data_sampler=lambda size: rng.integers(-2, 5, size).astype(float),
    )
    X[:, 1] = rng.normal(size=(n_samples, 1))
    X[:, 2] = 0.0
    y = np.where(X[:, 0].toarray().ravel() + X[:, 1].toarray().ravel() > 0.5, "yes", "no")
    y[rng.random(n_samples) < 0.2] = "no"
    if missing:
        X[::7, 3] = np.nan
    return csr_array(X, dtype=dtype), y


@pytest.mark.parametrize(
    ("sparse", "dtype"),
    [(csr_array, np.float32), (csc_array, np.float64), (csr_matrix, np.float64), (csc_matrix, np.float32)],
)
@pytest.mark.parametrize(
    "model",
    [
        RobustDecisionTreeClassifier(),
        RobustDecisionTreeClassifier("ane", max_bins=16),
        RobustForestClassifier(8, oob_score=True),
        RobustForestClassifier(8, criterion="ane", n_jobs=2),
        RobustForestClassifier(8, criterion="ane", bootstrap=False),
        RobustExtraTreesClassifier(8, bootstrap=True),
    ],
    ids=str,
)
def test_sparse_and_dense_rows_give_the_same_model(model, dtype, sparse):
    X, y = rows(dtype=dtype)
    model.set_params(random_state=0)
    expected = model.fit(X.toarray(), y)
    p, leaves = model.predict_proba(X.toarray()), model.apply(X.toarray())
    found = model.fit(sparse(X), y)
    assert found is expected
    np.testing.assert_array_equal(found.predict_proba(sparse(X)), p)
    np.testing.assert_array_equal(found.apply(sparse(X)), leaves)


def test_soft_labels_of_sparse_rows():
    X, y = rows()
    P = np.column_stack([y == "no", y == "yes"]) * 0.8 + 0.1
    dense = RobustForestClassifier(8, random_state=0).fit(X.toarray(), P)
    sparse = RobustForestClassifier(8, random_state=0).fit(X, P)
    np.testing.assert_array_equal(sparse.predict_proba(X), dense.predict_proba(X))


def test_columns_of_many_values_are_ranked():
    rng = np.random.default_rng(0)
    X = random_array((6000, 4), density=0.6, format="csr", rng=rng)  # more values than a table holds
    y = (X.sum(axis=1) > 1).astype(int)
    dense = RobustForestClassifier(3, random_state=0, passes=1).fit(X.toarray(), y)
    sparse = RobustForestClassifier(3, random_state=0, passes=1).fit(X, y)
    np.testing.assert_array_equal(sparse.predict_proba(X), dense.predict_proba(X))


def test_repeated_entries_are_summed():
    X, y = rows(missing=False)
    twice = csr_array(
        (
            np.repeat(X.data / 2, 2),
            np.repeat(X.indices, 2),
            2 * X.indptr,
        ),
        shape=X.shape,
    )
    once = RobustForestClassifier(3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        RobustForestClassifier(3, random_state=0).fit(twice, y).predict_proba(twice), once.predict_proba(X)
    )


def test_infinite_values_are_refused():
    X, y = rows()
    model = RobustForestClassifier(3, random_state=0).fit(X, y)
    X.data[100] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.predict(X)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(X, y)


@pytest.fixture
def trace():
    """Starts tracing memory until the end of the test, as it would slow down others."""
    yield tracemalloc.start
    tracemalloc.stop()


@pytest.mark.parametrize(
    "model",
    [
        RobustForestClassifier(2, max_depth=3, random_state=0, n_jobs=1),
        RobustForestClassifier(2, criterion="ane", bootstrap=False, max_depth=3, random_state=0, n_jobs=1),
    ],
    ids=["out of bag", "holdout"],
)
def test_wide_rows_are_never_made_dense(trace, model):
    n_samples, n_features = 4000, 20_000
    X = random_array((n_samples, n_features), density=0.002, format="csr", rng=np.random.default_rng(0))
    X.data[:] = 1.0
    y = (X[:, :200].sum(axis=1) > 0).astype(int)
    model.fit(X[:50], y[:50]).predict(X[:50])  # compiles
    trace()
    model.fit(X, y)
    dense = n_samples * n_features * 8
    assert tracemalloc.get_traced_memory()[1] < 0.55 * dense  # the codes, and numbers that become codes
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    model.predict(X)
    assert tracemalloc.get_traced_memory()[1] - before < 0.05 * dense


def text(n_samples, seed):
    """Documents of words, of two topics that share them, and the topics."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_samples)
    words = np.array([f"word{i}" for i in range(200)])
    frequent = np.stack([np.arange(200) + 20.0, np.arange(200)[::-1] + 20.0])
    return [" ".join(rng.choice(words, 30, p=p / p.sum())) for p in frequent[y]], y


@pytest.mark.parametrize(
    "model",
    [
        RobustForestClassifier(50, random_state=0),
        RobustClassifier(RobustForestClassifier(50, random_state=0), random_state=0),
        RobustXGBClassifier(n_estimators=30, random_state=0, n_jobs=1),
        RobustLGBMClassifier(n_estimators=30, random_state=0, n_jobs=1, verbose=-1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_text_in_a_pipeline(model):
    documents, y = text(600, 0)
    unseen, topics = text(600, 1)
    noisy = np.where(np.random.default_rng(2).random(600) < 0.3, 1 - y, y)

    def auc(model):
        pipeline = make_pipeline(TfidfVectorizer(), model).fit(documents, noisy)
        return roc_auc_score(topics, pipeline.predict_proba(unseen)[:, 1])

    assert auc(model) > auc(RandomForestClassifier(50, random_state=0)) - 0.03
