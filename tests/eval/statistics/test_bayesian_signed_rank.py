import numpy as np
import pandas as pd
import pytest

from boostnoise import compare
from boostnoise.eval import bayesian_signed_rank
from boostnoise.eval.statistics.bayesian_signed_rank import N_SAMPLES, outcome_probabilities

ERROR = 4 * 0.5 / np.sqrt(N_SAMPLES)  # four standard errors


def brute_force(differences, rope, n_samples=4_000):
    """Shares of draws, one pair of differences at a time."""
    rng = np.random.default_rng(7)
    z = [0.0, *differences]
    counts = np.zeros(3)
    for _ in range(n_samples):
        w = rng.gamma([0.5] + [1.0] * len(differences))
        w /= w.sum()
        theta = np.zeros(3)
        for i, a in enumerate(z):
            for j, b in enumerate(z):
                theta[0 if a + b > 2 * rope else 2 if a + b < -2 * rope else 1] += w[i] * w[j]
        counts[theta.argmax()] += 1
    return counts / n_samples


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.05])
def test_shares_of_pairs(rope):
    differences = np.random.default_rng(0).normal(0.01, 0.03, 6)
    (found,) = outcome_probabilities(differences[np.newaxis], rope)
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found, brute_force(differences, rope), atol=0.04)


def test_published_differences(demsar):
    """Probabilities that baycomp 1.0.3 computes of these differences, in 100,000 draws."""
    result = bayesian_signed_rank(demsar, "C4.5+m+cf", higher_is_better=True, rope=0.0095)
    found = result.table.set_index("model")
    expected = {
        "C4.5": (0.979, 0.021, 0.000),
        "C4.5+m": (0.277, 0.719, 0.005),
        "C4.5+cf": (0.780, 0.219, 0.001),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(
            found.loc[name, ["better", "equal", "worse"]].astype(float), values, atol=0.02
        )


def test_sides_exchange():
    differences = np.random.default_rng(1).normal(0.02, 0.05, (3, 12))
    one, other = outcome_probabilities(differences, 0.01), outcome_probabilities(-differences, 0.01)
    np.testing.assert_allclose(one, other[:, ::-1])


@pytest.mark.parametrize(
    ("difference", "outcome"), [(0.05, "better"), (0.005, "equal"), (0.0, "equal"), (-0.05, "worse")]
)
def test_what_is_plain_is_certain(difference, outcome):
    table = pd.DataFrame({"one": np.linspace(0.5, 0.8, 20), "two": np.linspace(0.5, 0.8, 20) - difference})
    (row,) = bayesian_signed_rank(table, "one", higher_is_better=True).table.itertuples()
    assert getattr(row, outcome) > 0.99
    (row,) = bayesian_signed_rank(-table, "one", higher_is_better=False).table.itertuples()
    assert getattr(row, outcome) > 0.99


def test_the_control_is_the_best_by_default(noisy_table):
    result = bayesian_signed_rank(noisy_table(10, 3), higher_is_better=True)
    assert result.control == "m2"
    assert result.table["model"].tolist() == ["m0", "m1"]
    assert "Bayesian signed-rank test of m2 against two models over ten data sets" in str(result)


def test_too_few_data_sets(noisy_table):
    result = bayesian_signed_rank(noisy_table(4, 3), higher_is_better=True)
    assert result.table[["better", "equal", "worse"]].isna().all(axis=None)
    expected = (
        "Four data sets are too few for the Bayesian signed-rank test; at least five data sets are needed."
    )
    assert result.summary == expected
    assert not bayesian_signed_rank(noisy_table(5, 1), higher_is_better=True).has_power


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rope": -1}, "rope must be a number from 0, got -1"),
        ({"rope": np.nan}, "rope must be a number from 0, got nan"),
        ({"control": "m9"}, "control must be one of m0, m1, m2, got 'm9'"),
    ],
)
def test_mistakes(noisy_table, options, message):
    with pytest.raises(ValueError, match=message):
        bayesian_signed_rank(noisy_table(5, 3), higher_is_better=True, **options)


@pytest.mark.usefixtures("fits_in_this_process")
def test_the_tests_of_a_comparison(tmp_path):
    sets = [
        {"set": name, "name": f"{name} {n}", "max_rows": n} for name in ("iris", "wine") for n in (60, 90, 120)
    ]
    made = compare(
        ["robust_tree", "decision_tree"], sets, 0.2, repeats=1, results_dir=tmp_path, n_jobs=1, progress=False
    )
    tests = made.tests(rope=0.5)
    assert tests.bayesian.table["equal"].tolist() == [1]
    assert "equal within 0.5, or worse" in str(tests)
