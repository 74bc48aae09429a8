import numpy as np
import pytest
from matplotlib.colors import to_hex

from boostnoise.eval.config.figures import FigureOptions
from boostnoise.eval.plotting.styles import COLOURS, MARKERS, line_style
from boostnoise.eval.report.html.styles import (
    DARK_PAGE,
    HEAT_STEPS,
    contrast,
    heat_map_css,
    heat_steps,
    lighten,
    model_css,
    plotly_style,
)


def style(**own):
    return plotly_style(0, 1, FigureOptions(plot_kwargs=[own] if own else []))


@pytest.mark.parametrize("n", [1, 7, 40])
def test_models_have_the_styles_of_the_figures(n):
    styles = [plotly_style(i, n, FigureOptions()) for i in range(n)]
    for i, found in enumerate(styles):
        assert found["colour"] == to_hex(line_style(i, n, FigureOptions())["color"])
    assert len({(one["colour"], one["symbol"], one["dash"]) for one in styles}) == n
    assert len({one["path"] for one in styles}) == min(n, len(MARKERS))  # an outline for each of our markers


def test_colour_maps_and_own_arguments():
    options = FigureOptions(
        fig_cmap="viridis", plot_kwargs=[{}, {"c": "red", "ls": "--", "lw": 3, "mfc": "none"}]
    )
    first, second = (plotly_style(i, 2, options) for i in range(2))
    assert first["colour"] == to_hex(line_style(0, 2, options)["color"])
    assert (second["colour"], second["dash"], second["width"], second["symbol"]) == (
        "#ff0000",
        "dash",
        4.0,
        "square-open",
    )


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"linestyle": "dotted"}, {"dash": "dot"}),
        ({"linestyle": [0, [2, 1]], "linewidth": 3}, {"dash": "8px,4px", "stroke": "8 4"}),
        ({"linestyle": "None"}, {"dash": None}),
        ({"marker": "None"}, {"symbol": None}),
        ({"marker": "$x$"}, {"symbol": "circle"}),
        ({"marker": 4}, {"symbol": "circle"}),
        ({"color": [1, 0, 0, 0.5], "alpha": 0.5}, {"colour": "#ff0000", "opacity": 0.25}),
        ({"drawstyle": "steps-post"}, {"shape": "hv"}),
    ],
)
def test_arguments_of_matplotlib_become_those_of_plotly(own, expected):
    found = style(**own)
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize("colour", [*COLOURS, "#000000", "#ffffff", "#0000ff"])
def test_colours_can_be_seen_on_a_dark_page(colour):
    assert contrast(lighten(colour), DARK_PAGE) >= 4.5


def test_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert contrast("#ffffff", "#777777") == contrast("#777777", "#ffffff")


@pytest.mark.parametrize("name", [None, "viridis", "Reds", "jet"])
def test_text_on_the_heat_map_is_legible(name):
    rules = heat_map_css(FigureOptions(fig_cmap=name)).splitlines()
    assert len(rules) == HEAT_STEPS
    for rule in rules:
        background, text = rule.split("background:")[1].rstrip("}").split(";color:")
        assert contrast(background, text) >= 4.5


def test_the_best_is_in_the_last_step_and_missing_values_in_none():
    values = np.array([[0.5, 0.75, np.nan], [1.0, 0.6, 0.7]])
    steps = heat_steps(values, higher_is_better=True)
    assert steps[1, 0] == HEAT_STEPS - 1
    assert steps[0, 0] == 0
    assert steps[0, 2] == -1
    assert heat_steps(values, higher_is_better=False)[0, 0] == HEAT_STEPS - 1
    assert (heat_steps(np.full((2, 2), np.nan), higher_is_better=True) == -1).all()
    assert len(set(heat_steps(np.full((2, 2), 0.3), higher_is_better=True).ravel())) == 1


def test_an_outlier_does_not_affect_other_colours():
    values = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 60.0]])
    steps = heat_steps(values, higher_is_better=False)[0]
    assert (np.diff(steps) < 0).all()
    assert steps[0] - steps[4] > HEAT_STEPS / 2


def test_styles_hold_nothing_but_colours():
    css = model_css([style(), style(color="red")])
    assert ".m1{--c:#ff0000}" in css
    assert "<" not in css
