from boostnoise.eval._wording import wrap_sentences


def test_sentences_are_wrapped_and_tables_are_not():
    text = f"A short one.\n{'word ' * 30}end.\n{'cell ' * 30}"
    wrapped = wrap_sentences(text).split("\n")
    assert wrapped[0] == "A short one."
    assert wrapped[-1] == "cell " * 30
    assert all(len(line) <= 88 for line in wrapped[:-1])
    assert " ".join(wrapped[1:-1]) == "word " * 30 + "end."
    assert wrap_sentences("x" * 100 + " y.") == "x" * 100 + "\ny."
