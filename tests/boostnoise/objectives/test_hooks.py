import pickle
from dataclasses import dataclass
from functools import partial

import lightgbm
import numpy as np
import pytest
import xgboost
from scipy.special import expit, softmax
from sklearn.datasets import load_breast_cancer, load_digits

from boostnoise import (
    CrossEntropy,
    GeneralizedCrossEntropy,
    Loss,
    LossMetric,
    lightgbm_objective,
    xgboost_objective,
)
from boostnoise.losses.curvature import STRATEGIES
from boostnoise.objectives.hooks import LightGBMObjective, XGBoostObjective

MAKERS = {"xgboost": xgboost_objective, "lightgbm": lightgbm_objective}
DATA = {"binary": load_breast_cancer, "4 classes": partial(load_digits, n_class=4)}


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


@pytest.fixture(params=DATA)
def data(request):
    X, y = DATA[request.param](return_X_y=True)
    return X, y, int(y.max()) + 1


@pytest.fixture(params=["weighted", "unweighted"])
def weight(request, data):
    return np.random.default_rng(0).random(len(data[1])) + 0.1 if request.param == "weighted" else None


def xgboost_params(n_classes):
    # With several threads, XGBoost's sums depend on timing, and so do its trees where gains tie.
    params = {"objective": "binary:logistic", "nthread": 1}
    return params if n_classes == 2 else params | {"objective": "multi:softprob", "num_class": n_classes}


def lightgbm_params(n_classes):
    params = {"objective": "binary", "num_threads": 1, "verbose": -1}
    return params if n_classes == 2 else params | {"objective": "multiclass", "num_class": n_classes}


def test_with_cross_entropy_it_equals_xgboost(data, weight):
    X, y, n_classes = data
    rows, objective = xgboost.DMatrix(X, y, weight=weight), xgboost_objective("ce", n_classes=n_classes)
    expected = xgboost.train(xgboost_params(n_classes), rows, 20).predict(rows)
    params = xgboost_params(n_classes) | {"base_score": objective.base_score(y, weight)}
    natively = xgboost.train(params, rows, 20, obj=objective).predict(rows)
    np.testing.assert_allclose(natively, expected, atol=1e-5)
    model = xgboost.XGBClassifier(
        objective=objective, base_score=params["base_score"], n_estimators=20, n_jobs=1
    )
    found = model.fit(X, y, sample_weight=weight).predict_proba(X)
    np.testing.assert_allclose(found if n_classes > 2 else found[:, 1], expected, atol=1e-5)


class DeviceArray:
    """An array that NumPy cannot convert implicitly, such as CuPy's."""

    def __init__(self, array):
        self._array = np.asarray(array)
        self.__cuda_array_interface__ = {"shape": self._array.shape}

    def __len__(self):
        return len(self._array)

    def __array__(self, *args, **kwargs):
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def get(self):
        return self._array


class DeviceMatrix:
    """A data set whose labels and weights are on a GPU."""

    def __init__(self, y, weight):
        self.get_label, self.get_weight = lambda: DeviceArray(y), lambda: DeviceArray(weight)


def test_labels_and_weights_may_be_on_a_gpu(data, weight):
    _, y, n_classes = data
    margin = np.random.default_rng(0).normal(size=(len(y), n_classes)).astype(np.float32)
    margin = margin[:, 0] if n_classes == 2 else margin
    objective = xgboost_objective("gce")
    metric = LossMetric("xgboost", loss=objective.loss)
    expected = objective(y, margin, weight)
    weights = [] if weight is None else weight
    np.testing.assert_array_equal(objective(margin, DeviceMatrix(y, weights)), expected)
    np.testing.assert_array_equal(objective(DeviceArray(y), DeviceArray(margin), weight), expected)
    assert metric(margin, DeviceMatrix(y, weights))[1] == metric(y, margin, weight)


