from types import SimpleNamespace

import numpy as np
import pytest

from boostnoise import choose_threshold


def rows(n=8000, seed=0):
    """Probabilities of class 1, most of them nearly certain, and labels drawn from them."""
    q = np.random.default_rng(seed).beta(0.2, 0.3, size=n)
    return q, (np.random.default_rng(seed + 1).random(n) < q).astype(int)


def mean_cost(p, labels, threshold, false_positive, false_negative):
    return np.where(p >= threshold, (1 - labels) * false_positive, labels * false_negative).mean()


@pytest.mark.parametrize(("false_positive", "false_negative"), [(1, 1), (1, 5), (20, 1)])
@pytest.mark.parametrize(
    "distort", [lambda q: q, lambda q: q**3, lambda q: 0.3 + 0.4 * q], ids=["exact", "cubed", "compressed"]
)
def test_costs_little_more_than_the_best_threshold(distort, false_positive, false_negative):
    q, labels = rows()
    p = distort(q)
    clean = np.eye(2)[labels]  # all rows are checked
    chosen = choose_threshold(p, clean, false_positive=false_positive, false_negative=false_negative)
    costs = (false_positive, false_negative)
    new, unseen = rows(seed=5)
    best = min(mean_cost(distort(new), unseen, t, *costs) for t in np.linspace(0, 1, 1001))
    assert mean_cost(distort(new), unseen, chosen.threshold, *costs) < 1.05 * best
    assert chosen.cost == pytest.approx(mean_cost(p, labels, chosen.threshold, *costs))
    assert chosen.cost_of_formula == pytest.approx(mean_cost(p, labels, chosen.formula, *costs))
    assert chosen.cost_of_half == pytest.approx(mean_cost(p, labels, 0.5, *costs))
    assert chosen.formula == pytest.approx(false_positive / (false_positive + false_negative))


def test_the_interval_covers_the_cost_of_new_rows():
    costs = {"false_positive": 1, "false_negative": 5}
    q, labels = rows(100_000, seed=9)
    covered = 0
    for seed in range(60):
        p, own = rows(300, seed=10 + 2 * seed)
        chosen = choose_threshold(p, np.eye(2)[own], **costs)
        low, high = chosen.interval
        covered += low <= mean_cost(q, labels, chosen.threshold, *costs.values()) <= high
    assert covered >= 53  # of 57 expected


def test_labels_with_errors_find_the_threshold_of_the_right_ones():
    q, labels = rows()
    p = 0.3 + 0.4 * q  # of a model of labels, three of ten of which are wrong
    noisy = np.where(np.random.default_rng(3).random(q.size) < 0.3, 1 - labels, labels)
    right = np.where(noisy == 1, 0.7, 0.3)  # the probability of the label in class 1
    clean = q * right / (q * right + (1 - q) * (1 - right))
    audited = SimpleNamespace(clean_probabilities=np.column_stack([1 - clean, clean]))
    costs = {"false_positive": 1, "false_negative": 5}
    chosen = choose_threshold(np.column_stack([1 - p, p]), audited, **costs)
    assert chosen == choose_threshold(p, audited.clean_probabilities, **costs)
    assert chosen.threshold == pytest.approx(0.3 + 0.4 / 6, abs=0.02)
    assert chosen.cost == pytest.approx(mean_cost(p, labels, chosen.threshold, 1, 5), rel=0.1)
    assert chosen.cost < chosen.cost_of_formula / 2


