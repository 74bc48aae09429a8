import pytest
from boostnoise.eval.config import FigureOptions, parse_config
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.looks import check_figures, check_options, look_of


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
