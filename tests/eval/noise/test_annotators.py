import sys

import numpy as np
import pytest

from boostnoise.eval import AnnotatorNoise, SoftLabels
from boostnoise.eval.noise.annotators import agreement, dawid_skene, majority, vote_shares

ANSWERS = np.array([[0, 1, -1], [1, 1, 0], [-1, -1, 2], [-1, -1, -1]])
Y = np.array([0, 1, 2, 1])


def test_labels_are_drawn_from_the_annotators_of_a_row():
    noise = AnnotatorNoise(ANSWERS)
    drawn = np.array([noise.corrupt(Y, classes=range(3), random_state=seed).labels for seed in range(600)])
    shares = [(drawn[:, 0] == 1).mean(), (drawn[:, 1] == 0).mean()]
    assert shares == pytest.approx([1 / 2, 1 / 3], abs=0.06)
    assert (drawn[:, 2] == 2).all()
    assert (drawn[:, 3] == 1).all()  # nobody labelled it
    assert noise.corrupt(Y, classes=range(3), random_state=0).noise_rate == pytest.approx((1 / 2 + 1 / 3) / 4)
    again = noise.corrupt(Y, classes=range(3), random_state=3).labels
    assert (again == drawn[3]).all()


def test_the_identity_is_that_of_the_labels():
    assert AnnotatorNoise(ANSWERS).identity == AnnotatorNoise(ANSWERS.tolist()).identity
    assert AnnotatorNoise(ANSWERS).identity != AnnotatorNoise(ANSWERS[::-1]).identity


def test_another_number_of_rows():
    with pytest.raises(ValueError, match=r"answers must have shape \(2, n_annotators\), got \(4, 3\)"):
        AnnotatorNoise(ANSWERS).corrupt([0, 1])


def test_agreement():
    assert agreement(ANSWERS, Y).tolist() == pytest.approx([1 / 2, 2 / 3, 1, 1])


def test_majority_with_ties_at_random():
    assert majority(ANSWERS, 3).tolist()[1:] == [1, 2, -1]
    tied = majority(np.tile([0, 2], (1000, 1)), 3)
    assert np.bincount(tied, minlength=3).tolist() == pytest.approx([500, 0, 500], abs=60)
    assert (tied == majority(np.tile([0, 2], (1000, 1)), 3)).all()


def test_shares_of_votes():
    shares = vote_shares(ANSWERS, 3)
    assert shares[:3].tolist() == [[0.5, 0.5, 0], pytest.approx([1 / 3, 2 / 3, 0]), [0, 0, 1]]
    assert np.isnan(shares[3]).all()


def test_soft_labels():
    p = np.array([[0.5, 0.5, 0], [0, 0.25, 0.75], [0, 0, 1], [np.nan] * 3])
    soft = SoftLabels(p)
    rows, labels, weights = soft.copies([2, 0, 1])
    assert rows.tolist() == [2, 0, 0, 1, 1]
    assert labels.tolist() == [2, 0, 1, 1, 2]
    assert weights.tolist() == [1, 0.5, 0.5, 0.25, 0.75]
    assert soft.wrong_share(Y, np.array([0, 1, 2])) == pytest.approx((0.5 + 0.75 + 0) / 3)
    noisy, y_test = soft.corrupt_split(Y, np.array([0, 1, 2]), np.array([3]), noise_on="train+test")
    assert noisy.labels.tolist() == [0, 2, 2]
    assert noisy.noise_rate == pytest.approx((0.5 + 0.75 + 0) / 3)
    assert y_test.tolist() == [1]
    assert soft.identity == SoftLabels(p.tolist()).identity != SoftLabels(p[::-1]).identity
    with pytest.raises(ValueError, match=r"probabilities must have shape \(2, 2\), got \(4, 3\)"):
        soft.corrupt([0, 1])


def test_dawid_skene_against_its_definition():
    """EM with majority votes as the first estimate; one step of it from the result changes nothing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    accuracy = np.array([0.95, 0.9, 0.5, 0.4, 0.6])
    wrong = (y[:, None] + rng.integers(1, 3, (400, 5))) % 3
    answers = np.where(rng.random((400, 5)) < accuracy, y[:, None], wrong)
    answers[rng.random((400, 5)) < 0.3] = -1
    answers[7] = -1
    p = dawid_skene(answers, 3)
    assert np.isnan(p[7]).all()
    used = (answers >= 0).any(axis=1)
    log_p = np.log(p[used].mean(axis=0)) * np.ones((used.sum(), 1))
    for of_one in answers[used].T:
        confusion = np.array([p[used][of_one == k].sum(axis=0) for k in range(3)])
        log_confusion = np.log(np.maximum(confusion / confusion.sum(axis=0), 1e-10))
        log_p += np.where(of_one[:, None] >= 0, log_confusion[of_one], 0.0)
    expected = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.abs(p[used] - expected).max() < 0.02
    assert (p[used].argmax(axis=1) == y[used]).mean() > (majority(answers, 3)[used] == y[used]).mean() + 0.02


def test_a_class_that_nobody_names():
    p = dawid_skene(np.array([[0, 0], [2, 2], [0, -1]]), 3)
    assert p.shape == (3, 3)
    assert p.argmax(axis=1).tolist() == [0, 2, 0]


def test_without_crowd_kit(monkeypatch):
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", None)
    with pytest.raises(ImportError):
        dawid_skene(ANSWERS, 3)
