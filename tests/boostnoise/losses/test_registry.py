"""All losses against their formulas with 200 digits, and properties common to all losses."""

import pickle
from dataclasses import fields

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy import stats

import boostnoise
from boostnoise import get_loss
from boostnoise.losses import LOSSES, Loss, probabilities
from boostnoise.losses.curvature import STRATEGIES
from boostnoise.losses.softmax import softmax_of

T2 = [[0.8, 0.2], [0.3, 0.7]]
T3 = [[0.7, 0.2, 0.1], [0.25, 0.6, 0.15], [0.05, 0.15, 0.8]]
PARAMETERS = [
    ("ce", {}),
    ("mae", {}),
    ("mse", {}),
    *[("gce", {"q": q}) for q in (0, 1e-3, 0.3, 0.7, 1)],
    ("sce", {}),
    ("sce", {"alpha": 2.0, "beta": 0.0}),
    *[("focal", {"r": r}) for r in (0, 0.4, 1, 2.0)],
    *[("rfl", {"r": r, "q": q}) for r, q in ((0, 0.5), (0.5, 0.5), (1, 0.3), (3, 1), (0.5, 0))],
    ("label_smoothing", {"eps": 0.2}),
    ("bootstrap", {"beta": 0.7}),
    ("bootstrap", {"beta": 0.7, "hard": True}),
    ("nce_mae", {"alpha": 1.0, "beta": 0.5}),
    ("nce_rce", {"alpha": 2.0, "beta": 0.0}),
    ("nce_rce", {}),
]
FOR_ANY_NUMBER_OF_CLASSES = [get_loss(name, **params) for name, params in PARAMETERS]
OF_MARGINS = [
    get_loss(name, **params)
    for name, params in [
        ("ramp", {}), ("savage", {}), ("tangent", {}), ("negative_exponential", {}),
        ("negative_exponential", {"mu": 0.3}),
    ]
]  # fmt: skip
FROM_DISTRIBUTIONS = [get_loss("distribution", dist=dist) for dist in (stats.norm(0.3, 2), stats.t(3))]
BINARY = [
    *FOR_ANY_NUMBER_OF_CLASSES,
    *OF_MARGINS,
    get_loss("forward", T=T2),
    get_loss("backward", T=T2),
]
SOFTMAX = [*FOR_ANY_NUMBER_OF_CLASSES, get_loss("forward", T=T3), get_loss("backward", T=T3)]
# Without 0, where hard bootstrap has its kink.
MARGINS = np.concatenate([np.linspace(-40, 40, 26), [-1e-9, 1e-9, -0.731, 0.419, 1.337]])
MARGINS.setflags(write=False)
EPSILON = np.finfo(float).eps


def formula(loss, t, f):
    """The loss of a row with label t and margins f, by its formula in the literature."""
    powers = [mpmath.exp(margin) for margin in f]
    p = [power / mpmath.fsum(powers) for power in powers]
    ce = [-mpmath.log(probability) for probability in p]
    rest = mpmath.fsum(p) - p[t]
    v = (f[1] - f[0]) * (1 if t == 1 else -1)
    of = {field.name: getattr(loss, field.name) for field in fields(loss)}

    def gce(q):
        return ce[t] if q == 0 else (1 - p[t] ** q) / q

    match type(loss).__name__:
        case "CrossEntropy":
            return ce[t]
        case "MeanAbsoluteError":
            return mpmath.fsum(abs(p[k] - (k == t)) for k in range(len(p)))
        case "BrierScore":
            return mpmath.fsum((p[k] - (k == t)) ** 2 for k in range(len(p)))
        case "GeneralizedCrossEntropy":
            return gce(mpf(of["q"]))
        case "SymmetricCrossEntropy":
            return of["alpha"] * ce[t] - of["beta"] * of["A"] * rest
        case "FocalLoss":
            return rest ** mpf(of["r"]) * ce[t]
        case "RobustFocalLoss":
            return rest ** mpf(of["r"]) * gce(mpf(of["q"]))
        case "LabelSmoothing":
            eps = mpf(of["eps"])
            return mpmath.fsum(((1 - eps) * (k == t) + eps / len(p)) * ce[k] for k in range(len(p)))
        case "Bootstrap":
            top = p.index(max(p))
            own = [mpf(k == top) for k in range(len(p))] if of["hard"] else p
            beta = mpf(of["beta"])
            return mpmath.fsum((beta * (k == t) + (1 - beta) * own[k]) * ce[k] for k in range(len(p)))
        case "NormalizedCrossEntropyMAE":
            return of["alpha"] * ce[t] / mpmath.fsum(ce) + of["beta"] * 2 * rest
        case "NormalizedCrossEntropyRCE":
            return of["alpha"] * ce[t] / mpmath.fsum(ce) - of["beta"] * of["A"] * rest
        case "RampLoss":
            return min(mpf(1), max(mpf(0), (1 - v) / 2))
        case "SavageLoss":
            return 1 / (1 + mpmath.exp(2 * v)) ** 2
        case "TangentLoss":
            return (2 * mpmath.atan(v) - 1) ** 2
        case "NegativeExponential":
            return min(mpf(1), mpmath.exp(-v - of["mu"]))
        case "ForwardCorrection":
            return -mpmath.log(mpmath.fsum(p[i] * of["T"][i][t] for i in range(len(p))))
        case "BackwardCorrection":
            # As doubles, the rows sum to 1 only up to rounding.
            rows = [[mpf(x) / mpmath.fsum(row) for x in row] for row in of["T"]]
            inverse = mpmath.matrix(rows) ** -1
            return mpmath.fsum(inverse[t, k] * ce[k] for k in range(len(p)))


