import math

import pytest

from boostnoise.eval._wording import counted, distinct_numbers, joined, listed, p_text, sentence, wrap_sentences


@pytest.mark.parametrize(
    ("pair", "texts"),
    [
        ((0.1494, 0.1491), ("0.1494", "0.1491")),
        ((0.149, 0.151), ("0.149", "0.151")),
        ((0.12345678, 0.12345679), ("0.123457", "0.123457")),
        ((1.0, 1.0), ("1.000000", "1.000000")),
    ],
)
def test_numbers_that_are_told_apart(pair, texts):
    assert distinct_numbers(*pair) == texts


def test_sentences_are_wrapped_and_tables_are_not():
    text = f"A short one.\n{'word ' * 30}end.\n{'cell ' * 30}"
    wrapped = wrap_sentences(text).split("\n")
    assert wrapped[0] == "A short one."
    assert wrapped[-1] == "cell " * 30
    assert all(len(line) <= 88 for line in wrapped[:-1])
    assert " ".join(wrapped[1:-1]) == "word " * 30 + "end."
    assert wrap_sentences("x" * 100 + " y.") == "x" * 100 + "\ny."


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
