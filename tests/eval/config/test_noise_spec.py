import numpy as np
import pytest

from boostnoise.eval import ByClassNoise, ClassConditionalNoise, MahalanobisNoise, PairFlipNoise, UniformNoise
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.errors import ConfigError

GIVEN = {"kind": "given", "labels": ["expert"]}
LABELLED = {"path": "a.csv", "target": "y", "noisy": {"expert": "expert", "crowd": 3}}


def parse(*noise, datasets=("iris", LABELLED)):
    return parse_config({"datasets": list(datasets), "models": ["gbm"], "noise": list(noise)}, "run").noise


def test_levels():
    uniform, pair_flip = parse(
        {"kind": "uniform", "rates": [0.3, 0, 0.1]}, {"kind": "pair_flip", "rates": [1, 0.2]}
    )
    assert uniform.noise_by_rate == [(0, UniformNoise(0.0)), (0.1, UniformNoise(0.1)), (0.3, UniformNoise(0.3))]
    assert pair_flip.noise_by_rate == [
        (0, UniformNoise(0.0)),
        (0.2, PairFlipNoise(0.2)),
        (1, PairFlipNoise(1.0)),
    ]


def test_the_rate_of_class_conditional_noise_is_the_mean_over_classes():
    cyclic = (0.4 * np.eye(3) + 0.6 * np.roll(np.eye(3), 1, axis=1)).tolist()
    (spec,) = parse({"kind": "class_conditional", "rates": [cyclic, [0.1, 0.7], [0.1, 0.3], [0, 0]]})
    assert [rate for rate, _ in spec.noise_by_rate] == [0, 0.2, 0.4, 0.6]
    assert [noise for _, noise in spec.noise_by_rate[1:]] == [
        ClassConditionalNoise(T) for T in ([0.1, 0.3], [0.1, 0.7], cyclic)
    ]


def test_rates_of_noise_by_class():
    assert parse({"kind": "by_class", "rates": [0.2]})[0].noise_by_rate[1:] == [(0.2, ByClassNoise(0.2))]


def test_mahalanobis_noise_is_that_of_the_paper_by_default():
    assert parse({"kind": "mahalanobis"})[0].noise_by_rate[1:] == [(0.3, MahalanobisNoise())]
    assert parse({"kind": "mahalanobis", "rates": [0.6]})[0].rates == [0, 0.6]


def test_names_distinguish_kinds():
    rates = {"rates": [0.1]}
    noise = parse(
        {"kind": "uniform", **rates},
        {"kind": "uniform", "noise_on": "train+test", **rates},
        {"kind": "uniform", "name": "mine", **rates},
        {"kind": "label", **rates},
        {"kind": "label", "noise_on": "train", **rates},
        GIVEN,
        {**GIVEN, "labels": ["crowd"], "noise_on": "train+test"},
    )
    assert [spec.name for spec in noise] == [
        "uniform", "uniform (train+test)", "mine", "label", "label (train)", "given (expert)",
        "given (crowd, train+test)",
    ]  # fmt: skip
    assert [spec.noise_on for spec in noise] == ["train", "train+test", "train", "train+test", "train", "train", "train+test"]  # fmt: skip


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ({"rates": [0.1]}, "noise[0].kind: required key is missing"),
        ({"kind": "unform", "rates": [0.1]}, "noise[0].kind: must be one of 'uniform', 'by_class', 'class_conditional', 'mahalanobis', 'pair_flip', 'instance_dependent', 'by_row', 'audited', 'label', 'given', 'function' (did you mean 'uniform'?), got \"unform\""),
        ({"kind": 3, "rates": [0.1]}, "noise[0].kind: must be one of"),
        ({"kind": ["uniform"]}, "noise[0].kind: must be one of"),
        ({"kind": "uniform"}, "noise[0].rates: required key is missing"),
        ({"kind": "uniform", "rate": 0.1, "rates": [0.1]}, "noise[0].rate: unexpected key (did you mean 'rates'?); allowed keys: kind, name, noise_on, rates"),
        ({"kind": "uniform", "rates": ["0.1"]}, 'noise[0].rates[0]: must be a number, got "0.1"'),
        ({"kind": "uniform", "rates": [0.1], "noise_on": "test"}, "noise[0].noise_on: must be 'train' or 'train+test', got \"test\""),
        ({"kind": "uniform", "rates": [0.1], "name": "a\nb"}, "noise[0].name: must be printable"),
        ({"kind": "mahalanobis", "rates": [0.7]}, "noise[0].rates[0]: must be less than or equal to 0.6, got 0.7"),
        ({"kind": "by_class", "rates": [0.6]}, "noise[0].rates[0]: must be less than or equal to 0.5, got 0.6"),
        ({"kind": "audited", "rates": [0.6]}, "noise[0].rates[0]: must be less than or equal to 0.5, got 0.6"),
        ({"kind": "audited", "rates": [0.1], "noise_on": "train+test"}, "noise[0].noise_on: must be 'train', got \"train+test\""),
        ({"kind": "class_conditional", "rates": [0.1]}, "noise[0].rates[0]: must be a pair of probabilities"),
        ({"kind": "class_conditional", "rates": [["0.1", "0.3"]]}, "noise[0].rates[0]: must be a pair of probabilities"),
        ({"kind": "class_conditional", "rates": [[0.1, 0.3], [[1, 0], [0.2, 0.7]]]}, "noise[0].rates[1]: must be a pair of probabilities"),
        ({"kind": "class_conditional", "rates": [[0.9, 0.1], [0.3, 0.7]]}, "noise[0].rates: has the mean rates [0.5, 0.5], but tables identify rates by their means"),
        ({"kind": "class_conditional", "rates": []}, "noise[0].rates: must have at least 1 item"),
        ({"kind": "given"}, "noise[0].labels: required key is missing"),
        ({"kind": "given", "labels": []}, "noise[0].labels: must have at least 1 item"),
        ({"kind": "given", "labels": ["crowd", "crowd"]}, "noise[0].labels: must not have duplicates"),
        ({**GIVEN, "rates": [0.1]}, "noise[0].rates: unexpected key (did you mean 'rate'?); allowed keys: kind, name, noise_on, labels, rate"),
        ({**GIVEN, "rate": 0}, "noise[0].rate: must be greater than 0, got 0"),
        ({"kind": "given", "labels": ["exprt"]}, "no data set has noisy labels 'exprt' (did you mean 'expert'?); noisy labels: crowd, expert"),
    ],
)  # fmt: skip
def test_mistakes(refusal, noise, message):
    assert message in refusal(parse, noise)


