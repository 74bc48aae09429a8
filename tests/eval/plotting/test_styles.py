import pytest

from boostnoise.eval.config.figure_options import FigureOptions
from boostnoise.eval.config.line_styles import check_figures, check_options
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.plotting.styles import look_of, looks_of, options_of


def test_looks_differ():
    looks = {tuple(look_of(i, 60, FigureOptions()).values()) for i in range(60)}
    assert len(looks) == 60


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fig_cmap": "viridys"}, "ela_fig.fig_cmap: unknown colour map 'viridys'"),
        (
            {"plot_kwargs": [{"markr": "s"}]},
            r"ela_fig.plot_kwargs\[0\]: unknown key 'markr'; allowed are alpha, color",
        ),
        ({"plot_kwargs": [{"url": "javascript:alert(1)"}]}, r"ela_fig.plot_kwargs\[0\]: unknown key 'url'"),
        ({"plot_kwargs": [{"marker": "nonsense"}]}, r"plot_kwargs\[0\]: .* cannot be drawn"),
        ({"plot_kwargs": [{"color": "red", "c": "blue"}]}, r"plot_kwargs\[0\]: .* cannot be drawn"),
        ({"plot_kwargs": [{"color": "nonsense"}]}, r"plot_kwargs\[0\]: .* cannot be drawn"),
        ({"plot_kwargs": [{"alpha": 7}]}, r"plot_kwargs\[0\]: .* cannot be drawn"),
    ],
)
def test_options_that_cannot_be_drawn(options, message):
    with pytest.raises(ConfigError, match=message):
        check_options(FigureOptions(**options), "ela_fig")


def test_both_figures_are_checked():
    content = {"datasets": ["iris"], "models": ["gbm"], "noise": [{"kind": "uniform", "rates": [0.1]}]}
    for name in ("ela_fig", "rla_fig"):
        with pytest.raises(ConfigError, match=f"{name}.fig_cmap"):
            check_figures(parse_config({**content, name: {"fig_cmap": "no"}}, "run"))


def test_looks_follow_from_the_place_among_all():
    everyone = looks_of(["a", "b", "c"], FigureOptions())
    assert looks_of(["a", "b", "c"], FigureOptions(), ["c", "a"]) == {name: everyone[name] for name in "ca"}
    assert [look["gid"] for look in everyone.values()] == ["model-0", "model-1", "model-2"]
    assert everyone["b"]["color"] == look_of(1, 3, FigureOptions())["color"]


def test_size_and_title_are_of_one_picture(small_config):
    figure = {"fig_size": [3, 4], "fig_title": "mine", "fig_dpi": 90, "fig_cmap": "viridis"}
    config = small_config(ela_fig=figure)
    assert options_of(config, "ela") == config.ela_fig
    assert options_of(config, "rla") == config.rla_fig
    assert options_of(config, "rla_by_dataset") == config.rla_fig
    for kind in ("ela_by_dataset", "heatmap"):
        assert options_of(config, kind) == FigureOptions(fig_dpi=90, fig_cmap="viridis")
