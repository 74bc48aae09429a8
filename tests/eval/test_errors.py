from boostnoise.eval.errors import one_line


def test_one_line():
    assert one_line(ValueError("a\n  b\t\x1b[2Jc")) == "a b \N{REPLACEMENT CHARACTER}[2Jc"
    assert one_line(EOFError()) == "EOFError"
    assert one_line(ValueError("x" * 300)) == "x" * 300
    assert one_line(ValueError("x" * 301)) == "x" * 297 + "..."