def exact(loss, t, f, k):
    """The loss of a row, and its first two derivatives by the k-th margin."""
    with mpmath.workdps(200):
        h = mpf("1e-40")

        def at(shift):
            return formula(loss, t, [mpf(float(margin)) + shift * h * (j == k) for j, margin in enumerate(f)])

        below, here, above = at(-1), at(0), at(1)
        second = mpmath.chop((above - 2 * here + below) / h**2, 1e-100)
        return float(here), float((above - below) / (2 * h)), float(second)


def assert_close(found, expected, method, y, margin, k=None):
    """Equal to 11 digits, or up to the effect of a change in the last digit of the margins."""
    changes = 0.0
    for shift in np.eye(margin.shape[1]) if margin.ndim == 2 else [np.array(1.0)]:
        change = (method(y, margin + 1e-5 * shift) - method(y, margin - 1e-5 * shift)) / 2e-5
        changes = changes + np.abs(change if k is None or change.ndim == 1 else change[:, k])
    size = np.abs(margin) if margin.ndim == 1 else np.abs(margin).max(axis=1)
    tolerance = 1e-11 * np.abs(expected) + 8 * EPSILON * (1 + size) * changes
    assert (np.abs(found - expected) <= tolerance).all(), (found, expected)


def names(losses):
    return pytest.mark.parametrize("loss", losses, ids=str)


@names(BINARY)
@pytest.mark.parametrize("label", [0, 1])
def test_derivatives_for_two_classes_agree_with_the_formula(loss, label):
    y = np.full(MARGINS.size, label)
    of_all = np.array([exact(loss, label, [0.0, f], 1) for f in MARGINS]).T
    for method, expected in zip((loss.value, loss.gradient, loss.exact_hessian), of_all, strict=True):
        assert_close(method(y, MARGINS), expected, method, y, MARGINS)


@names(SOFTMAX)
def test_derivatives_for_several_classes_agree_with_the_formula(loss):
    rng = np.random.default_rng(0)
    margin = rng.normal(size=(15, 3)) * rng.choice([0.1, 1, 10, 40], (15, 1))
    margin[:3] = [[40, 0, 0], [0, 40, 0], [0, 0, 40]]  # ties among the others
    y = rng.integers(0, 3, 15)
    for k in range(3):
        value, *derivatives = np.array([exact(loss, t, f, k) for t, f in zip(y, margin, strict=True)]).T
        assert_close(loss.value(y, margin), value, loss.value, y, margin)
        for method, expected in zip((loss.gradient, loss.exact_hessian), derivatives, strict=True):
            assert_close(method(y, margin)[:, k], expected, method, y, margin, k)


@names(FROM_DISTRIBUTIONS)
def test_derivatives_of_distributions_agree_with_differences(loss):
    """By finite differences in double precision, as mpmath has no formulas of their densities."""
    y, step = np.arange(MARGINS.size) % 2, 1e-4
    first = (loss.value(y, MARGINS + step) - loss.value(y, MARGINS - step)) / (2 * step)
    np.testing.assert_allclose(loss.gradient(y, MARGINS), first, rtol=1e-6, atol=1e-11)
    second = (loss.gradient(y, MARGINS + step) - loss.gradient(y, MARGINS - step)) / (2 * step)
    np.testing.assert_allclose(loss.exact_hessian(y, MARGINS), second, rtol=1e-6, atol=1e-11)


