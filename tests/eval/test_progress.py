import io

from boostnoise.eval.progress import show_progress
from rich.console import Console


def test_plain_lines_where_there_is_no_terminal():
    out = io.StringIO()
    with show_progress(Console(file=out, width=100), "a [b]") as progress:
        for done in range(31):
            progress(done, 0, 30)
    lines = out.getvalue().splitlines()
    assert lines[0] == "a [b]: 0 of 30 cells done, 0 failed"
    assert lines[-1] == "a [b]: 30 of 30 cells done, 0 failed"
    assert len(lines) == 11


def test_a_bar_on_a_terminal():
    out = io.StringIO()
    with show_progress(Console(file=out, width=120, force_terminal=True), "a [b]") as progress:
        progress(10, 0, 30)
        progress(30, 2, 30)
    text = out.getvalue()
    assert "a [b]" in text
    assert "30/30" in text
    assert "2 failed" in text


def test_nothing_to_do():
    out = io.StringIO()
    with show_progress(Console(file=out, width=100), "run") as progress:
        progress(0, 0, 0)
    assert out.getvalue() == "run: 0 of 0 cells done, 0 failed\n"