def test_columns_that_the_same_data_sets_have_are_one_curve():
    both, other = {"kind": "given", "labels": ["expert", "crowd"]}, {**LABELLED, "name": "other"}
    for datasets in ([LABELLED], ["iris", LABELLED, other]):
        noise = [both, {"kind": "uniform", "rates": [0.1]}]
        assert [spec.name for spec in parse(*noise, datasets=datasets)] == ["given", "uniform"]
    (spec,) = parse({**both, "name": "real"}, datasets=[LABELLED])
    assert (spec.name, spec.labels) == ("real", ["expert", "crowd"])


def test_other_labels_are_each_a_kind_of_its_own():
    both, lacking = {"kind": "given", "labels": ["expert", "crowd"]}, {**LABELLED, "name": "lacking"}
    lacking["noisy"] = {"expert": "expert"}
    sets = {"datasets": [LABELLED, lacking]}
    uniform = {"kind": "uniform", "rates": [0.1]}
    assert [(spec.name, spec.labels) for spec in parse(both, **sets)] == [
        ("given (expert)", ["expert"]), ("given (crowd)", ["crowd"]),
    ]  # fmt: skip
    assert [spec.name for spec in parse({**both, "noise_on": "train+test"}, uniform, **sets)] == [
        "given (expert, train+test)", "given (crowd, train+test)", "uniform",
    ]  # fmt: skip
    assert [spec.name for spec in parse({**both, "name": "real"}, {**GIVEN, "name": "own"}, uniform, **sets)] == [
        "real (expert)", "real (crowd)", "own", "uniform",
    ]  # fmt: skip
    with pytest.raises(ConfigError, match=r"two noise objects are named 'given \(expert\)'"):
        parse(both, GIVEN, **sets)
    assert len(parse({**both, "rate": 0.2}, datasets=[LABELLED])) == 2
    annotated = {**LABELLED, "annotators": ["ann", "bob", "cid"]}
    assert len(parse({**both, "labels": ["expert", "majority"]}, datasets=[annotated])) == 2


def test_every_data_set_has_cells():
    with pytest.raises(ConfigError, match="data set 'iris' has no cells: it has none of the noisy labels"):
        parse(GIVEN)
    with pytest.raises(ConfigError, match="data set 'iris' has no cells"):
        parse(GIVEN, {**GIVEN, "noise_on": "train+test"})
    with pytest.raises(ConfigError, match="no data set has noisy labels 'expert'; no data set has any"):
        parse(GIVEN, datasets=["iris"])


def test_two_of_a_name():
    with pytest.raises(ConfigError, match="two noise objects are named 'x'"):
        parse({"kind": "uniform", "rates": [0.1], "name": "x"}, {**GIVEN, "name": "x"})
