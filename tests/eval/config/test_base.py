import math
import tracemalloc
from typing import Annotated, Literal

import pytest
from pydantic import Field

from boostnoise.eval.config.base import Strict, check_json, validate
from boostnoise.eval.errors import ConfigError


class Inner(Strict):
    size: int


class Outer(Strict):
    inner: list[Inner]


def test_a_problem_names_its_place_and_the_allowed_keys():
    with pytest.raises(ConfigError) as error:
        validate(Outer, {"inner": [{"size": 1}, {"size": 1.5, "sise": 2}]})
    lines = str(error.value).splitlines()
    assert lines == [
        "inner[1].size: must be an integer, got 1.5",
        "inner[1].sise: unexpected key (did you mean 'size'?); allowed keys: size",
    ]


class Round(Strict):
    kind: Literal["round"]
    inner: Inner


class Square(Strict):
    kind: Literal["square"]
    side: float


class Shapes(Strict):
    shapes: list[Annotated[Round | Square, Field(discriminator="kind")]]


def test_kinds_of_objects_are_no_part_of_a_place():
    shapes = [{"kind": "round", "inner": {"size": "1", "x": 1}}, {"kind": "square"}, {}, {"kind": "flat"}, 3]
    with pytest.raises(ConfigError) as error:
        validate(Shapes, {"shapes": shapes})
    assert str(error.value).splitlines() == [
        'shapes[0].inner.size: must be an integer, got "1"',
        "shapes[0].inner.x: unexpected key; allowed keys: size",
        "shapes[1].side: required key is missing",
        "shapes[2].kind: required key is missing",
        "shapes[3].kind: must be one of 'round', 'square', got \"flat\"",
        "shapes[4]: must be a JSON object, got 3",
    ]


def test_a_key_with_control_characters_stays_on_its_line():
    with pytest.raises(ConfigError) as error:
        validate(Outer, {"inner": [], "a\nb": 1})
    assert "\n" not in str(error.value)


def test_long_names_are_cut_and_not_repeated_for_each_value():
    """The paths of these values would have a GB."""
    name = "x" * 100_000
    content = {name: [{"a": [0] * 100} for _ in range(100)]}
    tracemalloc.start()
    check_json(content)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()
    content[name][3]["a"][7] = math.inf
    with pytest.raises(ConfigError) as error:
        check_json(content)
    assert str(error.value) == f"{'x' * 79}…[3].a[7]: must be a finite number, got inf"
    with pytest.raises(ConfigError, match=r"^x{79}…: unexpected key; allowed keys: inner$"):
        validate(Outer, {"inner": [], name: 1})
