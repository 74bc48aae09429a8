import copy

import lightgbm
import numpy as np
import pytest
import xgboost

from boostnoise import lightgbm_objective, xgboost_objective
from boostnoise.losses.curvature import STRATEGIES
from boostnoise.objectives.soft_labels import SoftLabelObjective

MAKERS = {"xgboost": xgboost_objective, "lightgbm": lightgbm_objective}
STEP = 1e-6


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def draw(n_classes, n=40):
    """Margins in double precision, and soft labels."""
    rng = np.random.default_rng(0)
    margin = rng.normal(scale=2, size=(n, n_classes) if n_classes > 2 else n)
    return margin, rng.dirichlet(np.ones(n_classes), n)


def expected_value(loss, p, margin):
    """Expected loss of each row."""
    rows = len(margin)
    return sum(p[:, label] * loss.value(np.full(rows, label), margin) for label in range(p.shape[1]))


def test_the_gradient_is_the_derivative_of_the_expected_loss(every_loss):
    loss, n_classes = every_loss
    margin, p = draw(n_classes)
    gradient, hessian = loss.expected_gradient_hessian(p, margin)
    assert gradient.shape == hessian.shape == margin.shape
    assert (hessian >= 0).all()
    for k in range(n_classes if margin.ndim == 2 else 1):
        step = np.zeros_like(margin)
        step[..., k if margin.ndim == 2 else slice(None)] = STEP
        difference = expected_value(loss, p, margin + step) - expected_value(loss, p, margin - step)
        found = gradient[:, k] if margin.ndim == 2 else gradient
        np.testing.assert_allclose(found, difference / (2 * STEP), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_cross_entropy_has_its_own_second_derivative(n_classes):
    loss = xgboost_objective("ce").loss
    margin, p = draw(n_classes)
    for k in range(n_classes if margin.ndim == 2 else 1):
        step = np.zeros_like(margin)
        step[..., k if margin.ndim == 2 else slice(None)] = STEP
        up, down = (loss.expected_gradient_hessian(p, margin + sign * step)[0] for sign in (1, -1))
        slope = (up - down) / (2 * STEP)
        hessian = loss.expected_gradient_hessian(p, margin)[1]
        index = (slice(None), k) if margin.ndim == 2 else slice(None)
        np.testing.assert_allclose(hessian[index], slope[index], atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("loss", ["ce", "gce"])
def test_it_is_the_mean_over_the_labels(make, loss, strategy, n_classes):
    objective = make(loss, strategy, scale_pos_weight=3.0 if n_classes == 2 else 1.0)
    margin, p = draw(n_classes)
    weight = np.random.default_rng(1).random(len(p))
    found = objective(p, margin, weight)
    for i in range(2):
        by_label = [objective(np.full(len(p), label), margin, weight)[i] for label in range(n_classes)]
        shares = p.T if n_classes == 2 else p.T[:, :, np.newaxis]
        np.testing.assert_allclose(found[i], (shares * by_label).sum(axis=0), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_certain_labels_equal_class_numbers(make, n_classes):
    objective = make("gce")
    margin, _ = draw(n_classes)
    y = np.arange(len(margin)) % n_classes
    for soft, hard in zip(objective(np.eye(n_classes)[y], margin), objective(y, margin), strict=True):
        np.testing.assert_allclose(soft, hard, rtol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_intercepts_equal_those_of_weighted_copies(n_classes, weighted):
    _, p = draw(n_classes)
    weight = np.random.default_rng(1).random(len(p)) + 0.5 if weighted else None
    copies = (p if weight is None else p * weight[:, np.newaxis]).ravel()
    y = np.tile(np.arange(n_classes), len(p))
    base = [xgboost_objective("gce").base_score(*labels) for labels in ((p, weight), (y, copies))]
    np.testing.assert_allclose(*base, rtol=1e-4)
    start = [lightgbm_objective("gce").init_score(*labels)[0] for labels in ((p, weight), (y, copies))]
    np.testing.assert_allclose(*start, rtol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosters_learn_soft_labels(n_classes):
    X = np.repeat(np.arange(3.0), 50)[:, np.newaxis]
    p = np.random.default_rng(0).dirichlet(np.ones(n_classes), 3)
    soft, y = np.repeat(p, 50, axis=0), np.arange(150) % n_classes
    objective = SoftLabelObjective(xgboost_objective("ce"), soft)
    model = xgboost.XGBClassifier(objective=objective, n_estimators=300, n_jobs=1, reg_lambda=0)
    np.testing.assert_allclose(model.fit(X, y).predict_proba([[0], [1], [2]]), p, atol=0.01)
    objective = SoftLabelObjective(lightgbm_objective("ce"), soft)
    model = lightgbm.LGBMClassifier(objective=objective, n_jobs=1, verbose=-1)
    margin = model.fit(X, y).predict(np.arange(3.0)[:, np.newaxis], raw_score=True)
    if n_classes == 2:
        margin = np.column_stack([np.zeros(3), margin])
    found = np.exp(margin)
    np.testing.assert_allclose(found / found.sum(axis=1, keepdims=True), p, atol=0.03)


def test_copies_of_parameters_share_the_probabilities():
    objective = SoftLabelObjective(lightgbm_objective("ce"), np.eye(2))
    assert copy.deepcopy({"objective": objective})["objective"] is objective


@pytest.mark.parametrize(
    ("p", "message"),
    [
        (np.full((40, 4), 0.25), r"labels must have shape \(40,\), or \(40, 3\) for probabilities"),
        (np.full((40, 3), 1.5), r"probabilities in \[0, 1\] of 3 classes, got shape \(40, 3\)"),
        (np.full((40, 3), np.nan), r"probabilities in \[0, 1\]"),
    ],
)
def test_bad_probabilities(make, p, message):
    margin, _ = draw(3)
    with pytest.raises(ValueError, match=message):
        make("ce")(p, margin)
