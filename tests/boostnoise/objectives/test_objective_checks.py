"""Correct objectives have no findings; each mistake in a wrong one is the only finding."""

import re

import numpy as np
import pytest
from scipy.special import expit, softmax

from boostnoise import Loss, check_objective, get_loss, lightgbm_objective, xgboost_objective
from boostnoise.objectives.objective_checks import Finding, ObjectiveReport

MAKERS = {"xgboost": xgboost_objective, "lightgbm": lightgbm_objective}


def cross_entropy(y_true, y_pred, sample_weight=None):
    """Correct for both libraries and any number of classes."""
    y = y_true.astype(int)
    if y_pred.ndim == 1:
        p = expit(y_pred)
        gradient, hessian = p - y, np.maximum(p * (1 - p), 1e-16)
    else:
        p = softmax(y_pred, axis=1)
        gradient, hessian = p - np.eye(p.shape[1])[y], np.maximum(2 * p * (1 - p), 1e-16)
    if sample_weight is not None:
        by_row = sample_weight if y_pred.ndim == 1 else sample_weight[:, None]
        gradient, hessian = gradient * by_row, hessian * by_row
    return gradient, hessian


def cross_entropy_value(y, margin):
    return get_loss("ce").value(y, margin)


def natively(margin, data):
    return cross_entropy(
        data.get_label(), margin, data.get_weight() if np.size(data.get_weight()) > 1 else None
    )


@pytest.mark.parametrize("library", MAKERS)
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("value", [None, cross_entropy_value])
def test_a_correct_objective_has_no_findings(library, n_classes, value):
    for objective, native in ((cross_entropy, False), (natively, True), (MAKERS[library]("ce"), True)):
        report = check_objective(objective, library, n_classes, value=value, native=native)
        assert report.findings == (), str(report)
        assert report.ok


@pytest.mark.parametrize("library", MAKERS)
def test_the_losses_of_this_package_have_no_findings(library, every_loss):
    loss, n_classes = every_loss
    report = check_objective(MAKERS[library](loss), library, n_classes, value=loss.value)
    assert report.findings == (), str(report)


def changed(change):
    """Cross entropy with changed derivatives."""

    def objective(y_true, y_pred, sample_weight=None):
        return change(*cross_entropy(y_true, y_pred, sample_weight))

    return objective


def ignores_weights(y_true, y_pred, sample_weight=None):
    return cross_entropy(y_true, y_pred)


def weights_the_gradient_only(y_true, y_pred, sample_weight=None):
    return cross_entropy(y_true, y_pred, sample_weight)[0], cross_entropy(y_true, y_pred)[1]


def takes_no_weights(y_true, y_pred):
    return cross_entropy(y_true, y_pred)


def has_a_bug(y_true, y_pred, sample_weight=None):
    raise KeyError("label")


def writes_into_margins(y_true, y_pred, sample_weight=None):
    y_pred -= y_pred.mean()
    return cross_entropy(y_true, y_pred, sample_weight)


def standardises(y_true, y_pred, sample_weight=None):
    return cross_entropy(y_true, y_pred - y_pred.mean(axis=0), sample_weight)


def weights_by_position(y_true, y_pred, sample_weight=None):
    gradient, hessian = cross_entropy(y_true, y_pred, sample_weight)
    by_row = np.linspace(1, 2, len(y_true))
    return (gradient.T * by_row).T, (hessian.T * by_row).T


def means(y_true, y_pred, sample_weight=None):
    gradient, hessian = cross_entropy(y_true, y_pred, sample_weight)
    return gradient / len(y_true), hessian / len(y_true)


def naive_softmax(y_true, y_pred, sample_weight=None):
    with np.errstate(over="ignore", invalid="ignore"):
        p = np.exp(y_pred)
        p /= 1 + p if p.ndim == 1 else p.sum(axis=1, keepdims=True)
    gradient, hessian = cross_entropy(y_true, y_pred, sample_weight)
    return gradient + 0 * p, hessian


def labels_of_minus_one(y_true, y_pred, sample_weight=None):
    """As if labels were -1 and 1, so class 0 has no gradient."""
    gradient, hessian = cross_entropy(y_true, y_pred, sample_weight)
    return gradient * y_true, hessian


