import numpy as np
import pandas as pd
import pytest

from boostnoise.eval.config.dataset_spec import DatasetSpec
from boostnoise.eval.datasets.loader import load_dataset
from boostnoise.eval.errors import ConfigError

FRAME = pd.DataFrame(
    {
        "age": [30.0, 31, 40, 41, 50, 51, 60, 61],
        "patient": list("aabbccdd"),
        "trust": [1.0, 1, 2, 2, 0, 1, 1, 0.5],
        "part": ["train"] * 6 + ["test"] * 2,
        "ill": [0, 1, 0, 1, 0, 1, 0, 1],
    }
)


@pytest.fixture
def load(tmp_path):
    def read(frame=FRAME, **keys):
        path = tmp_path / "patients.csv"
        frame.to_csv(path, index=False)
        return load_dataset(DatasetSpec.model_validate({"path": str(path), "target": "ill", **keys}))

    return read


def test_groups_and_weights_are_no_features(load):
    dataset = load(group="patient", weight="trust", drop=["part"])
    assert dataset.columns == ("age",)
    assert dataset.groups.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert dataset.weights.tolist() == FRAME["trust"].tolist()
    some = dataset.take(np.array([1, 4]))
    assert (some.groups.tolist(), some.weights.tolist()) == ([0, 2], [1, 0])


def test_copies_stay_together(load):
    frame = FRAME.assign(age=[30.0, 31, 30, None, 50, None, 30, 61], patient=list("aaaabbab"))
    dataset = load(frame, copies="together", drop=["part", "trust"], missing="keep")
    assert dataset.groups.tolist() == [0, 1, 0, 2, 3, 4, 0, 5]
    assert load(frame, drop=["part", "trust"], missing="keep").groups is None
    frame["patient"] = "a"
    assert load(frame, copies="together", drop=["part", "trust"], missing="keep").groups.tolist() == [
        *(0, 1, 0, 2, 3, 2, 0, 4)
    ]
    assert load(copies="together", drop=["part"]).groups is None  # all rows differ
    with pytest.raises(
        ConfigError, match='all rows have the same features, so "copies" must not be "together"'
    ):
        load(FRAME.assign(age=1), copies="together", drop=["part", "trust", "patient"])


def test_noise_rates_are_no_features_and_no_part_of_the_fingerprint(load):
    keys = {"drop": ["part", "patient"]}
    dataset = load(rate_column="trust", **keys)
    assert dataset.columns == ("age",)
    assert dataset.noise_rates.tolist() == FRAME["trust"].tolist()
    assert dataset.take(np.array([2, 7])).noise_rates.tolist() == [2, 0.5]
    assert load(max_rows=4, rate_column="trust", **keys).noise_rates.size == 4
    assert dataset.fingerprint == load(drop=["part", "patient", "trust"]).fingerprint
    frame = FRAME.astype({"ill": "Int64"})
    frame.loc[2, "ill"] = None
    with pytest.warns(UserWarning, match="1 missing label"):
        assert load(frame, rate_column="trust", **keys).noise_rates.tolist() == [1, 1, 2, 0, 1, 1, 0.5]


def test_rows_without_a_label_take_their_groups_and_weights_along(load):
    frame = FRAME.astype({"ill": "Int64"})
    frame.loc[2, ["ill", "patient", "trust"]] = None
    with pytest.warns(UserWarning, match="1 missing label"):
        dataset = load(frame, group="patient", weight="trust", drop=["part"])
    assert dataset.groups.tolist() == [0, 0, 1, 2, 2, 3, 3]
    assert dataset.weights.tolist() == [1, 1, 2, 0, 1, 1, 0.5]


def test_they_are_part_of_the_fingerprint_but_names_are_not(load):
    keys = {"drop": ["part", "patient", "trust"]}
    renamed = FRAME.assign(patient=FRAME["patient"].str.upper())
    regrouped = FRAME.assign(patient=list("abababab"))
    prints = [
        load(frame, **keys, **more).fingerprint
        for frame in (FRAME, renamed, regrouped)
        for more in ({}, {"group": "patient"}, {"weight": "trust"})
    ]
    assert prints[:3] == prints[3:6]
    assert len({*prints[:3], prints[7]}) == 4


@pytest.mark.parametrize(
    ("change", "keys", "message"),
    [
        ({}, {"group": "patien"}, r"group 'patien' is not a column .did you mean 'patient'"),
        ({}, {"group": "ill"}, "group names the target 'ill'"),
        ({"patient": ["a", None, *"bbccdd"]}, {"group": "patient"}, "'patient' has 1 row without a group"),
        ({"patient": "a"}, {"group": "patient"}, "'patient' has a single group, 'a'"),
        ({}, {"weight": "patient"}, "'patient' must contain weights, which are numbers, found 'a'"),
        ({"trust": -1.0}, {"weight": "trust"}, "'trust' must contain weights from 0, without gaps, found -1"),
        ({"trust": [None] + [1.0] * 7}, {"weight": "trust"}, "without gaps, found nan"),
        ({"trust": [1.0, 0] * 4}, {"weight": "trust"}, "gives all rows of a class the weight 0"),
        ({}, {"rate_column": "patient"}, "'patient' must contain noise rates, which are numbers, found 'a'"),
        ({"trust": -1.0}, {"rate_column": "trust"}, "must contain noise rates from 0, without gaps, found -1"),
        ({"trust": 0.0}, {"rate_column": "trust"}, "'trust' gives all rows the noise rate 0"),
        ({}, {"rate_column": "ill"}, "rate_column names the target 'ill'"),
        ({"patient": list("aabbccda")}, {"group": "patient", "split": "part"}, "rows of 1 group among both"),
    ],
)
def test_errors(load, change, keys, message):
    with pytest.raises(ConfigError, match=message):
        load(FRAME.assign(**change), **keys)


def test_a_given_split_that_keeps_groups_together(load):
    assert load(group="patient", split="part", drop=["trust"]).is_test.sum() == 2
