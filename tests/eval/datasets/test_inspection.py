import numpy as np
import pandas as pd
import pytest

from boostnoise.eval.datasets.inspection import (
    describe_numbers_as_text,
    find_date_format,
    find_label_variants,
    find_leaks,
    has_decimal_commas,
    has_thousands,
    parse_dates,
    stray_values,
)
from boostnoise.eval.errors import ConfigError

NUMBERS = pd.Series([str(i) for i in range(40)], name="age")


def test_numbers_that_are_text():
    column = NUMBERS.mask(NUMBERS.index % 10 == 3, "?").mask(NUMBERS.index == 5, "none")
    assert stray_values(column) == ["?", "none"]
    assert describe_numbers_as_text(column) == (
        "column 'age' is text, because 5 of 40 values are not numbers: '?', 'none'; if they stand for missing "
        'values, set "missing_values"'
    )
    commas = NUMBERS + ",5"
    assert has_decimal_commas(commas)
    assert describe_numbers_as_text(commas).endswith('its numbers have decimal commas; set "decimal": ","')
    few = (10 * NUMBERS.astype(int)).astype(str).mask(NUMBERS.index > 30, "-1,020").mask(NUMBERS.index > 35)
    for column in (few, few.mask(NUMBERS.index < 35, "17,020,300")):
        assert has_thousands(column)
        assert not has_decimal_commas(column)
        assert has_decimal_commas(few.mask(few == few, "17,020"), ";")
        assert "remove them if they separate thousands" in describe_numbers_as_text(column)
    for decimals in ("0,123", "1,02", "1020,123", "1,0201"):  # one such value tells
        assert not has_thousands(few.mask(NUMBERS.index == 32, decimals))
    assert not has_thousands(NUMBERS)


@pytest.mark.parametrize(
    "column",
    [NUMBERS.astype(int), NUMBERS, pd.Series(list("abc1")), pd.Series([None, None]), pd.Series(["a", 1])],
)
def test_columns_without_strays(column):
    assert stray_values(column) == []
    assert describe_numbers_as_text(column) == ""


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["2026-11-22", None, "2025-01-31"], (True, None)),
        (["2026-11-22 10:30", "2025-01-31"], (True, None)),
        (["22.11.2026", "1.2.2025"], (True, "%d.%m.%Y")),
        (["22/11/2026", "01/02/2025"], (True, "%d/%m/%Y")),
        (["11/22/2026", "01/02/2025"], (True, "%m/%d/%Y")),
        (["22.11.2026 10:30"], (True, "%d.%m.%Y %H:%M")),
        (["2026-11-22", "soon"], (False, None)),
        (["1.2", "3.4"], (False, None)),
        (["10-20-30"], (False, None)),
        ([1, 2], (False, None)),
        ([None], (False, None)),
    ],
)
def test_dates_are_recognised(values, expected):
    column = pd.Series(values, name="day")
    assert find_date_format(column) == expected
    if expected[0]:
        dates = parse_dates(column, expected[1], "x")
        assert dates.isna().tolist() == column.isna().tolist()
        assert dates.dtype.kind == "M"


def test_values_that_are_no_dates():
    with pytest.raises(ConfigError, match="x: column 'day' has 'soon', which is no date in the ISO format"):
        parse_dates(pd.Series(["2026-11-22", "soon"], name="day"), None, "x")
    with pytest.raises(ConfigError, match="has '2026-11-22', which is no date of the format '%d'"):
        parse_dates(pd.Series(["2026-11-22"], name="day"), "%d", "x")
    with pytest.raises(ConfigError, match="x: date_format '%Q': 'Q' is a bad directive"):
        parse_dates(pd.Series(["2026-11-22"], name="day"), "%Q", "x")


def test_leaks():
    rng = np.random.default_rng(0)
    labels = pd.Series(rng.choice(["a", "b", "c"], 600, p=[0.2, 0.3, 0.5]))
    codes = labels.map({"a": 2.0, "b": 0.0, "c": 1.0})
    almost = codes.mask(codes.index == 3, 7.0)
    features = pd.DataFrame(
        {
            "copy": labels,
            "code": almost + rng.uniform(0, 0.5, 600),
            "missing": codes.mask(codes == 1),
            "good": codes + rng.normal(size=600),
            "noise": rng.normal(size=600),
            "infinite": codes.mask(codes == 1, np.inf),
            "id": [f"row {i}" for i in range(600)],
        }
    )
    assert find_leaks(features, labels) == ["copy", "code", "missing"]
    rare = pd.Series([1] * 4 + [0] * 596)
    assert find_leaks(pd.DataFrame({"x": rng.normal(size=600), "y": rare}), rare) == ["y"]
    names = pd.Series([f"row {i}" for i in range(600)])  # the wrong column of labels
    assert find_leaks(pd.DataFrame({"copy": names}), names) == []


def test_one_class_has_no_leaks():
    assert find_leaks(pd.DataFrame({"x": range(50)}), pd.Series(["yes"] * 50)) == []


def test_label_variants():
    labels = pd.Series(["Yes", "no", "yes ", "YES", None, "maybe", "ma ybe", "No"])
    assert find_label_variants(labels) == [["Yes", "yes ", "YES"], ["no", "No"]]
    assert find_label_variants(pd.Series([0, 1])) == []