def test_with_cross_entropy_it_equals_lightgbm(data, weight):
    X, y, n_classes = data
    objective = lightgbm_objective("ce", n_classes=n_classes)
    expected = lightgbm.train(lightgbm_params(n_classes), lightgbm.Dataset(X, y, weight=weight), 20).predict(X)
    start = objective.init_score(y, weight)
    rows = lightgbm.Dataset(X, y, weight=weight, init_score=start)
    booster = lightgbm.train(lightgbm_params(n_classes) | {"objective": objective}, rows, 20)
    model = lightgbm.LGBMClassifier(objective=objective, n_estimators=20, n_jobs=1, verbose=-1)
    model.fit(X, y, sample_weight=weight, init_score=start)
    for margin in (booster.predict(X, raw_score=True) + start, model.predict(X, raw_score=True) + start):
        found = expit(margin) if n_classes == 2 else softmax(margin, axis=1)
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_intercept_with_an_empty_class():
    y = np.array([0, 1, 1, 0])
    assert np.shape(xgboost_objective("ce", n_classes=3).base_score(y)) == (3,)
    np.testing.assert_allclose(
        np.exp(lightgbm_objective("ce", n_classes=3).init_score(y)), [[0.5, 0.5, 1e-15]] * 4
    )


def test_all_interfaces_agree(make, data, weight, monkeypatch):
    """With several blocks of rows, the last one shorter."""
    monkeypatch.setattr("boostnoise.objectives.hooks.BLOCK_BYTES", {1: 4 * 100, 2: 4 * 4 * 100})
    X, y, n_classes = data
    weight = None if weight is None else weight.astype(np.float32)
    margin = np.random.default_rng(0).normal(size=len(y) if n_classes == 2 else (len(y), n_classes))
    margin = margin.astype(np.float32)
    objective = make("gce", q=0.5)
    library = xgboost if isinstance(objective, XGBoostObjective) else lightgbm
    rows = (xgboost.DMatrix if library is xgboost else lightgbm.Dataset)(X, y, weight=weight)
    if library is lightgbm:
        rows.construct()
    native = objective(margin, rows)
    expected = objective.loss.gradient_hessian(y, margin.astype(float))
    factor = 1 if n_classes == 2 else (2 if library is xgboost else n_classes / (n_classes - 1))
    for found, of_rows in zip(native, (expected[0], factor * expected[1]), strict=True):
        by_row = np.ones(len(y)) if weight is None else weight
        np.testing.assert_allclose(found, of_rows * (by_row if n_classes == 2 else by_row[:, None]), rtol=1e-6)
        assert (found.dtype, found.shape) == (np.float32, margin.shape)
    order = "C" if library is xgboost else "F"
    flat = objective(margin.ravel(order=order), rows)
    named = {} if weight is None else {"sample_weight": weight}
    for from_sklearn in (objective(y.astype(np.float32), margin, **named), objective(y, margin, weight)):
        for one, other, flattened in zip(from_sklearn, native, flat, strict=True):
            np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(flattened, other.ravel(order=order))


@pytest.mark.parametrize("strategy", ["irls", "logistic", "fisher", "exact_clipped", "abs", "unit"])
def test_strategies_and_the_factor_of_the_softmax(make, strategy):
    """The factor of the library applies to all strategies except "unit", which is 1 in both."""
    rng = np.random.default_rng(0)
    margin, y, loss = rng.normal(size=(6, 3)), np.array([0, 1, 2, 0, 1, 2]), GeneralizedCrossEntropy(0.5)
    _, hessian = make(loss, strategy)(y, margin)
    factor = 1 if strategy == "unit" else 2 if make is xgboost_objective else 1.5
    np.testing.assert_allclose(hessian, factor * loss.hessian(y, margin, strategy), rtol=1e-6)


