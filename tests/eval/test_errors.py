from boostnoise.eval.errors import one_line


def test_one_line():
    assert one_line(ValueError("a\n  b\t\x1b[2Jc")) == "a b \N{REPLACEMENT CHARACTER}[2Jc"
    assert one_line(EOFError()) == "EOFError"
    error = "[18:42:35] /src/gbm.cc:24: Unknown gbm type gbtre\nStack trace:\n  [bt] (0) /lib/libxgboost.so(+0x2c1) [0x7f]"
    assert one_line(RuntimeError(error)) == "Unknown gbm type gbtre"
    assert one_line(ValueError("x" * 300)) == "x" * 300
    assert one_line(ValueError("x" * 301)) == "x" * 297 + "..."
