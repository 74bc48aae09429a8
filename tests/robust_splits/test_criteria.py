import json
import pickle
from itertools import combinations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from scipy.special import entr

import robust_splits
from robust_splits import (
    Credal,
    Entropy,
    FunctionCriterion,
    GeneralizedCrossEntropy,
    Gini,
    Misclassification,
    NegativeExponential,
    NewtonGain,
    Pairwise,
    PairwiseSum,
    RobustDecisionTreeClassifier,
    RobustForestClassifier,
    SqrtGini,
    Twoing,
    get_criterion,
)

ALL = [Gini(), Entropy(), Misclassification(), SqrtGini(), GeneralizedCrossEntropy(), NegativeExponential()]
OTHERS = [Twoing(), Pairwise(), PairwiseSum(), Credal(), NewtonGain()]

# Left and right class counts, no side empty.
SPLITS = (
    st.integers(1, 6)
    .flatmap(lambda k: arrays(float, (2, k), elements=st.integers(0, 50)))
    .filter(lambda counts: counts.sum(axis=1).all())
)
BINARY_SPLITS = arrays(float, (2, 2), elements=st.integers(0, 50)).filter(
    lambda counts: counts.sum(axis=1).all()
)


def test_gains_agree_with_the_vectors(data_root):
    cases = json.loads((data_root / "spec" / "criteria_vectors.json").read_text())["cases"]
    checked = set()
    for case in cases:
        for name, expected in case["gain"].items():
            if name.partition("(")[0] in robust_splits.criteria.CRITERIA:
                gain = get_criterion(name).gain(case["left"], case["right"])
                assert gain == pytest.approx(expected, abs=1e-12, rel=1e-12), (name, case)
                checked.add(name)
    assert len(checked) == 15


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


@pytest.mark.parametrize("q", [1e-15, 1e-9, 1e-3, 0.499, 0.501, 0.9, 0.999, 0.9999])
def test_generalised_cross_entropy_keeps_its_digits(q):
    with mpmath.workdps(50):
        p = [mpmath.mpf(n) / 10 for n in (1, 2, 7)]
        exponent = 1 / (1 - mpmath.mpf(q))
        expected = (1 - mpmath.fsum(x**exponent for x in p) ** (1 / exponent)) / mpmath.mpf(q)
    assert GeneralizedCrossEntropy(q).impurity([1, 2, 7]) == pytest.approx(float(expected), rel=1e-13)


@pytest.mark.parametrize("criterion", ALL, ids=str)
def test_gains_of_concave_impurities_are_never_negative(criterion):
    rng = np.random.default_rng(1)
    for _ in range(200):
        left, right = rng.random((2, 5)) * rng.integers(1, 1000, (2, 5))
        assert criterion.gain(left, right) > -1e-14


@given(BINARY_SPLITS)
def test_twoing_of_two_classes_by_its_short_formula(counts):
    left, right = counts
    a = left.sum() / counts.sum()
    expected = a * (1 - a) * (left[1] / left.sum() - right[1] / right.sum()) ** 2
    assert Twoing().gain(left, right) == pytest.approx(expected, abs=1e-15)


@given(BINARY_SPLITS)
def test_pairwise_by_its_formula(counts):
    (left_negative, left_positive), (right_negative, right_positive) = counts
    expected = abs(left_negative * right_positive - left_positive * right_negative) / 2
    assert Pairwise().gain(*counts) == pytest.approx(expected, abs=1e-10)


def test_pairwise_is_for_two_classes():
    with pytest.raises(ValueError, match="criterion 'pairwise' is for two classes, got 3"):
        Pairwise().gain([1, 2, 3], [3, 2, 1])
    assert Pairwise().gain([1], [2]) == 0


@given(SPLITS)
def test_pairwise_sum_by_its_formula(counts):
    pairs = list(combinations(range(counts.shape[1]), 2))
    of_pairs = [Pairwise().gain(*counts[:, pair]) for pair in pairs if counts[:, pair].sum(axis=1).all()]
    assert PairwiseSum().gain(*counts) == pytest.approx(sum(of_pairs), rel=1e-12, abs=1e-10)