def test_every_loss_makes_an_objective(make, every_loss):
    loss, n_classes = every_loss
    y, margin = np.arange(4) % n_classes, np.array([-1.0, 0.5, -2.0, 30.0])
    if n_classes > 2:
        margin = np.outer(margin, [0, 1, -1])
    gradient, hessian = make(loss)(y, margin)
    np.testing.assert_allclose(gradient, loss.gradient(y, margin), rtol=1e-6, atol=1e-38)
    assert (hessian > 0).all()


def test_pickle_and_repr(make):
    objective = make("gce", "logistic", n_classes=3, q=0.5)
    copy = pickle.loads(pickle.dumps(objective))
    assert copy == objective
    name = "XGBoostObjective" if make is xgboost_objective else "LightGBMObjective"
    loss = "GeneralizedCrossEntropy(q=0.5)"
    assert repr(objective) == f"{name}({loss}, hessian='logistic', n_classes=3)"
    assert repr(make("gce", q=0.5)) == f"{name}({loss})"


def test_weight_of_the_positive_class(make):
    y, margin = np.array([0.0, 1.0]), np.zeros(2)
    gradient, hessian = make("ce", scale_pos_weight=3)(y, margin, np.array([1.0, 2.0]))
    assert gradient.tolist() == [0.5, -3]
    assert hessian.tolist() == [0.25, 1.5]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"loss": "gcee"}, ValueError, "loss 'gcee' is unknown.* ce, mae"),
        ({"loss": "gce", "hessian": "newton"}, ValueError, "hessian strategy 'newton' is unknown.*irls"),
        ({"loss": "savage", "n_classes": 3}, ValueError, "SavageLoss is for two classes, got 3"),
        ({"loss": "ce", "n_classes": 1}, ValueError, "n_classes must be an integer of at least 2 or None, got 1"),
        ({"loss": "ce", "n_classes": 3, "scale_pos_weight": 2}, ValueError, "scale_pos_weight is for two classes"),
        ({"loss": "ce", "scale_pos_weight": 0}, ValueError, r"scale_pos_weight of .* must be in \(0, inf\), got 0"),
    ],
)  # fmt: skip
def test_bad_arguments(make, arguments, error, message):
    with pytest.raises(error, match=message):
        make(**arguments)


@pytest.mark.parametrize("cls", [XGBoostObjective, LightGBMObjective])
def test_the_loss_must_be_a_loss(cls):
    with pytest.raises(TypeError, match="loss must be a Loss, got 'gce'"):
        cls("gce")


@pytest.mark.parametrize(
    ("objective", "labels", "margin_shape", "message"),
    [
        ({"loss": "ce"}, [0, 2], (2,), "y must contain class numbers 0 to 1, got 0 to 2"),
        ({"loss": "ce"}, [0.5, 1], (2,), r"labels must be class numbers, integers from 0 to 1, got \[0.5\]"),
        ({"loss": "ce"}, [np.nan, 1], (2,), r"labels must be class numbers, integers from 0 to 1, got \[nan\]"),
        ({"loss": "ce"}, [0, 1, 1], (2,), r"labels must have shape \(2,\)"),
        ({"loss": "ce"}, [0, 1], (2, 1), r"margins must have shape \(n,\) for two classes, else \(n, K\)"),
        ({"loss": "savage"}, [0, 1], (2, 3), "SavageLoss is for two classes, got 3"),
        ({"loss": "ce", "n_classes": 2}, [0, 1], (2, 3), "n_classes of the objective is 2, but the margins have 3"),
        ({"loss": "ce", "scale_pos_weight": 5}, [0, 1], (2, 3), "scale_pos_weight is for two classes, got n_classes=3"),
    ],
)  # fmt: skip
def test_bad_labels(make, objective, labels, margin_shape, message):
    with pytest.raises(ValueError, match=message):
        make(**objective)(np.array(labels), np.zeros(margin_shape))


