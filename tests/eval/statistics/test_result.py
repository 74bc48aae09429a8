import dataclasses
import math

import pandas as pd
import pytest

from boostnoise.eval._wording import counted, joined, listed, p_text, sentence
from boostnoise.eval.statistics import result
from boostnoise.eval.statistics.result import format_table, too_few_remark


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
    assert [joined("abc", limit) for limit in (2, 3)] == ["a, b, ...", "a, b, c"]


@pytest.mark.parametrize(
    ("n", "noun", "test", "needed", "remark"),
    [
        (1, "repeat", "a band", 3, "One repeat is too few for a band; at least three repeats are needed."),
        (
            2,
            "data set",
            "a test",
            12,
            "Two data sets are too few for a test; at least 12 data sets are needed.",
        ),
        (0, "data set", "a test", 1, "There is no data set for a test; at least one data set is needed."),
    ],
)
def test_too_few_remark(n, noun, test, needed, remark):
    assert too_few_remark(n, noun, test, needed) == remark


def test_a_result_is_frozen():
    frozen = result.TestResult(n_datasets=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        frozen.remark = "other"


def test_tables_as_text():
    assert format_table(pd.DataFrame({"a": []})) == ""
    assert format_table(pd.DataFrame({"a": [0.12345]})).split() == ["a", "0.1235"]