def far_margins(n_classes):
    """Margins beyond the range of the exponential function, with other ones."""
    far = np.array([-1e4, -745.2, -700, -370, 0.0, 1e-320, 370, 700, 745.2, 1e4])
    if n_classes == 2:
        return np.concatenate([MARGINS, far])
    rng = np.random.default_rng(0)
    margin = rng.normal(size=(60, 3)) * rng.choice([1, 40, 700, 1e4], (60, 1))
    margin[:4] = [[700, -700, 0], [-700, 700, 0], [0, 0, 0], [700, 700, -700]]
    return margin


@pytest.mark.parametrize(
    ("loss", "n_classes"), [*((loss, 2) for loss in [*BINARY, *FROM_DISTRIBUTIONS]), *((loss, 3) for loss in SOFTMAX)], ids=str
)  # fmt: skip
def test_derivatives_are_finite_and_curvatures_not_negative_at_any_margin(loss, n_classes):
    margin = far_margins(n_classes)
    for shift in range(n_classes):
        y = (np.arange(len(margin)) + shift) % n_classes
        assert np.isfinite(loss.value(y, margin)).all()
        gradient = loss.gradient(y, margin)
        assert np.isfinite(gradient).all()
        if n_classes > 2:
            np.testing.assert_allclose(gradient.sum(axis=1), 0, atol=1e-12)
        for strategy in (None, *STRATEGIES):
            hessian = loss.hessian(y, margin, strategy)
            assert gradient.shape == hessian.shape == margin.shape
            assert np.isfinite(hessian).all(), strategy
            assert (hessian >= 0).all(), strategy


@names(BINARY)
def test_a_binary_margin_equals_two_classes_with_margins_0_and_f(loss):
    y = np.arange(MARGINS.size) % 2
    both = np.column_stack([np.zeros(MARGINS.size), MARGINS])
    np.testing.assert_allclose(probabilities(MARGINS), probabilities(both), rtol=1e-12)
    if loss.binary_only:
        with pytest.raises(ValueError, match=rf"{type(loss).__name__} is for two classes, got 3"):
            loss.check_classes(3)
        for method in (loss.value, loss.gradient, loss.exact_hessian, loss.hessian, loss.gradient_hessian):
            with pytest.raises(ValueError, match=rf"{type(loss).__name__} is for two classes, .* shape \(n,\)"):
                method(y, both)
        return
    np.testing.assert_allclose(loss.value(y, MARGINS), loss.value(y, both), rtol=1e-12)
    np.testing.assert_allclose(loss.gradient(y, MARGINS), loss.gradient(y, both)[:, 1], rtol=1e-12, atol=1e-15)
    for strategy in STRATEGIES:
        np.testing.assert_allclose(
            loss.hessian(y, MARGINS, strategy), loss.hessian(y, both, strategy)[:, 1], rtol=1e-12, atol=1e-15
        )


@names([*BINARY, *FROM_DISTRIBUTIONS, SOFTMAX[-1]])
def test_shared_computations_and_unchanged_arguments(loss):
    """Joint results equal separate ones, also for read-only float32 margins."""
    margin = np.linspace(-5, 5, 12, dtype=np.float32)
    margin = margin.reshape(4, 3) if loss == SOFTMAX[-1] else margin
    y = np.arange(len(margin)) % 2
    y.setflags(write=False)
    margin.setflags(write=False)
    for strategy in (None, "logistic"):
        gradient, hessian = loss.gradient_hessian(y, margin, strategy)
        assert gradient.dtype == hessian.dtype == np.float64
        np.testing.assert_array_equal(gradient, loss.gradient(y, margin.astype(float)))
        # p (1 - p) may be computed from the label or from class 1.
        np.testing.assert_allclose(hessian, loss.hessian(y, margin.astype(float), strategy), rtol=1e-14)
    if not loss.binary_only:
        softmax = softmax_of(margin)
        np.testing.assert_array_equal(np.asarray(softmax), margin)
        for labels in (y, 1 - y):
            np.testing.assert_array_equal(loss.gradient(labels, softmax), loss.gradient(labels, margin))


@names([*BINARY, *FROM_DISTRIBUTIONS])
def test_losses_are_values(loss):
    """They can be compared, hashed, printed and pickled."""
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss
    assert hash(again) == hash(loss)
    assert repr(again) == repr(loss)
    assert " at 0x" not in repr(loss)
    assert len({loss, again, get_loss("gce", q=0.123)}) == 2