def test_bad_labels_stop_both_libraries_at_the_first_round():
    X, y = load_breast_cancer(return_X_y=True)
    message = "y must contain class numbers 0 to 1, got 1 to 2"
    with pytest.raises(ValueError, match=message):
        xgboost.train(xgboost_params(2), xgboost.DMatrix(X, y + 1), obj=xgboost_objective("gce"))
    params = lightgbm_params(2) | {"objective": lightgbm_objective("gce")}
    with pytest.raises(ValueError, match=message):
        lightgbm.train(params, lightgbm.Dataset(X, y + 1))
    with pytest.raises(ValueError, match="the data set has no labels"):
        xgboost.train(xgboost_params(2), xgboost.DMatrix(X), obj=xgboost_objective("gce"))


NUMBERS = "y must contain class numbers, integers from 0"


@pytest.mark.parametrize(
    ("y", "weight", "n_classes", "message"),
    [
        ([], None, None, r"y must have shape \(n,\) or \(n, K\) and not be empty, got shape \(0,\)"),
        ([[[0, 1]]], None, None, r"y must have shape \(n,\) or \(n, K\)"),
        ([[0.5, 1.5]], None, None, r"soft labels must be probabilities in \[0, 1\] of 2 classes"),
        (
            [[0.5, 0.5]],
            None,
            3,
            r"soft labels must be probabilities in \[0, 1\] of 3 classes, got shape \(1, 2\)",
        ),
        ([[0.5, 0.5]], [0], None, "sample_weight is zero for all rows"),
        ([0.5, 1], None, None, NUMBERS),
        ([1, 2, 3], None, None, rf"{NUMBERS} without gaps, got \[1, 2, 3\]"),
        ([0, 2, 2], None, None, r"without gaps, got \[0, 2\]; .* n_classes"),
        ([0, 1, np.nan], None, None, rf"{NUMBERS} without gaps, got \[0.0, 1.0, nan\]"),
        ([0, 1, np.nan], None, 2, r"labels must be class numbers, integers from 0 to 1, got \[nan\]"),
        (["a", "b"], None, None, rf"{NUMBERS}, got \['a', 'b'\]"),
        ([0, 1, None], None, None, NUMBERS),
        ([1, 1], None, None, "y must contain at least two classes, got one class, 1"),
        ([0, 0], None, 3, "y must contain at least two classes, got one class, 0"),
        ([0, 1], [1, 1, 1], None, r"sample_weight must have shape \(2,\), got \(3,\)"),
        ([0, 1], [0, 0], None, "sample_weight is zero for all rows"),
        ([0, 1], [1e-46, 1e-46], None, r"sample_weight must sum to at least 1e-06 and .*, got 2e-46"),
    ],
)
def test_bad_data_give_no_intercept(make, y, weight, n_classes, message):
    objective = make("ce", n_classes=n_classes)
    start = objective.base_score if isinstance(objective, XGBoostObjective) else objective.init_score
    with pytest.raises(ValueError, match=message):
        start(y, weight)


def test_bad_weights_are_rejected(make):
    with pytest.raises(ValueError, match=r"sample_weight must be finite and not negative, got \[-1.0\]"):
        make("ce")(np.array([0, 1]), np.zeros(2), np.array([1.0, -1.0]))


def test_weights_may_be_zero_or_of_half_precision(make):
    # A worker of a cluster calls the objective on its own rows, whose weights may all be 0.
    gradient, hessian = make("ce")(np.array([0, 1]), np.zeros(2), np.zeros(2))
    assert not gradient.any()
    assert not hessian.any()
    weight = np.full(100, 60_000)
    expected = make("ce")(np.arange(100) % 2, np.zeros(100), weight)
    np.testing.assert_array_equal(
        make("ce")(np.arange(100) % 2, np.zeros(100), weight.astype(np.float16)), expected
    )


