import pytest

from boostnoise.eval.config.figures import FigureOptions
from boostnoise.eval.config.line_styles import check_figures, check_options
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.plotting.styles import line_style, line_styles, options_of


def test_styles_differ():
    styles = {tuple(line_style(i, 60, FigureOptions()).values()) for i in range(60)}
    assert len(styles) == 60


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fig_cmap": "viridys"}, "ela_fig.fig_cmap: unknown colour map 'viridys'"),
        (
            {"plot_kwargs": [{"markr": "s"}]},
            r"ela_fig.plot_kwargs\[0\]: unexpected key 'markr'; allowed keys: alpha, color",
        ),
        ({"plot_kwargs": [{"url": "javascript:alert(1)"}]}, r"ela_fig.plot_kwargs\[0\]: unexpected key 'url'"),
        ({"plot_kwargs": [{"marker": "nonsense"}]}, r"plot_kwargs\[0\]: .* cannot be drawn"),
        ({"plot_kwargs": [{"color": "red", "c": "blue"}]}, r"plot_kwargs\[0\]: .* cannot be drawn"),
        ({"plot_kwargs": [{"color": "nonsense"}]}, r"plot_kwargs\[0\]: .* cannot be drawn"),
        ({"plot_kwargs": [{"alpha": 7}]}, r"plot_kwargs\[0\]: .* cannot be drawn"),
    ],
)
def test_options_that_cannot_be_drawn(options, message):
    with pytest.raises(ConfigError, match=message):
        check_options(FigureOptions(**options), "ela_fig")


def test_both_figures_are_checked(small_config):
    for name in ("ela_fig", "rla_fig"):
        with pytest.raises(ConfigError, match=f"{name}.fig_cmap"):
            check_figures(small_config(**{name: {"fig_cmap": "no"}}))


def test_style_follows_from_the_position_among_all_models():
    styles = line_styles(["a", "b", "c"], FigureOptions())
    assert line_styles(["a", "b", "c"], FigureOptions(), ["c", "a"]) == {name: styles[name] for name in "ca"}
    assert [style["gid"] for style in styles.values()] == ["model-0", "model-1", "model-2"]
    assert styles["b"]["color"] == line_style(1, 3, FigureOptions())["color"]


def test_size_and_title_apply_to_averaged_curves_only(small_config):
    figure = {"fig_size": [3, 4], "fig_title": "mine", "fig_dpi": 90, "fig_cmap": "viridis"}
    config = small_config(ela_fig=figure)
    assert options_of(config, "ela") == config.ela_fig
    assert options_of(config, "rla") == config.rla_fig
    assert options_of(config, "rla_by_dataset") == config.rla_fig
    for plot in ("ela_by_dataset", "heatmap"):
        assert options_of(config, plot) == FigureOptions(fig_dpi=90, fig_cmap="viridis")
