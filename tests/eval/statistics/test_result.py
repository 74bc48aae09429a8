import dataclasses

import pandas as pd
import pytest

from boostnoise.eval.statistics import result
from boostnoise.eval.statistics.result import format_table, too_few_remark


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
