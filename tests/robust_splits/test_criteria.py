import json
import pickle

import mpmath
import numpy as np
import pytest

import robust_splits
from robust_splits import (
    Entropy,
    GeneralizedCrossEntropy,
    Gini,
    Misclassification,
    NegativeExponential,
    SqrtGini,
    get_criterion,
)

ALL = [Gini(), Entropy(), Misclassification(), SqrtGini(), GeneralizedCrossEntropy(), NegativeExponential()]


def test_gains_agree_with_the_vectors(data_root):
    cases = json.loads((data_root / "spec" / "criteria_vectors.json").read_text())["cases"]
    checked = set()
    for case in cases:
        for name, expected in case["gain"].items():
            if name.partition("(")[0] in robust_splits.criteria.CRITERIA:
                gain = get_criterion(name).gain(case["left"], case["right"])
                assert gain == pytest.approx(expected, abs=1e-12, rel=1e-12), (name, case)
                checked.add(name)
    assert len(checked) == 11


@pytest.mark.parametrize(
    ("criterion", "counts", "expected"),
    [
        (Gini(), [1, 1], 0.5),
        (Entropy(), [1, 1, 1], np.log(3)),
        (Misclassification(), [1, 3], 0.25),
        (SqrtGini(), [1, 1], 1.0),
        (SqrtGini(), [2, 2, 2], 1.0),
        (GeneralizedCrossEntropy(q=0.5), [1, 1], (1 - np.sqrt(0.5)) / 0.5),
        (GeneralizedCrossEntropy(q=2), [1, 3], 0.125),
        (NegativeExponential(lam=0.5), [5, 5], 0.25),
        (NegativeExponential(lam=1.0), [1, 9], 0.1),
    ],
)
def test_impurity_by_hand(criterion, counts, expected):
    assert criterion.impurity(counts) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("criterion", ALL, ids=str)
@pytest.mark.parametrize("counts", [[7.0], [0, 3], [0, 0, 2.5, 0]])
def test_a_pure_node_has_no_impurity(criterion, counts):
    assert criterion.impurity(counts) == 0


@pytest.mark.parametrize(
    ("criterion", "same_as"),
    [
        (GeneralizedCrossEntropy(q=0.0), Entropy()),
        (GeneralizedCrossEntropy(q=1.0), Misclassification()),
        (NegativeExponential(lam=1.0), Misclassification()),
        (NegativeExponential(lam=0.0), SqrtGini()),
    ],
    ids=str,
)
def test_limits_of_the_families(criterion, same_as):
    rng = np.random.default_rng(0)
    for _ in range(100):
        left, right = rng.integers(0, 20, (2, 4)) + np.eye(2, 4)
        assert criterion.gain(left, right) == pytest.approx(same_as.gain(left, right), abs=1e-14)


@pytest.mark.parametrize("q", [1e-15, 1e-9, 1e-3, 0.499, 0.501, 0.9, 0.999])
def test_generalised_cross_entropy_keeps_its_digits(q):
    with mpmath.workdps(50):
        p = [mpmath.mpf(n) / 10 for n in (1, 2, 7)]
        exponent = 1 / (1 - mpmath.mpf(q))
        expected = (1 - mpmath.fsum(x**exponent for x in p) ** (1 / exponent)) / mpmath.mpf(q)
    assert GeneralizedCrossEntropy(q).impurity([1, 2, 7]) == pytest.approx(float(expected), rel=1e-13)


def test_generalised_cross_entropy_does_not_underflow_near_one():
    near = GeneralizedCrossEntropy(q=0.9999).impurity([30, 30, 40])
    assert near == pytest.approx(Misclassification().impurity([30, 30, 40]), abs=1e-3)


@pytest.mark.parametrize("criterion", ALL, ids=str)
def test_gains_of_concave_impurities_are_never_negative(criterion):
    rng = np.random.default_rng(1)
    for _ in range(200):
        left, right = rng.random((2, 5)) * rng.integers(1, 1000, (2, 5))
        assert criterion.gain(left, right) > -1e-14


def test_names():
    assert get_criterion("gini") == Gini()
    assert get_criterion("gce") == GeneralizedCrossEntropy(q=0.7)
    assert get_criterion("gce(0.25)") == GeneralizedCrossEntropy(q=0.25)
    assert get_criterion("negative_exponential(1)") == NegativeExponential(lam=1.0)
    assert get_criterion(SqrtGini()) == SqrtGini()


@pytest.mark.parametrize(
    ("criterion", "error", "message"),
    [
        ("ginny", ValueError, "criterion 'ginny' is unknown; known are gini, entropy, misclassification"),
        ("gini(1)", ValueError, "'gini' takes no parameter"),
        ("gce(x)", ValueError, "must be a number"),
        ("gce(-1)", ValueError, "q of GeneralizedCrossEntropy must be finite and at least 0, got -1"),
        ("negative_exponential(1.5)", ValueError, r"lam of NegativeExponential must be in \[0, 1\], got 1.5"),
        ("negative_exponential(nan)", ValueError, "lam"),
        (3, TypeError, "criterion must be a name or a Criterion, got 3"),
    ],
)
def test_bad_names(criterion, error, message):
    with pytest.raises(error, match=message):
        get_criterion(criterion)


@pytest.mark.parametrize("q", ["0.5", True, None])
def test_parameters_are_numbers(q):
    with pytest.raises(TypeError, match="q of GeneralizedCrossEntropy must be a number"):
        GeneralizedCrossEntropy(q=q)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ([1, 2], [1, 2, 3], "one length"),
        ([0, 0], [1, 1], "left_counts must be finite, not negative, with a positive sum"),
        ([1, 1], [-1, 2], "right_counts"),
        ([1, np.nan], [1, 1], "left_counts"),
        ([[1, 1]], [1, 1], "left_counts must be a vector"),
    ],
)
def test_bad_counts(left, right, message):
    with pytest.raises(ValueError, match=message):
        Gini().gain(left, right)


@pytest.mark.parametrize("criterion", ALL, ids=str)
def test_criteria_are_plain_data(criterion):
    assert pickle.loads(pickle.dumps(criterion)) == criterion
    assert hash(criterion) == hash(type(criterion)())
    assert eval(repr(criterion), vars(robust_splits)) == criterion
