import numpy as np
import pytest
import xgboost
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from boostnoise import RobustLGBMClassifier, RobustXGBClassifier
from boostnoise.boosting.learning_curve import MIN_TOTAL, growing_rates


@pytest.fixture(params=[RobustXGBClassifier, RobustLGBMClassifier], ids=["xgboost", "lightgbm"])
def model(request):
    quiet = {"verbose": -1} if request.param is RobustLGBMClassifier else {}
    return request.param(budget=1, cv=3, n_jobs=1, random_state=3, **quiet)


def noisy(n_rows=300):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:n_rows, :8], y[:n_rows]
    return X, y ^ (np.random.default_rng(0).random(y.size) < 0.3)


def test_scores_are_those_of_boosters_without_the_rows_of_a_fold():
    X, y = noisy()
    weight = np.random.default_rng(1).random(y.size) + 0.5
    given = {"max_depth": 3, "min_child_weight": 2.0, "subsample": 0.5, "colsample_bynode": 0.5}
    model = RobustXGBClassifier(budget=5, n_jobs=1, random_state=3, **given)
    model.fit(X, y, sample_weight=weight)
    rates, totals = growing_rates(10, 2)
    rates = np.repeat(rates, 2).tolist()
    np.testing.assert_array_equal(
        model.cv_results_["total_learning_rate"], totals[: model.cv_results_["total_learning_rate"].size]
    )
    params = {"objective": "binary:logistic", "seed": 3, "nthread": 1, "learning_rate": rates[0], **given}
    scores, sizes = [], []
    for i, (seen, unseen) in enumerate(StratifiedKFold(5, shuffle=True, random_state=3).split(X, y)):
        booster = xgboost.train(
            params,
            xgboost.QuantileDMatrix(X[seen], y[seen], weight=weight[seen]),
            num_boost_round=len(rates),
            # This callback sets the rate of the next round.
            callbacks=[xgboost.callback.LearningRateScheduler([*rates[1:], rates[-1]])],
        )
        rows = xgboost.DMatrix(X[unseen])
        found = model.cv_results_[f"split{i}_test_score"]
        for rounds in (1, 2, 5, 15):
            p = booster.predict(rows, iteration_range=(0, rounds))
            expected = -log_loss(y[unseen], p.astype(float), sample_weight=weight[unseen])
            assert found[rounds - 1] == pytest.approx(expected, rel=1e-4)
        scores.append(found)
        sizes.append(weight[unseen].sum())
    mean = np.average(scores, axis=0, weights=sizes)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], mean)
    np.testing.assert_allclose(model.cv_results_["std_test_score"], np.std(scores, axis=0))
    assert model.cv_results_["rank_test_score"][mean.argmax()] == 1
    total = model.chosen_params_["learning_rate"] * model.chosen_params_["n_estimators"]
    assert total == pytest.approx(max(totals[mean.argmax()], MIN_TOTAL))


def test_noise_leads_to_a_shorter_booster(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 5))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    totals = []
    for rate in (0.0, 0.4):
        chosen = model.set_params(budget=5).fit(X, y ^ (rng.random(1_000) < rate)).chosen_params_
        totals.append(chosen["learning_rate"] * chosen["n_estimators"])
    assert totals[0] > 2 * totals[1]
    assert totals[1] >= MIN_TOTAL * (1 - 1e-9)


def test_rows_without_weight_are_in_no_fold(model):
    X, y = noisy()
    weight = (np.arange(y.size) % 3 > 0).astype(float)
    kept = np.flatnonzero(weight)
    weighted = model.fit(X, y, sample_weight=weight).cv_results_
    alone = model.fit(X[kept], y[kept], sample_weight=weight[kept]).cv_results_
    np.testing.assert_array_equal(weighted["mean_test_score"], alone["mean_test_score"])


def test_a_class_without_weight_keeps_its_column(model):
    X, y = load_iris(return_X_y=True)
    model.fit(X, y, sample_weight=(y < 2).astype(float))
    assert model.predict_proba(X).shape == (150, 3)


@pytest.mark.parametrize("scale", [{"class_weight": {0: 1.0, 1: 3.0}}, {"scale_pos_weight": 3.0}], ids=str)
def test_weights_of_classes_count_in_the_scores(model, scale):
    X, y = noisy()
    expected = model.fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0)).cv_results_["mean_test_score"]
    found = model.set_params(**scale).fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_folds_follow_groups_and_cv(model):
    X, y = noisy()
    groups = np.arange(y.size) // 3
    plain = model.fit(X, y).cv_results_
    grouped = model.fit(X, y, groups=groups).cv_results_
    assert plain.keys() == grouped.keys()
    assert plain["split0_test_score"][0] != grouped["split0_test_score"][0]
    splits = [(np.arange(200), np.arange(200, 300))]
    assert "split1_test_score" not in model.set_params(cv=splits).fit(X, y).cv_results_