def test_a_data_set_of_the_other_library_is_rejected():
    X, y = load_breast_cancer(return_X_y=True)
    message = "must be of lightgbm, got a QuantileDMatrix of xgboost; use xgboost_objective"
    with pytest.raises(TypeError, match=message):
        xgboost.train(xgboost_params(2), xgboost.QuantileDMatrix(X, y), obj=lightgbm_objective("gce"))
    params = lightgbm_params(2) | {"objective": xgboost_objective("gce")}
    message = "must be of xgboost, got a Dataset of lightgbm; use lightgbm_objective"
    with pytest.raises(TypeError, match=message):
        lightgbm.train(params, lightgbm.Dataset(X, y))


@dataclass(frozen=True)
class Broken(CrossEntropy):
    """NaN for margins beyond 1."""

    of: str = "gradient"

    def gradient_hessian(self, y, margin, strategy=None):
        found = dict(zip(("gradient", "hessian"), super().gradient_hessian(y, margin, strategy), strict=True))
        found[self.of] = np.where(np.abs(np.asarray(margin)) > 1, np.nan, found[self.of])
        return found["gradient"], found["hessian"]


@pytest.mark.parametrize("of", ["gradient", "hessian"])
def test_a_loss_that_yields_nan_stops_both_libraries(of):
    """Without the check of the hook, both would continue and predict NaN."""
    X, y = load_breast_cancer(return_X_y=True)
    message = rf"the {of} of Broken\(of='{of}'\) is not finite"
    with pytest.raises(FloatingPointError, match=message):
        xgboost.train(xgboost_params(2), xgboost.DMatrix(X, y), 50, obj=xgboost_objective(Broken(of)))
    with pytest.raises(FloatingPointError, match=message):
        xgboost.XGBClassifier(objective=xgboost_objective(Broken(of)), n_estimators=50, n_jobs=1).fit(X, y)
    objective = lightgbm_objective(Broken(of))
    with pytest.raises(FloatingPointError, match=message):
        lightgbm.train(lightgbm_params(2) | {"objective": objective}, lightgbm.Dataset(X, y), 50)
    with pytest.raises(FloatingPointError, match=message):
        lightgbm.LGBMClassifier(objective=objective, n_estimators=50, n_jobs=1, verbose=-1).fit(X, y)


def test_a_custom_loss_receives_arrays(make):
    class Hinge(Loss):
        def value(self, y, margin):
            return np.maximum(0, 1 - (2 * y - 1) * margin)

        def gradient(self, y, margin):
            assert type(margin) is np.ndarray
            return np.where((2 * y - 1) * margin < 1, 1.0 - 2 * y, 0)

        def exact_hessian(self, y, margin):
            return np.zeros_like(margin)

    gradient, _ = make(Hinge(), "unit")(np.array([0, 1]), np.zeros(2, dtype=np.float32))
    assert gradient.tolist() == [1, -1]


class Wrong(Loss):
    """With derivatives that are given."""

    def __init__(self, gradient, hessian):
        self.derivatives = gradient, hessian

    def value(self, y, margin):
        raise NotImplementedError

    def gradient(self, y, margin):
        return self.derivatives[0]

    def exact_hessian(self, y, margin):
        return self.derivatives[1]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("found", "message"),
    [(np.zeros(3), r"shape \(3,\)"), (0.5, "0.5"), (None, "None")],
)
def test_derivatives_of_a_wrong_shape(make, strategy, found, message):
    """They are rejected before a strategy computes with them and before NumPy broadcasts them."""
    y, margin = np.array([0, 1, 2, 1]), np.ones((4, 3))
    with pytest.raises(ValueError, match=rf"gradient of .*Wrong.* of shape \(4, 3\), .* got {message}"):
        make(Wrong(found, margin), strategy)(y, margin)
    if strategy in ("irls", "exact_clipped", "abs"):
        with pytest.raises(ValueError, match=rf"exact_hessian of .* of shape \(4, 3\), .* got {message}"):
            make(Wrong(margin, found), strategy)(y, margin)
