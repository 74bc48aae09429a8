import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import StratifiedShuffleSplit
from xgboost import XGBClassifier

from boostnoise import RobustXGBClassifier
from boostnoise.eval import ConfigError
from boostnoise.eval.config.model_spec import ModelSpec
from boostnoise.eval.metrics.tree_sizes import mean_tree_size
from boostnoise.eval.models.early_stopping import EarlyStoppingClassifier
from boostnoise.eval.models.factory import build
from boostnoise.eval.models.resolved_model import resolve

X, Y = load_breast_cancer(return_X_y=True)
NOISY = np.where(np.random.default_rng(0).random(Y.size) < 0.3, 1 - Y, Y)


def test_rounds_are_those_of_the_library():
    model = EarlyStoppingClassifier(XGBClassifier(n_estimators=300, n_jobs=1), random_state=3).fit(X, NOISY)
    split = StratifiedShuffleSplit(1, test_size=0.2, random_state=3).split(NOISY, NOISY)
    train, held_out = map(np.sort, next(split))
    plain = XGBClassifier(n_estimators=300, n_jobs=1, early_stopping_rounds=20)
    plain.fit(X[train], NOISY[train], eval_set=[(X[held_out], NOISY[held_out])], verbose=False)
    assert model.estimator_.best_iteration == plain.best_iteration < 250
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=0.02)


@pytest.mark.parametrize(
    "booster",
    [
        XGBClassifier(n_estimators=300, n_jobs=1),
        LGBMClassifier(n_estimators=300, n_jobs=1, verbose=-1),
        HistGradientBoostingClassifier(max_iter=300, random_state=0),
    ],
    ids=lambda booster: type(booster).__name__,
)
def test_boosters_stop_before_they_fit_the_noise(booster):
    stopped = EarlyStoppingClassifier(booster, rounds=5, random_state=0).fit(X, NOISY)
    whole = clone(booster).fit(X, NOISY)
    assert stopped.score(X, Y) > whole.score(X, Y)
    assert stopped.classes_.tolist() == [0, 1]
    assert mean_tree_size(stopped) is not None
    again = clone(stopped).fit(X, NOISY)
    np.testing.assert_array_equal(again.predict_proba(X), stopped.predict_proba(X))


def test_a_robust_booster_needs_no_folds_then():
    model = EarlyStoppingClassifier(RobustXGBClassifier(n_estimators=300, n_jobs=1), rounds=5, random_state=0)
    model.fit(X, NOISY)
    assert model.estimator_.best_iteration < 299
    assert "n_estimators" not in model.estimator_.chosen_params_
    assert model.score(X, Y) > 0.9


def test_catboost_stops_on_rows_with_missing_categories():
    pytest.importorskip("catboost")
    from boostnoise.eval.models.catboost_classifier import CatBoostClassifier

    part = pd.Categorical(np.where(X[:, 0] > 14, "a", None))
    frame = pd.DataFrame(X).rename(columns=str).assign(part=part)
    booster = CatBoostClassifier(n_estimators=200, thread_count=1)
    model = EarlyStoppingClassifier(booster, rounds=3, random_state=0).fit(frame, NOISY)
    assert model.estimator_.tree_count_ < 200
    assert model.score(frame, Y) > 0.8


def _booster(library):
    if library == "catboost":
        pytest.importorskip("catboost")
        from boostnoise.eval.models.catboost_classifier import CatBoostClassifier

        return CatBoostClassifier(n_estimators=200, thread_count=1, random_state=0, learning_rate=0.3)
    if library == "xgboost":
        return XGBClassifier(n_estimators=200, n_jobs=1, learning_rate=0.3)
    if library == "lightgbm":
        return LGBMClassifier(n_estimators=200, n_jobs=1, learning_rate=0.3, verbose=-1)
    return HistGradientBoostingClassifier(max_iter=200, learning_rate=0.3, max_bins=31, random_state=0)


def _rounds(model):
    fitted = model.estimator_
    names = ("best_iteration", "best_iteration_", "n_iter_")
    return next((getattr(fitted, name) for name in names if hasattr(fitted, name)), None)


LIBRARIES = ["xgboost", "lightgbm", "catboost", "scikit-learn"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_groups_are_held_out_as_a_whole(library):
    rows = np.repeat(np.arange(Y.size), 3)  # copies of training rows among the rows held out would be known
    model = EarlyStoppingClassifier(_booster(library), rounds=5, random_state=0)
    together = _rounds(clone(model).fit(X[rows], NOISY[rows], groups=rows))
    assert together < 0.5 * _rounds(model.fit(X[rows], NOISY[rows]))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("groups", [None, np.arange(Y.size) // 2], ids=["rows", "groups"])
def test_weights_count_in_training_and_in_stopping(library, groups):
    if library == "scikit-learn" and groups is not None:
        pytest.importorskip("sklearn", minversion="1.7")
    model = EarlyStoppingClassifier(_booster(library), rounds=10, random_state=0)
    plain = clone(model).fit(X, NOISY, groups=groups)
    weights = np.where(NOISY == Y, 1.0, 1e-6)  # wrong labels hardly count
    weighted = clone(model).fit(X, NOISY, sample_weight=weights, groups=groups)
    assert weighted.score(X, Y) > max(0.97, plain.score(X, Y))
    assert _rounds(weighted) != _rounds(plain)
    ones = clone(model).fit(X, NOISY, sample_weight=np.ones(Y.size), groups=groups)
    np.testing.assert_allclose(ones.predict_proba(X), plain.predict_proba(X), atol=1e-5)


def test_a_robust_booster_takes_groups_and_weights():
    model = EarlyStoppingClassifier(RobustXGBClassifier(n_estimators=60, n_jobs=1), rounds=5, random_state=0)
    model.fit(X, NOISY, sample_weight=np.where(NOISY == Y, 1.0, 1e-6), groups=np.arange(Y.size) // 2)
    assert model.score(X, Y) > 0.95


def test_rare_labels_are_trained_on():
    features, labels = load_wine(return_X_y=True)
    labels[:3] = [3, 4, 5]
    model = EarlyStoppingClassifier(LGBMClassifier(n_estimators=5, verbose=-1), holdout=0.5, random_state=1)
    assert model.fit(features, labels).classes_.tolist() == list(range(6))
    assert model.estimator_.classes_.tolist() == list(range(6))


def test_other_models_cannot_stop_early():
    with pytest.raises(
        TypeError, match=r"estimator must be one of XGBClassifier, .*, got RandomForestClassifier"
    ):
        EarlyStoppingClassifier(RandomForestClassifier()).fit(X, Y)
    spec = ModelSpec.model_validate({"model": "random_forest", "early_stopping": {}})
    with pytest.raises(ConfigError, match="RandomForestClassifier cannot stop early; allowed: XGBClassifier, "):
        build(resolve(spec), seed=0, threads=1)


def test_a_model_of_a_config():
    spec = ModelSpec.model_validate(
        {"model": "xgboost", "params": {"n_estimators": 50}, "early_stopping": {"rounds": 4}}
    )
    assert spec.name == "xgboost (early stopping)"
    assert spec.content[-1] == {"early_stopping": {"holdout": 0.2, "rounds": 4}}
    model = build(resolve(spec), seed=7, threads=1)
    assert isinstance(model, EarlyStoppingClassifier)
    assert (model.rounds, model.random_state, model.estimator.random_state) == (4, 7, 7)
    with pytest.raises(ValueError, match="has both 'search' and 'early_stopping'"):
        ModelSpec.model_validate(
            {"model": "xgboost", "search": {"params": {"max_depth": [1]}}, "early_stopping": {}}
        )