def test_many_rows_are_held_out_once(model, monkeypatch):
    X, y = noisy()
    every = model.fit(X, y).cv_results_
    monkeypatch.setattr("boostnoise.boosting.structure_search.HOLD_OUT_ROWS", 299)
    once = model.fit(X, y).cv_results_
    assert "split1_test_score" not in once
    np.testing.assert_array_equal(once["mean_test_score"][:5], every["split0_test_score"][:5])


@pytest.mark.parametrize("many_values", [1, 10**9])
def test_the_choice_does_not_depend_on_threads(model, monkeypatch, many_values):
    monkeypatch.setattr("boostnoise.boosting.structure_search.MANY_VALUES", many_values)
    X, y = noisy()
    first, second = (model.set_params(n_jobs=n_jobs).fit(X, y).cv_results_ for n_jobs in (1, 2))
    np.testing.assert_allclose(first["mean_test_score"], second["mean_test_score"], rtol=1e-6)
    third = model.fit(X, y)
    np.testing.assert_array_equal(third.cv_results_["mean_test_score"], second["mean_test_score"])


def test_the_same_seed_gives_the_same_booster(model):
    X, y = noisy()

    def fitted(seed):
        model.set_params(random_state=seed).fit(X, y)
        return model.cv_results_["mean_test_score"][0], model.predict_proba(X)

    (first, p), (second, again), (other, _) = map(fitted, (3, 3, 4))
    assert first == second != other
    np.testing.assert_array_equal(p, again)
    generator, same = (fitted(np.random.RandomState(5))[0] for _ in range(2))
    assert generator == same


def test_verbose_prints_each_fold(model, capfd):
    X, y = noisy()
    model.set_params(verbose=0).fit(X, y)
    assert "fold" not in capfd.readouterr().out
    model.set_params(verbose=1).fit(X, y)
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("[Robust")]
    assert lines[0].startswith(f"[{type(model).__name__}] fold 1 of 3: loss 0.")
    assert "max_depth=(2, 4, 6)" in lines[0]
    assert sum("fold 3 of 3" in line for line in lines) >= 1
    assert " chosen: loss 0." in lines[-1]


def test_the_smoothest_structure_is_kept_unless_another_is_clearly_better(model):
    """Trees of many small leaves find an interaction of two features; a noisy plane needs none of them."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 8))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    model.set_params(cv=5)
    assert model.fit(X, y).chosen_params_["subsample"] == 0.8
    results = model.cv_results_
    assert len({str(value) for value in results["param_min_child_weight"]}) == 2
    chosen = results["rank_test_score"].argmin()
    assert results["param_subsample"][chosen] == 0.8
    kept = 0
    for _ in range(3):
        chosen = model.fit(X, (X[:, 0] + X[:, 1] > 0) ^ (rng.random(600) < 0.4)).chosen_params_
        kept += chosen["min_child_weight"] == (1.0, 4.0, 16.0)
    assert kept >= 2


def test_structures_that_are_worse_on_the_first_folds_are_not_tried_on_others(model):
    X, y = noisy()
    results = model.set_params(budget=5).fit(X, y).cv_results_
    smooth = np.array([str(value) for value in results["param_min_child_weight"]]) == "(1.0, 4.0, 16.0)"
    flexible = np.array(results["param_subsample"] == 0.8, dtype=bool)
    assert np.isfinite(results["split2_test_score"][smooth]).all()
    assert np.isnan(results["split2_test_score"][flexible]).all()
    assert np.isfinite(results["split1_test_score"][flexible]).all()
    assert np.isnan(results["mean_test_score"][flexible]).all()
    assert results["rank_test_score"][flexible].min() > results["rank_test_score"][smooth].max()


def test_structures_are_compared_at_a_given_length(model):
    X, y = noisy()
    given = {"n_estimators": 100, "learning_rate": 0.05}
    model.set_params(**given).fit(X, y)
    assert "cv_results_" in vars(model)
    totals = model.cv_results_["total_learning_rate"]
    assert totals.max() >= 5
    smooth = [value == (1.0, 4.0, 16.0) for value in model.cv_results_["param_min_child_weight"]]
    assert totals[smooth].max() > 2 * 5