@pytest.mark.parametrize("library", MAKERS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("objective", "name", "message"),
    [
        (has_a_bug, "call", "raises KeyError: 'label'"),
        (takes_no_weights, "signature", "weights"),
        (changed(lambda g, h: g), "result", "must return a pair (gradient, hessian), got ndarray"),
        (changed(lambda g, h: (g, h.tolist())), "result", "the hessian must be an array of floats, got list"),
        (changed(lambda g, h: (np.sign(g).astype(int), h)), "result", "the gradient must be an array of floats, got an array of int64"),
        (changed(lambda g, h: (g.sum(axis=0, keepdims=True), h)), "shape", "the gradient must have the shape of the margins"),
        (changed(lambda g, h: (g[:-1], h[:-1])), "shape", "got (59"),
        (changed(lambda g, h: (np.where(g > 0.9, np.nan, g), h)), "values", "not finite at ordinary margins"),
        (changed(lambda g, h: (-g, h)), "sign", "has the wrong sign, as if to maximise the loss"),
        (changed(lambda g, h: (g, 0 * h)), "hessian", "all hessians are 0, so no leaf is ever split"),
        (changed(lambda g, h: (g, -h)), "hessian", "100% of the hessians are negative"),
        (ignores_weights, "weights", "sample weights are ignored"),
        (weights_the_gradient_only, "weights", "the hessian of a row is not multiplied by its sample weight"),
        (writes_into_margins, "inputs", "modifies"),
        (standardises, "row dependence", "changes with the margin of another row"),
        (weights_by_position, "row order", "depends on the order of the rows"),
        (means, "row count", "depends on the number of rows"),
        (naive_softmax, "extreme margins", "not finite in single precision at margins of"),
    ],
)  # fmt: skip
def test_mistakes_are_found(library, n_classes, objective, name, message):
    if objective is takes_no_weights and library == "lightgbm":
        message = "LightGBM trains without the weights"
    report = check_objective(objective, library, n_classes)
    assert report.names == (name,), str(report)
    assert message in report.findings[0].message
    assert not report.ok


def test_a_class_without_gradient():
    report = check_objective(labels_of_minus_one, "xgboost")
    assert [str(finding) for finding in report.findings] == [
        "error: sign: at margin 0 the gradient of rows of class 0 is 0"
    ]


def flat(order):
    return changed(lambda g, h: (g.ravel(order=order), h.ravel(order=order)))


def test_order_of_flat_arrays():
    assert check_objective(flat("F"), "lightgbm", 4).findings == ()
    report = check_objective(flat("C"), "lightgbm", 4)
    assert report.names == ("order",)
    assert "flat gradients in C order" in report.findings[0].message
    report = check_objective(flat("C"), "xgboost", 4)
    assert report.names == ("shape",)
    assert report.ok
    report = check_objective(flat("F"), "xgboost", 4)
    assert report.names == ("shape", "order")
    assert not report.ok


@pytest.mark.parametrize("library", MAKERS)
def test_possible_mistakes_are_warnings(library):
    def some_zero(y_true, y_pred, sample_weight=None):
        gradient, hessian = cross_entropy(y_true, y_pred, sample_weight)
        return gradient, np.where(np.abs(y_pred) > 2, 0, hessian)

    report = check_objective(some_zero, library)
    assert report.ok
    assert [(finding.name, finding.severity) for finding in report.findings] == [("hessian", "warning")]
    shifted = changed(lambda g, h: (g * np.array([1.0, 1.0, 1.5]), h))
    report = check_objective(shifted, library, 3)
    assert report.ok
    assert report.names == ("sum over classes", "gradient")
    assert "derivatives are not symmetric" in report.findings[1].message


@pytest.mark.parametrize("library", MAKERS)
def test_a_gradient_that_contradicts_the_value(library):
    report = check_objective(changed(lambda g, h: (1.01 * g, h)), library, 3, value=cross_entropy_value)
    assert report.names == ("gradient",)
    assert "but the derivative of the value is" in report.findings[0].message
    assert check_objective(changed(lambda g, h: (1.01 * g, h)), library, 3).findings == ()
    report = check_objective(changed(lambda g, h: (g**3, h)), library, value=cross_entropy_value)
    assert "gradient" in report.names


def robust_focal(as_published, r=0.5, q=0.5):
    """The gradient of the robust focal loss for several classes, correct or with the published mistake.

    In the paper, a term of the derivative by p_t, times p_t, has p_t^q instead of (p_t^q - 1) p_t.
    """

    def objective(y_true, y_pred, sample_weight=None):
        p, onehot = softmax(y_pred.astype(float), axis=1), np.eye(y_pred.shape[1])[y_true.astype(int)]
        p_t = (p * onehot).sum(axis=1, keepdims=True)
        rest = (p * (1 - onehot)).sum(axis=1, keepdims=True)
        term = p_t**q if as_published else (p_t**q - 1) * p_t
        slope = r / q * rest ** (r - 1) * term - rest**r * p_t**q
        weight = 1.0 if sample_weight is None else sample_weight[:, None]
        return slope * (onehot - p) * weight, np.maximum(p * (1 - p), 1e-16) * weight

    return objective


