import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.base import clone

from boostnoise import RobustLGBMClassifier, RobustXGBClassifier
from boostnoise.boosting import structures
from boostnoise.boosting.lightgbm_parameters import AUTO_PARAMETERS as LIGHTGBM_PARAMETERS
from boostnoise.boosting.structures import size_class
from boostnoise.boosting.xgboost_parameters import AUTO_PARAMETERS as XGBOOST_PARAMETERS
from robust_splits.label_noise.clean_posterior import mean_log_likelihood

MODELS = {
    "xgboost": (RobustXGBClassifier(n_jobs=1, random_state=0), XGBOOST_PARAMETERS, xgboost),
    "lightgbm": (RobustLGBMClassifier(n_jobs=1, random_state=0, verbose=-1), LIGHTGBM_PARAMETERS, lightgbm),
}


@pytest.fixture(params=MODELS)
def library(request):
    return MODELS[request.param]


@pytest.fixture
def fits(library, monkeypatch):
    """Numbers of rows and rounds of each fit of the library."""
    train, counted = library[2].sklearn.train, []

    def count(params, *args, **kwargs):
        rows = kwargs.get("train_set", args[0] if args else None)
        booster = train(params, *args, **kwargs)
        if library[2] is xgboost:
            counted.append((rows.num_row(), booster.num_boosted_rounds()))
        else:
            counted.append((rows.num_data(), booster.current_iteration()))
        return booster

    monkeypatch.setattr(library[2].sklearn, "train", count)
    return counted


def noisy(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    y = (X[:, 0] > 0).astype(int)
    return X, y ^ (rng.random(n) < 0.2)


def test_more_rows_have_larger_boosters(library):
    pairs = library[1].structures
    assert [size_class(n_rows) for n_rows in (1, 1_999, 2_000, 10_000, 10**6)] == [0, 0, 1, 2, len(pairs) - 1]
    name = next(name for name in ("num_leaves", "max_depth") if name in pairs[0][0])
    sizes = [[structure[name] for structure in pair] for pair in pairs]
    assert all(small < large for small, large in sizes)
    assert sizes == sorted(sizes)


def test_few_rows_have_the_smaller_structure(library, fits):
    X, y = noisy()
    fitted = clone(library[0]).fit(X, y)
    assert len(fits) == 1
    assert fitted.chosen_params_ == library[1].structures[0][0]
    assert not hasattr(fitted, "cv_results_")


def test_two_structures_in_three_folds_and_one_booster_of_all_rows(library, fits):
    model, auto, _ = library
    X, y = noisy()
    fitted = clone(model).set_params(cv=3).fit(X, y)
    assert len(fits) == 2 * 3 + 1
    assert fits[-1][0] == 400
    assert max(fits[:-1])[0] < 270
    assert list(fitted.cv_results_["params"]) == list(auto.structures[0])


def test_many_rows_have_one_fold(library, fits, monkeypatch):
    monkeypatch.setattr(structures, "COMPARED_ROWS", 300)
    X, y = noisy()
    fitted = clone(library[0]).fit(X, y)
    assert len(fits) == 2 + 1
    assert "split1_test_score" not in fitted.cv_results_
    assert list(fitted.cv_results_["params"]) == list(library[1].structures[0])


@pytest.mark.parametrize("given", [{}, {"n_estimators": 7}])
def test_large_boosters_are_compared_after_half_of_their_rounds(library, fits, monkeypatch, given):
    monkeypatch.setattr(structures, "SIZES", (100, 200, 300))
    monkeypatch.setattr(structures, "COMPARED_ROWS", 300)
    X, y = noisy()
    fitted = clone(library[0]).set_params(**given).fit(X, y)
    rounds = [structure["n_estimators"] for structure in library[1].structures[-1]]
    chosen = int(fitted.cv_results_["mean_test_score"].argmax())
    assert [n_rounds for _, n_rounds in fits] == (
        [7, 7, 7] if given else [*(n // 2 for n in rounds), rounds[chosen]]
    )
    assert fitted.get_params()["n_estimators"] == given.get("n_estimators", "auto")


def test_the_chosen_structure_makes_the_given_labels_most_likely(library):
    X, y = noisy()
    rows = np.arange(400)
    folds = [(rows[rows % 2 == i], rows[rows % 2 != i]) for i in range(2)]
    weight = np.random.default_rng(1).random(400) + 0.5
    fitted = clone(library[0]).set_params(cv=folds).fit(X, y, sample_weight=weight)
    results = fitted.cv_results_
    best = int(results["mean_test_score"].argmax())
    assert fitted.chosen_params_ == results["params"][best]
    assert results["rank_test_score"][best] == 1
    np.testing.assert_allclose(
        results["mean_test_score"], (results["split0_test_score"] + results["split1_test_score"]) / 2
    )
    name = next(name for name in ("num_leaves", "max_depth") if name in results["params"][0])
    assert list(results[f"param_{name}"]) == [structure[name] for structure in results["params"]]


@pytest.mark.parametrize("is_weighted", [False, True])
def test_scores_are_likelihoods_of_given_labels(library, monkeypatch, is_weighted):
    X, y = noisy()
    weights = np.where(y == 1, 3.0, 1.0) if is_weighted else None
    calls = []

    def record(p, T, codes, weight=None):
        calls.append((p, T, codes, weight))
        return mean_log_likelihood(p, T, codes, weight)

    monkeypatch.setattr(structures, "mean_log_likelihood", record)
    fitted = clone(library[0]).set_params(cv=2).fit(X, y, sample_weight=weights)
    for p, T, codes, weight in calls:
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
        np.testing.assert_array_equal(T, fitted.transition_matrix_)
        assert np.mean(codes == p.argmax(axis=1)) > 0.7
        if is_weighted:
            np.testing.assert_allclose(weight / weight.min(), np.where(codes == 1, 3.0, 1.0))
            assert p[:, 1].mean() > 0.53  # the fits are weighted too
        else:
            assert weight is None
            assert p[:, 1].mean() < 0.52
    assert sum(codes.size for _, _, codes, _ in calls) == 2 * 400


def test_a_line_for_each_structure(library, capsys):
    X, y = noisy(200)
    clone(library[0]).set_params(verbose=1, cv=2).fit(X, y)
    assert capsys.readouterr().out.count("log likelihood -") == 2
