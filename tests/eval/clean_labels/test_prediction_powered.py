import functools

import numpy as np
import pytest
from scipy.special import expit
from statsmodels.stats.proportion import proportion_confint

from boostnoise.eval.clean_labels.checked_sample import CheckedSample
from boostnoise.eval.clean_labels.measures import Predicted, accuracy, balanced_accuracy, roc_auc
from boostnoise.eval.clean_labels.prediction_powered import PredictionPowered
from boostnoise.eval.clean_labels.rows_to_check import doubt, draw_rows
from boostnoise.eval.clean_labels.without_checked_rows import Scenarios


def simulate(seed, n=1000, *, shift=0.0, spread=2):
    """Clean labels, a model's predictions, and probabilities of the labels that may be wrong by a shift."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-0.5, spread, size=n)
    y = (rng.random(n) < expit(x)).astype(int)
    p = expit(x + rng.normal(size=n))
    of_model = expit(0.7 * x + 0.5 * rng.normal(size=n))
    predicted = Predicted((of_model > 0.5).astype(int), np.column_stack([1 - of_model, of_model]), 2)
    p = expit(np.log(p / (1 - p)) + shift)
    return y, predicted, np.column_stack([1 - p, p])


def draw(y, rows, probabilities, number=1):
    return CheckedSample(rows, y[rows], probabilities, np.full(rows.size, number))


def by_doubt(y, predicted, p, n, rng):
    rows, probabilities = draw_rows(doubt([predicted], p), np.zeros(y.size), n, rng)
    return draw(y, rows, probabilities)


def at_random(y, predicted, p, n, rng):
    return draw(y, rng.choice(y.size, n, replace=False), np.full(n, n / y.size))


def in_two_rounds(y, predicted, p, n, rng):
    """The second round draws by what the first one has found, from the rows that it has left."""
    first = by_doubt(y, predicted, p, n // 2, rng)
    left = np.setdiff1d(np.arange(y.size), first.rows)
    wrong = (first.codes != p[first.rows].argmax(axis=1)).mean()
    doubts = np.where(p[left].max(axis=1) < 0.9 - wrong, 3.0, 1.0)
    rows, probabilities = draw_rows(doubts / doubts.mean(), np.zeros(left.size), n - n // 2, rng)
    rows = np.concatenate([first.rows, left[rows]])
    return CheckedSample(
        rows,
        y[rows],
        np.concatenate([first.probabilities, probabilities]),
        np.repeat([1, 2], [n // 2, n - n // 2]),
    )


def after_chosen_rows(y, predicted, p, n, rng):
    """Rows on which the model is mostly wrong were chosen, and the others are drawn at random."""
    wrong = (predicted.labels != y) + 0.3 * rng.random(y.size)
    chosen = np.argsort(-wrong)[:100]
    left = np.setdiff1d(np.arange(y.size), chosen)
    drawn = rng.choice(left, n, replace=False)
    return CheckedSample(
        rows := np.concatenate([chosen, drawn]),
        y[rows],
        np.repeat([1, n / left.size], [100, n]),
        np.repeat([0, 1], [100, n]),
    )


@pytest.mark.parametrize(
    "choose", [by_doubt, at_random, in_two_rounds, after_chosen_rows], ids=lambda choose: choose.__name__
)
@pytest.mark.parametrize("shift", [0.0, 1.5], ids=["right", "wrong"])
def test_intervals_cover_the_value_on_clean_labels(choose, shift):
    """Whether the probabilities are right or not."""
    covered, errors = [], []
    for seed in range(100):
        y, predicted, p = simulate(seed, shift=shift)
        sample = choose(y, predicted, p, 80, np.random.default_rng(seed))
        inference = PredictionPowered(p, sample, 0.9)
        for measure in (accuracy, balanced_accuracy, roc_auc):
            found = inference.estimate(functools.partial(measure, predicted), is_share=True)
            truth = measure(predicted, np.eye(2)[y]).value
            covered.append(found.low <= truth <= found.high)
            errors.append(found.value - truth)
    assert np.mean(covered) > 0.88
    assert np.abs(np.reshape(errors, (-1, 3)).mean(axis=0)).max() < 0.012


def test_good_probabilities_narrow_the_interval():
    y, predicted, p = simulate(0, n=5000, spread=8)
    sample = at_random(y, predicted, p, 100, np.random.default_rng(0))
    score = functools.partial(accuracy, predicted)
    widths = []
    for probabilities in (p, np.full_like(p, 0.5)):
        found = PredictionPowered(probabilities, sample, 0.95).estimate(score, is_share=True)
        widths.append(found.high - found.low)
    assert widths[0] < 0.9 * widths[1]


def test_without_information_it_is_wilsons_interval():
    y, predicted, p = simulate(1, n=100_000)
    sample = at_random(y, predicted, p, 400, np.random.default_rng(0))
    found = PredictionPowered(np.full_like(p, 0.5), sample, 0.95).estimate(
        functools.partial(accuracy, predicted), is_share=True
    )
    right = (predicted.labels == y)[sample.rows]
    assert found.value == pytest.approx(right.mean(), abs=1e-3)
    wilson = proportion_confint(right.sum(), 400, method="wilson")
    assert (found.low, found.high) == pytest.approx(wilson, abs=2e-3)


def test_with_all_rows_checked_the_value_is_exact():
    y, predicted, p = simulate(2, n=300)
    sample = CheckedSample(np.arange(300), y, np.repeat([1, 0.999], 150), np.repeat([0, 1], 150))
    found = PredictionPowered(p, sample, 0.95).estimate(functools.partial(accuracy, predicted))
    assert found.value == pytest.approx((predicted.labels == y).mean())
    assert found.sampling_variance < 1e-5


def test_few_rows_of_a_rare_class():
    """A sample without the class leaves a part of it, and a wide interval."""
    y, predicted, p = simulate(3)
    rare = CheckedSample(rows := np.flatnonzero(y == 0)[:30], y[rows], np.full(30, 0.03), np.ones(30, int))
    inference = PredictionPowered(p, rare, 0.95)
    assert inference.labels.sum(axis=0).min() >= 0.3 * p.sum(axis=0).min()
    found = inference.estimate(functools.partial(balanced_accuracy, predicted), is_share=True)
    assert 0 <= found.low < found.value < found.high <= 1


def test_more_rows_narrow_the_interval():
    y, predicted, p = simulate(4, n=20_000)
    half_widths = []
    for n in (100, 400):
        sample = at_random(y, predicted, p, n, np.random.default_rng(0))
        inference = PredictionPowered(p, sample, 0.95)
        found = inference.estimate(functools.partial(accuracy, predicted))
        half_widths.append(((found.high - found.low) / 2, inference.half_width(found, 300)))
    assert half_widths[0][1] == pytest.approx(half_widths[1][0], rel=0.15)


def test_without_checked_rows():
    y, predicted, p = simulate(5)
    other = np.full_like(p, 0.5)
    score = functools.partial(accuracy, predicted)
    found = Scenarios([p, other], 0, 0.95).estimate(score, is_share=True)
    values = [score(labels).value for labels in (p, other)]
    assert found.value == values[0]
    assert found.low < min(values) < max(values) < found.high
    alone = Scenarios([p], 0, 0.95).estimate(score, is_share=True)
    n, share = y.size, values[0]
    assert (alone.high - alone.low) / 2 == pytest.approx(1.96 * np.sqrt(share * (1 - share) / n), rel=1e-3)
