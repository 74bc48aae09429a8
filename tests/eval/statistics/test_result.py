import dataclasses
import math

import pandas as pd
import pytest

from boostnoise.eval._wording import counted, listed, p_text, sentence
from boostnoise.eval.statistics.result import Finding, aligned, checked_alpha, too_few


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (math.nan, "no p-value"),
        (0.0, "p < 0.001"),
        (0.00049, "p < 0.001"),
        (0.0006, "p = 0.001"),
        (0.03125, "p = 0.031"),
        (0.04996, "p = 0.0500"),
        (0.0504, "p = 0.0504"),
        (1.0, "p = 1.000"),
    ],
)
def test_p_values(p, text):
    assert p_text(p) == text


def test_numbers_and_lists():
    assert [counted(n, "data set") for n in (0, 1, 3, 10, 11)] == [
        "no data sets",
        "one data set",
        "three data sets",
        "ten data sets",
        "11 data sets",
    ]
    assert [listed(["a", "b", "c"][:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert sentence("it is") == "It is"


def test_too_few():
    assert (
        too_few(1, "repeat", "a band", 3)
        == "One repeat is too few for a band; it takes three repeats at least."
    )
    assert (
        too_few(2, "data set", "a test", 12)
        == "Two data sets are too few for a test; it takes 12 data sets at least."
    )
    assert (
        too_few(0, "data set", "a test", 1)
        == "There is no data set for a test; it takes one data set at least."
    )


def test_a_finding_is_frozen():
    finding = Finding(n_datasets=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        finding.remark = "other"


def test_tables_as_text():
    assert aligned(pd.DataFrame({"a": []})) == ""
    assert aligned(pd.DataFrame({"a": [0.12345]})).split() == ["a", "0.1235"]


def test_alpha():
    assert checked_alpha(0.01) == 0.01
    with pytest.raises(ValueError, match=r"^alpha must lie between 0 and 1, got 1$"):
        checked_alpha(1)


def test_a_level_of_significance_is_a_number():
    with pytest.raises(ValueError, match=r"^alpha must lie between 0 and 1, got '0.05'$"):
        checked_alpha("0.05")