def test_checked_rows_correct_a_wrong_audit():
    q, labels = rows()
    wrong = q**2  # of class 1, as the audit has it
    clean = np.column_stack([1 - wrong, wrong])
    costs = {"false_positive": 1, "false_negative": 5}
    low, high = choose_threshold(q, clean, **costs).interval
    covered, excess, widths = [], [], []
    best = mean_cost(q, labels, 1 / 6, *costs.values())
    for seed in range(40):
        drawn = np.random.default_rng(seed).choice(q.size, 200, replace=False)
        checked = dict(zip(drawn.tolist(), labels[drawn].tolist(), strict=True))
        chosen = choose_threshold(q, clean, **costs, checked=checked)
        cost = mean_cost(q, labels, chosen.threshold, *costs.values())
        covered.append(chosen.interval[0] <= cost <= chosen.interval[1])
        excess.append(cost / best)
        widths.append(np.ptp(chosen.interval))
        assert not low <= cost <= high
    assert np.sum(covered) >= 34  # of 38 expected
    assert np.mean(excess) < 1.05
    true = np.where(q >= 1 / 6, 1 - labels, 5 * labels)
    assert np.mean(widths) < 2 * 1.96 * true.std() / np.sqrt(200)  # of the checked rows alone


def test_an_audit_without_doubts_agrees_with_checked_labels():
    q, labels = rows(200)
    costs = {"false_positive": 1, "false_negative": 2}
    chosen = choose_threshold(q, np.eye(2)[labels], **costs, checked=dict(enumerate(labels[:50].tolist())))
    assert chosen.cost == pytest.approx(mean_cost(q, labels, chosen.threshold, 1, 2), abs=0.1)


def test_checked_labels_are_those_of_the_audit():
    q, labels = rows(300)
    clean = np.column_stack([1 - q, q])
    costs = {"false_positive": 1, "false_negative": 2}
    audited = SimpleNamespace(clean_probabilities=clean, classes=np.array(["a", "b"]))
    numbers = dict(enumerate(labels[:50].tolist()))
    names = {row: "ab"[label] for row, label in numbers.items()}
    assert choose_threshold(q, audited, **costs, checked=names) == choose_threshold(
        q, clean, **costs, checked=numbers
    )


def test_no_row_or_all_rows_are_predicted():
    p = np.linspace(0.2, 0.8, 50)
    for q, predicted in ((0.001, 0), (0.999, 50)):
        clean = np.tile([1 - q, q], (50, 1))
        chosen = choose_threshold(p, clean, false_positive=1, false_negative=1)
        assert (p >= chosen.threshold).sum() == predicted


@pytest.mark.parametrize(
    ("changed", "kind", "message"),
    [
        (
            {"probabilities": np.ones((2, 3))},
            ValueError,
            r"probabilities must have the shape \(n,\) or \(n, 2\), got \(2, 3\)",
        ),
        ({"probabilities": [0.1, np.nan]}, ValueError, r"probabilities must be probabilities in \[0, 1\]"),
        (
            {"clean": np.ones((3, 2)) / 2},
            ValueError,
            r"clean must have the shape \(2, 2\), as probabilities has, got \(3, 2\)",
        ),
        ({"clean": [[0.5, 0.4], [0, 1]]}, ValueError, "clean must have rows that sum to 1"),
        ({"checked": {0: 1}}, ValueError, "checked must have at least 10 rows, got 1"),
        (
            {"checked": {0: 2}},
            ValueError,
            r"checked labels must be labels of the data \(0, 1\), got 2 for row 0",
        ),
        ({"checked": {5: 1}}, ValueError, "checked rows must be whole numbers from 0 to 1, got 5"),
        (
            {
                "probabilities": np.ones(21),
                "clean": [*np.eye(2)[[0, 1] * 10], [0.5, 0.5]],
                "checked": dict(enumerate([0, 1] * 10)),
            },
            ValueError,
            "clean must be of an audit that has not used",
        ),
        ({"false_positive": 0}, ValueError, "false_positive must be positive and finite, got 0"),
        ({"false_negative": "1"}, TypeError, "false_negative must be a number, got '1'"),
    ],
)
def test_mistakes(changed, kind, message):
    arguments = {"probabilities": [0.1, 0.9], "clean": np.eye(2), "false_positive": 1, "false_negative": 1}
    with pytest.raises(kind, match=message):
        choose_threshold(**(arguments | changed))