def largest_entropy(counts, s):
    """Solve the definition with a general optimiser."""
    n = counts.sum() + s
    found = minimize(
        lambda p: -entr(p).sum(),
        (counts + s / counts.size) / n,
        bounds=list(zip(counts / n, (counts + s) / n, strict=True)),
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return -found.fun


@pytest.mark.parametrize("s", [0.5, 1.0, 2.5, 30.0])
def test_credal_by_an_optimiser(s):
    rng = np.random.default_rng(0)
    for n_classes in (2, 2, 3, 5, 8):
        left, right = rng.integers(0, 12, (2, n_classes)) + np.eye(2, n_classes)
        whole, *children = (largest_entropy(counts, s) for counts in (left + right, left, right))
        n = left.sum() + right.sum()
        lower = (children @ np.array([left.sum(), right.sum()]) + s * max(children)) / (n + s)
        assert Credal(s).gain(left, right) == pytest.approx(whole - lower, abs=1e-6)
        ratio = (whole - lower) / entr([left.sum() / n, right.sum() / n]).sum()
        assert Credal(s, gain_ratio=True).gain(left, right) == pytest.approx(ratio, abs=1e-5)


@pytest.mark.parametrize(
    ("s", "counts"),
    [
        (1.0, [27.000000000000004, 28.0]),
        (1.0, [3.2, 4.199999999999999, 6.2]),
        (2.5, [3.2, 3.3, 2.6999999999999997, 1.5]),
    ],
)
def test_credal_terminates_if_the_level_equals_a_count_up_to_rounding(s, counts):
    gain = Credal(s).gain(counts, np.ones(len(counts)))
    assert gain == pytest.approx(Credal(s).gain(np.round(counts, 1), np.ones(len(counts))), abs=1e-12)


def test_only_impurities_have_the_method_impurity():
    assert all(isinstance(criterion, robust_splits.Impurity) for criterion in ALL)
    for criterion in [*OTHERS, FunctionCriterion(gini_gain)]:
        assert not hasattr(criterion, "impurity")


def gini_gain(left, right):
    n_left, n_right = left.sum(), right.sum()
    n = n_left + n_right
    children = (left**2).sum() / n_left + (right**2).sum() / n_right
    return (children - ((left + right) ** 2).sum() / n) / n


def no_number(left, right):
    return np.nan if left.sum() > right.sum() else 0.0


def fails(left, right):
    if left.sum() > right.sum():
        raise ValueError("more on the left")
    return 0.0


def not_compiled(left, right):
    return float(str(left[0]) + repr(object()))


@given(SPLITS)
def test_a_function_is_a_criterion(counts):
    assert FunctionCriterion(gini_gain).gain(*counts) == pytest.approx(Gini().gain(*counts), abs=1e-14)


@pytest.mark.parametrize("weight", [None, 0.3])
def test_a_function_grows_the_same_tree_as_the_criterion_it_implements(weight):
    # Continuous columns and large leaves, so that no two splits have the same gain.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 3))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=2_000) > 1).astype(int)
    weight = weight and np.where(y, weight, 1.0)
    trees = [
        RobustDecisionTreeClassifier(criterion, min_samples_leaf=40, random_state=0).fit(X, y, weight).tree_
        for criterion in ("gini", pickle.loads(pickle.dumps(FunctionCriterion(gini_gain))))
    ]
    assert trees[0].n_nodes > 20
    for name in ("feature", "threshold", "left", "counts"):
        np.testing.assert_array_equal(*(getattr(tree, name) for tree in trees))
    np.testing.assert_allclose(*(tree.gain for tree in trees), atol=1e-13)


@pytest.mark.parametrize("model", [RobustDecisionTreeClassifier, RobustForestClassifier])
def test_bad_functions(model):
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    with pytest.raises(TypeError, match="function of FunctionCriterion must be callable, got 3"):
        FunctionCriterion(3)
    with pytest.raises(TypeError, match=r"function not_compiled.* Numba.*: Untyped global name 'object'"):
        model(criterion=FunctionCriterion(not_compiled)).fit(X, y)
    with pytest.raises(TypeError, match=r"function not_compiled.* Numba.*: Untyped global name 'object'"):
        FunctionCriterion(not_compiled).gain([1, 2], [2, 1])
    for function in (no_number, fails):
        with pytest.raises(ValueError, match=r"criterion must return a finite number.* \[[\d.]+, [\d.]+\]"):
            model(criterion=FunctionCriterion(function)).fit(X, y)
        with pytest.raises(ValueError, match=rf"{function.__name__}.*must return a finite number"):
            FunctionCriterion(function).gain([2, 1], [1, 1])


def test_criteria_by_name():
    assert [
        get_criterion(name) for name in ("twoing", "pairwise", "pairwise_sum", "credal", "newton")
    ] == OTHERS
    assert get_criterion("credal(2.5)") == Credal(s=2.5)
    assert get_criterion("gini") == Gini()
    assert get_criterion("gce") == GeneralizedCrossEntropy(q=0.7)
    assert get_criterion("gce(0.25)") == GeneralizedCrossEntropy(q=0.25)
    assert get_criterion("negative_exponential(1)") == NegativeExponential(lam=1.0)
    assert get_criterion(SqrtGini()) == SqrtGini()
    assert get_criterion("ranking") == Pairwise()  # other names
    assert get_criterion("ne(0.25)") == NegativeExponential(lam=0.25)


@pytest.mark.parametrize(
    ("criterion", "error", "message"),
    [
        ("ginny", ValueError, "criterion 'ginny' is unknown; known are gini, entropy, misclassification"),
        ("gini(1)", ValueError, r"'gini'.* got 'gini\(1\)'"),
        ("gce(x)", ValueError, r"'gce'.* got 'gce\(x\)'"),
        ("gce(-1)", ValueError, "q of GeneralizedCrossEntropy must be a finite number of at least 0, got -1"),
        ("negative_exponential(1.5)", ValueError, r"lam of NegativeExponential must be .* \[0, 1\], got 1.5"),
        ("ranking(1)", ValueError, r"'pairwise'.* got 'ranking\(1\)'"),
        ("credal(-1)", ValueError, "s of Credal must be a finite number of at least 0, got -1"),
        (3, TypeError, "criterion must be a name or a Criterion, got 3"),
    ],
)
def test_bad_names(criterion, error, message):
    with pytest.raises(error, match=message):
        get_criterion(criterion)


def test_types_of_parameters():
    with pytest.raises(TypeError, match="q of GeneralizedCrossEntropy must be a finite number"):
        GeneralizedCrossEntropy(q="0.5")
    with pytest.raises(TypeError, match="gain_ratio of Credal must be True or False, got 1"):
        Credal(gain_ratio=1)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ([1, 2], [1, 2, 3], "left_counts and right_counts.* got 2 and 3"),
        ([0, 0], [1, 1], r"left_counts.* positive sum, got \[0, 0\]"),
        ([1, 1], [-1, 2], r"right_counts.* got \[-1, 2\]"),
        ([1, np.nan], [1, 1], "left_counts"),
        ([[1, 1]], [1, 1], r"left_counts must be a vector.* got shape \(1, 2\)"),
    ],
)
def test_bad_counts(left, right, message):
    with pytest.raises(ValueError, match=message):
        Gini().gain(left, right)


@pytest.mark.parametrize("criterion", [*ALL, *OTHERS], ids=str)
def test_criteria_are_plain_data(criterion):
    assert pickle.loads(pickle.dumps(criterion)) == criterion
    assert hash(criterion) == hash(type(criterion)())
    assert eval(repr(criterion), vars(robust_splits)) == criterion