EQUAL_LOSSES = {
    # Each with its formula in the literature, of the margin of the label v, the label t and the parameters.
    "alpha": ([{"a": 1}, {"a": 2.0}, {"a": np.inf}], lambda v, t, a: alpha_loss(1 / (1 + np.exp(-v)), a)),
    "sigmoid": ([{}], lambda v, t: 1 / (1 + np.exp(v))),
    "unbiased": (
        [{"noise_rate_pos": 0.3, "noise_rate_neg": 0.2}, {"noise_rate_pos": 0.0, "noise_rate_neg": 0.6}],
        lambda v, t, noise_rate_pos, noise_rate_neg: (
            (
                (1 - np.where(t == 1, noise_rate_neg, noise_rate_pos)) * np.log1p(np.exp(-v))
                - np.where(t == 1, noise_rate_pos, noise_rate_neg) * np.log1p(np.exp(v))
            )
            / (1 - noise_rate_pos - noise_rate_neg)
        ),
    ),
}


def alpha_loss(p, a):
    if a == 1:
        return -np.log(p)
    return 1 - p if a == np.inf else a / (a - 1) * (1 - p ** ((a - 1) / a))


@pytest.mark.parametrize(
    ("name", "params"), [(name, params) for name, (all_, _) in EQUAL_LOSSES.items() for params in all_]
)
def test_a_name_for_an_equal_loss_has_the_formula_of_the_literature(name, params):
    y, f = np.arange(40) % 2, np.linspace(-6, 6, 40)
    v = np.where(y == 1, f, -f)
    np.testing.assert_allclose(
        get_loss(name, **params).value(y, f), EQUAL_LOSSES[name][1](v, y, **params), rtol=1e-12
    )


def test_every_class_of_losses_has_a_name():
    classes = {cls for name, cls in LOSSES.items() if name not in EQUAL_LOSSES}
    assert {type(loss) for loss in [*BINARY, *FROM_DISTRIBUTIONS]} == classes
    assert all(f"``{name}``" in boostnoise.losses.__doc__ for name in LOSSES)
    for cls in classes:
        assert getattr(boostnoise, cls.__name__) is cls
        assert cls.default_hessian in STRATEGIES
    loss = get_loss("gce", q=0.2)
    assert get_loss(loss) is loss
    assert boostnoise.Loss is Loss


@pytest.mark.parametrize(
    ("loss", "params", "error", "message"),
    [
        ("gcee", {}, ValueError, f"loss 'gcee' is unknown.* {', '.join(LOSSES)}$"),
        ("gce", {"p": 1}, ValueError, "loss 'gce' has no parameter 'p'.* q$"),
        ("ce", {"q": 1}, ValueError, "loss 'ce' has no parameter 'q'.* none$"),
        ("distribution", {"_quantiles": ()}, ValueError, "no parameter '_quantiles'.* dist$"),
        ("forward", {}, ValueError, "loss 'forward' needs the parameter 'T'"),
        ("unbiased", {"noise_rate_pos": 0.1}, ValueError, "loss 'unbiased' needs the parameter 'noise_rate_neg'"),
        (get_loss("ce"), {"q": 1}, TypeError, "loss must be a name if parameters are given, got CrossEntropy"),
        ("gce", {"q": "auto"}, TypeError, "must be a number, got 'auto'; only Robust.* of \"gce\""),
        (None, {}, TypeError, "loss must be a name or a Loss, got None"),
    ],
)  # fmt: skip
def test_bad_names(loss, params, error, message):
    with pytest.raises(error, match=message):
        get_loss(loss, **params)


@names([get_loss("ce"), get_loss("ramp"), get_loss("mse"), get_loss("forward", T=T2)])
@pytest.mark.parametrize(
    ("y", "margin", "error", "message"),
    [
        ([0, 2], [0.0, 1.0], ValueError, "y must contain class numbers 0 to 1, got 0 to 2"),
        ([-1, 0], [0.0, 1.0], ValueError, "y must contain class numbers 0 to 1, got -1 to 0"),
        ([0.0, 1.0], [0.0, 1.0], TypeError, "y must contain class numbers, which are integers, got .* float64"),
        ([0, 1], [0.0, 1.0, 2.0], ValueError, r"y must have shape \(3,\) .* got \(2,\)"),
    ],
)
def test_bad_labels(loss, y, margin, error, message):
    for method in (loss.value, loss.gradient, loss.exact_hessian, loss.hessian, loss.gradient_hessian):
        with pytest.raises(error, match=message):
            method(np.array(y), np.array(margin))


def test_bad_shapes():
    for shape in ((), (2, 1), (2, 3, 4)):
        with pytest.raises(ValueError, match=r"margins must have shape \(n,\) for two classes, else \(n, K\)"):
            get_loss("ce").value(np.zeros(2, dtype=int), np.zeros(shape))
    with pytest.raises(ValueError, match="y must contain class numbers 0 to 2, got 0 to 3"):
        get_loss("ce").value(np.array([0, 3]), np.zeros((2, 3)))
