import pytest
from matplotlib.figure import Figure

from boostnoise.eval.plotting.mathtext import text_of


def test_names_wrap():
    assert text_of("word " * 4, wrap_at=10) == "word word\nword word"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain", "plain"),
        ("$\\gamma = 1$", "$\\gamma = 1$"),
        ("5 $", "5 \\$"),
        ("$\\nonsense{$", "\\$\\nonsense{\\$"),
        ("cost $5 and $6", "cost $5 and $6"),
    ],
)
def test_latex_in_names(name, shown):
    assert text_of(name) == shown
    figure = Figure()
    figure.text(0, 0, text_of(name))
    figure.draw_without_rendering()