@pytest.mark.parametrize("library", MAKERS)
def test_the_published_gradient_of_the_robust_focal_loss(library):
    value = get_loss("rfl", r=0.5, q=0.5).value
    right = check_objective(robust_focal(as_published=False), library, 3, value=value)
    assert "gradient" not in right.names
    assert "sign" not in right.names
    report = check_objective(robust_focal(as_published=True), library, 3, value=value)
    assert {"sign", "gradient"} <= set(report.names)
    assert not report.ok


def test_the_report_as_text():
    report = check_objective(ignores_weights, "xgboost")
    assert (
        str(report) == "ignores_weights for xgboost, 2 classes:\n  error: weights: sample weights are ignored"
    )
    assert str(ObjectiveReport("f", "lightgbm", 3, ())) == "f for lightgbm, 3 classes: no problems found"
    assert ObjectiveReport("f", "lightgbm", 3, (Finding("hessian", "warning", "small"),)).ok


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"objective": "ce"}, TypeError, "objective must be callable, got 'ce'"),
        ({"library": "catboost"}, ValueError, "library must be 'xgboost' or 'lightgbm', got 'catboost'"),
        ({"n_classes": 1}, ValueError, "n_classes must be at least 2, got 1"),
        ({"value": 3}, TypeError, "value must be callable or None, got 3"),
        ({"value": lambda y, margin: 0.0}, ValueError, "value must return an array of shape"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        check_objective(**{"objective": cross_entropy, "library": "xgboost", **arguments})


def test_a_custom_loss():
    """A mistake in a loss is found through its hook."""

    class WrongSign(Loss):
        def value(self, y, margin):
            return np.logaddexp(0, -(2 * y - 1) * margin)

        def gradient(self, y, margin):
            return -(2 * y - 1) * expit((2 * y - 1) * margin)  # the sign of the exponent

        def exact_hessian(self, y, margin):
            return expit(margin) * expit(-margin)

    hook = xgboost_objective(WrongSign())
    for value in (None, WrongSign().value):
        assert check_objective(hook, "xgboost", value=value).names == ("exact_hessian", "gradient")


@pytest.mark.parametrize("library", MAKERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_hook_hides_no_mistake_of_its_loss(library, n_classes):
    class DoubleHessian(Loss):
        def value(self, y, margin):
            return get_loss("ce").value(y, margin)

        def gradient(self, y, margin):
            return get_loss("ce").gradient(y, margin)

        def exact_hessian(self, y, margin):
            return 2 * get_loss("ce").exact_hessian(y, margin)

    class ModifiesMargins(DoubleHessian):
        def gradient(self, y, margin):
            margin -= 1
            return super().gradient(y, margin + 1)

    make = MAKERS[library]
    assert check_objective(make(DoubleHessian()), library, n_classes).names == ("exact_hessian",)
    report = check_objective(make(ModifiesMargins()), library, n_classes)
    assert report.names == ("inputs",)
    assert "gradient of" in report.findings[0].message
    assert check_objective(make(DoubleHessian(), "fisher"), library, n_classes).ok


@pytest.mark.parametrize(
    ("result", "message"),
    [(1.0, r"must have shape \(60,\), got \(\)"), (None, "raises NotImplementedError: later")],
)
def test_a_loss_without_a_value_is_a_warning(result, message):
    class Valueless(Loss):
        def value(self, y, margin):
            if result is None:
                raise NotImplementedError("later")
            return result

        def gradient(self, y, margin):
            return get_loss("ce").gradient(y, margin)

        def exact_hessian(self, y, margin):
            raise NotImplementedError

    report = check_objective(xgboost_objective(Valueless(), "logistic"), "xgboost")
    assert report.ok
    assert report.names == ("value",)
    assert re.search(message, report.findings[0].message)


@pytest.mark.parametrize(("library", "other"), [("xgboost", "lightgbm"), ("lightgbm", "xgboost")])
def test_a_hook_of_the_other_library(library, other):
    report = check_objective(MAKERS[library]("gce"), other)
    assert [str(finding) for finding in report.findings] == [
        f"error: library: {type(MAKERS[library]('gce')).__name__} is not for {other}"
    ]
