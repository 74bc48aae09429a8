import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

from boostnoise import RobustLGBMClassifier, RobustXGBClassifier
from boostnoise.boosting import passes
from boostnoise.label_noise.judges import judge_labels

MODELS = {
    "xgboost": RobustXGBClassifier(n_jobs=1, random_state=0),
    "lightgbm": RobustLGBMClassifier(n_jobs=1, random_state=0, verbose=-1),
}
SMALL = {"n_estimators": 5, "learning_rate": 0.3}


@pytest.fixture(params=MODELS)
def model(request):
    return clone(MODELS[request.param])


def make_rows(n=1_500, rates=(0.1, 0.4), seed=0):
    """Features, noisy labels and clean labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    return X, y ^ (rng.random(n) < np.array(rates)[y]), y


def test_two_passes_hold_up_where_classes_differ_in_noise(model):
    X, given, y = make_rows()
    seen, unseen = slice(0, 500), slice(500, None)
    two = clone(model).fit(X[seen], given[seen])
    one = clone(model).set_params(passes=1).fit(X[seen], given[seen])
    assert (two.passes_, one.passes_) == (2, 1)
    assert two.score(X[unseen], y[unseen]) > one.score(X[unseen], y[unseen]) + 0.05
    losses = [log_loss(y[unseen], fitted.predict_proba(X[unseen])) for fitted in (two, one)]
    assert losses[0] < losses[1] - 0.1
    np.testing.assert_allclose(two.transition_matrix_, [[0.9, 0.1], [0.4, 0.6]], atol=0.15)


def test_the_second_pass_is_trained_on_the_judges_soft_labels(model):
    X, given, _ = make_rows(300)
    judged = judge_labels(X, given, random_state=0)
    fitted = clone(model).set_params(**SMALL).fit(X, given)
    np.testing.assert_array_equal(fitted.transition_matrix_, judged.transition_matrix)
    again = clone(model).set_params(**fitted.chosen_params_, **SMALL, passes=1).fit(X, judged.soft_labels())
    np.testing.assert_allclose(again.predict_proba(X), fitted.predict_proba(X), atol=1e-6)


def test_a_fitted_model_can_be_pickled_and_fitted_again(model):
    X, given, _ = make_rows(300)
    fitted = clone(model).set_params(**SMALL).fit(X, given)
    copied = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copied.predict_proba(X), fitted.predict_proba(X))
    assert copied.chosen_params_ == fitted.chosen_params_
    fitted.set_params(passes=1).fit(X, given)
    assert fitted.passes_ == 1
    assert not {"transition_matrix_", "cv_results_"} & set(vars(fitted))


def test_features_without_information_leave_one_pass(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(2, size=200)
    fitted = model.fit(X, y)
    assert fitted.passes_ == 1
    assert not hasattr(fitted, "transition_matrix_")
    # The structure is chosen as for two passes, so that the booster does not learn the noise by heart.
    assert fitted.chosen_params_["subsample"] == 0.7
    assert fitted.score(X, y) < 0.99


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"loss": "gce"}, 1),
        ({"hessian": "unit"}, 1),
        ({"hessian": "irls"}, 2),
        ({"loss": "gce", "passes": 2}, 2),
        ({"loss": "forward", "loss_params": {"T": [[0.9, 0.1], [0.4, 0.6]]}}, 1),
    ],
)
def test_losses_that_deal_with_noise_take_one_pass(model, parameters, expected):
    X, given, y = make_rows(600)
    fitted = model.set_params(**SMALL, **parameters).fit(X, given)
    assert fitted.passes_ == expected
    assert fitted.score(X, y) > (0.7 if expected == 2 else 0.45)


def starts(model, X, y):
    """Arguments of `fit` with which training starts from margins or a model."""
    first = clone(model).set_params(**SMALL, passes=1).fit(X, y)
    if isinstance(model, RobustXGBClassifier):
        return {"base_margin": np.zeros(y.size), "xgb_model": first.get_booster()}
    return {"init_score": np.zeros(y.size), "init_model": first.booster_}


def test_what_forbids_a_first_pass(model, monkeypatch):
    X, given, _ = make_rows(300)
    arguments = [({name: value}, name) for name, value in starts(model, X, given).items()]
    arguments.append(({"sample_weight": 1.0 - given}, "weights that are zero for all rows of a class"))
    monkeypatch.setattr(passes, "judge_labels", None)
    model.set_params(**SMALL)
    for argument, message in arguments:
        assert clone(model).fit(X, given, **argument).passes_ == 1
        with pytest.raises(ValueError, match=f"passes=2 cannot be combined with {message}"):
            clone(model).set_params(passes=2).fit(X, given, **argument)
    assert clone(model).fit(X, np.eye(2)[given]).passes_ == 1
    with pytest.raises(ValueError, match="passes=2 cannot be combined with soft labels"):
        clone(model).set_params(passes=2).fit(X, np.eye(2)[given])
    auto = {"loss": "gce", "loss_params": {"q": "auto"}, "passes": 2}
    with pytest.raises(ValueError, match="passes=2 cannot be combined with a loss parameter that is 'auto'"):
        clone(model).set_params(**auto).fit(X, given)


def test_class_weights_apply_to_the_clean_classes(model):
    X, given, _ = make_rows(600)
    model.set_params(**SMALL)
    plain = clone(model).fit(X, given).predict_proba(X)[:, 1].mean()
    weighted = clone(model).set_params(class_weight={0: 1.0, 1: 4.0}).fit(X, given)
    positive = clone(model).set_params(scale_pos_weight=4.0).fit(X, given)
    np.testing.assert_allclose(positive.predict_proba(X), weighted.predict_proba(X), atol=1e-6)
    assert weighted.predict_proba(X)[:, 1].mean() > plain + 0.1


def test_few_rows_and_rare_classes(model):
    X, y = load_iris(return_X_y=True)
    rows = np.r_[:12, 50:61, 100:106, 149]  # 30 rows
    fitted = clone(model).fit(X[rows], y[rows])
    assert fitted.predict_proba(X).shape == (150, 3)
    labels = np.append(np.array(["a", "b", "c"])[y[rows]], "alone")
    fitted = clone(model).fit(np.append(X[rows], [[9.0, 9, 9, 9]], axis=0), labels)
    assert list(fitted.classes_) == ["a", "alone", "b", "c"]
    for few in ([0, 60, 120], [0, 1, 60, 61]):
        assert clone(model).fit(X[few], y[few]).predict_proba(X[few]).shape == (len(few), len({*y[few]}))


def test_groups_reach_the_judges_and_the_folds(model, monkeypatch):
    X, given, _ = make_rows(300)
    groups, received = np.arange(300) // 3, []

    def record(X, codes, weight, groups, **options):
        received.append(groups)
        return judge_labels(X, codes, weight, groups, **options)

    monkeypatch.setattr(passes, "judge_labels", record)
    fitted = model.set_params(learning_rate=0.3, cv=2).fit(X, given, groups=groups)
    assert received[0] is groups
    assert fitted.passes_ == 2
    with pytest.raises(ValueError, match="groups contains 1 missing values"):
        model.fit(X, given, groups=np.where(np.arange(300) == 5, np.nan, groups))
