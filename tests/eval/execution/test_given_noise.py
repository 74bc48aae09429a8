import dataclasses
import sys

import numpy as np
import pytest

from boostnoise.eval import AnnotatorNoise, GivenNoise, SoftLabels
from boostnoise.eval.config.noise_spec import GivenSpec
from boostnoise.eval.datasets.dataset import Dataset
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.execution.given_noise import given_noise

Y = np.array([0, 1, 2] * 2 + [0, 1])
CLASSES = np.array(["a", "b", "c"])
ONE = Dataset("one", np.zeros((8, 1)), Y, CLASSES, noisy={"rule": np.array([0, 1, 2, 0, 1, 2, 2, 0])})
OTHER = dataclasses.replace(ONE, name="other", noisy={"rule": np.roll(Y, 1), "web": np.where(Y == 2, 0, Y)})
CROWD = dataclasses.replace(
    ONE, name="crowd", noisy={}, answers=np.column_stack([Y, np.where(Y == 2, 0, Y), np.where(Y > 0, -1, Y)])
)


def noise(labels, *datasets, **keys):
    spec = GivenSpec.model_validate({"kind": "given", "labels": labels.split(), **keys})
    return given_noise(spec, datasets)


def test_the_rate_is_the_mean_over_the_data_sets_that_have_the_labels():
    found = noise("rule", ONE, OTHER, CROWD)
    assert list(found) == ["one", "other"]
    assert [rate for rate, _ in found["one"]] == [0, pytest.approx((2 / 8 + 8 / 8) / 2)]
    assert [rate for rate, _ in found["other"]] == [rate for rate, _ in found["one"]]
    (_, given) = found["one"][1]
    assert isinstance(given, GivenNoise)
    assert given.corrupt(ONE.y, classes=range(3)).realised_rate == 0.25
    assert list(noise("web", ONE, OTHER)) == ["other"]


def test_several_labels_are_a_curve_in_the_order_of_their_rates():
    labels = {"bad": np.roll(Y, 1), "web": np.where(Y == 2, 0, Y), "rule": np.where(np.arange(8) > 0, Y, 1)}
    one, other = (dataclasses.replace(ONE, name=name, noisy=labels) for name in ("one", "other"))
    found = noise("bad web rule", one, other, CROWD)
    assert list(found) == ["one", "other"]
    for curve in found.values():
        assert [rate for rate, _ in curve] == [0, 1 / 8, 2 / 8, 8 / 8]
        assert [given.name for _, given in curve[1:]] == ["rule", "web", "bad"]
        assert [given.identity for _, given in curve[1:]] == [
            GivenNoise(labels[name]).identity for name in ("rule", "web", "bad")
        ]
    labels["rule"] = np.where(Y == 2, 1, Y)
    with pytest.raises(ConfigError, match=r"labels 'web' and 'rule' have the same noise rate, 0\.25; put each"):
        noise("bad web rule", one)


def test_the_rate_of_a_given_split_is_that_of_training_rows():
    labels = np.array([0, 1, 2, 0, 1, 0, -1, 0])
    split = dataclasses.replace(ONE, noisy={"rule": labels}, is_test=np.array([False] * 6 + [True] * 2))
    ((_, _), (rate, given)) = noise("rule", split)["one"]
    assert rate == pytest.approx(1 / 6)
    assert given.labels.tolist() == [0, 1, 2, 0, 1, 0, 0, 0]  # the true label where there is no other
    with pytest.raises(
        ConfigError, match="noise_on must be 'train', because data set 'one' has test rows without"
    ):
        noise("rule", split, noise_on="train+test")


def test_without_true_labels_there_is_no_rate_0():
    is_known = np.array([True] * 4 + [False] * 4)
    labels = np.array([0, 0, 2, 0, 1, 2, 0, 1])
    partly = dataclasses.replace(ONE, noisy={"rule": labels}, is_known=is_known, is_test=is_known)
    assert [rate for rate, _ in noise("rule", partly)["one"]] == [1 / 4]
    assert [rate for rate, _ in noise("rule", partly, rate=0.3)["one"]] == [0.3]
    same = dataclasses.replace(partly, noisy={"rule": np.where(is_known, Y, labels)})
    with pytest.raises(
        ConfigError, match=r"the noise rate is unknown, .* set 'rate', for example to an estimate"
    ):
        noise("rule", same)
    assert [rate for rate, _ in noise("rule", same, ONE, rate=0.3)["one"]] == [0, 0.3]


def test_labels_that_are_all_right():
    with pytest.raises(ConfigError, match="no label of 'rule' is wrong in data set 'one': they equal"):
        noise("rule", dataclasses.replace(ONE, noisy={"rule": Y}))


def test_labels_of_annotators():
    wrong_in_two = [(Y == 2).mean() / 2]
    one = noise("one_annotator", CROWD, ONE)
    assert list(one) == ["crowd"]
    assert isinstance(one["crowd"][1][1], AnnotatorNoise)
    assert one["crowd"][1][0] == pytest.approx(wrong_in_two[0])
    crowd = dataclasses.replace(CROWD, answers=CROWD.answers[:, [1, 2, 2]])
    for label in ("majority", "dawid_skene"):
        (_, (rate, given)) = noise(label, crowd)["crowd"]
        assert isinstance(given, GivenNoise)
        assert rate == (Y == 2).mean()
        assert given.labels.tolist() == np.where(Y == 2, 0, Y).tolist()


def test_two_annotators_do_not_identify_their_errors():
    two = dataclasses.replace(CROWD, answers=CROWD.answers[:, 1:])
    with pytest.warns(UserWarning, match="data set 'crowd' has two annotators, whose labels alone do not tell"):
        noise("dawid_skene", two)
    noise("majority", two)  # no warning


def test_soft_labels():
    (_, (rate, soft)) = noise("soft_majority", CROWD, ONE)["crowd"]
    assert isinstance(soft, SoftLabels)
    assert soft.probabilities[2].tolist() == [0.5, 0, 0.5]
    assert rate == pytest.approx((Y == 2).mean() / 2)
    (_, (rate, soft)) = noise("soft_dawid_skene", CROWD)["crowd"]
    assert soft.probabilities.sum(axis=1) == pytest.approx(np.ones(8))
    assert 0 < rate < 1


def test_crowd_kit_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", None)
    with pytest.raises(ConfigError, match=r"'dawid_skene' requires crowd-kit.*pip install crowd-kit"):
        noise("dawid_skene", CROWD)
