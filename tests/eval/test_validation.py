import pytest
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.validation import Strict, shown, validate


class Inner(Strict):
    size: int


class Outer(Strict):
    inner: list[Inner]


def test_a_problem_names_its_place_and_the_allowed_keys():
    with pytest.raises(ConfigError) as error:
        validate(Outer, {"inner": [{"size": 1}, {"size": 1.5, "sise": 2}]})
    lines = str(error.value).splitlines()
    assert lines == [
        "inner[1].size: must be a valid integer, got 1.5",
        "inner[1].sise: unknown key; allowed are size",
    ]


def test_a_key_with_control_characters_stays_on_its_line():
    with pytest.raises(ConfigError) as error:
        validate(Outer, {"inner": [], "a\nb": 1})
    assert "\n" not in str(error.value)


def test_long_values_are_cut():
    assert shown("x" * 100) == '"' + "x" * 56 + "..."
    assert shown([1, None, True]) == "[1, null, true]"
