import matplotlib
import numpy as np
import pandas as pd
import pytest
from boostnoise.eval import plot_curves
from boostnoise.eval.config import FigureOptions
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.metrics import METRICS
from boostnoise.eval.plots import _text, check_options, figure_of_means, label_of
from matplotlib.figure import Figure


def means(models=("a", "b"), kinds=("uniform",)):
    rows = [
        (kind, rate, model, 0.1 + rate / 2, 0.02, 3)
        for kind in kinds
        for rate in (0.0, 0.1, 0.4)
        for model in models
    ]
    return pd.DataFrame(rows, columns=["noise_kind", "noise_rate", "model", "ela", "std", "repeats"])


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_lines_bands_and_labels():
    ax = plot_curves(means(), "ela")
    assert ax.get_xlabel() == "noise rate"
    assert ax.get_ylabel() == "ELA, equalised loss of accuracy"
    assert legend(ax) == ["a", "b"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.1, 0.15, 0.3])
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((0.08, 0.32))
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0%", "10%", "40%"]


def test_labels_say_what_a_metric_was_computed_from():
    assert plot_curves(means(), "ela", of="roc_auc").get_ylabel() == "ELA, equalised loss of ROC AUC"
    options = {"models": ["a", "b"], "n_datasets": 2, "options": FigureOptions()}
    titles = [
        figure_of_means(means(), "ela", of=of, **options).axes[0].get_title() for of in ("accuracy", "macro_f1")
    ]
    assert [title.split(",")[0] for title in titles] == [
        "ELA under uniform noise",
        "ELA of macro F1 under uniform noise",
    ]
    for metric in METRICS:
        assert "{" not in label_of(metric, "balanced_accuracy")


def test_given_axes_are_drawn_on():
    ax = Figure().subplots()
    assert plot_curves(means(), "ela", ax=ax) is ax


def test_the_legend_hides_nothing():
    models = [f"a model with a long name {i}" for i in range(12)]
    figure = figure_of_means(means(models), "ela", models=models, n_datasets=2, options=FigureOptions())
    figure.draw_without_rendering()
    (ax,) = figure.axes
    legend = ax.get_legend().get_window_extent()
    assert not legend.overlaps(ax.get_window_extent())
    assert figure.bbox.x0 <= legend.x0
    assert legend.x1 <= figure.bbox.x1


def test_long_and_odd_names():
    models = ["_hidden", "x" * 90, "word " * 20, "$\\gamma$"]
    figure = figure_of_means(means(models), "ela", models=models, n_datasets=1, options=FigureOptions())
    figure.draw_without_rendering()
    (ax,) = figure.axes
    names = legend(ax)
    assert names[0] == "_hidden"
    assert names[1].replace("\n", "") == "x" * 90
    assert names[3] == "$\\gamma$"
    assert ax.get_window_extent().width > figure.bbox.width / 2


def test_ticks_do_not_run_into_one_another():
    rates = [0.0, 0.01, 0.02, 0.5, 1.0]
    table = pd.DataFrame({"noise_rate": rates, "model": "a", "ela": rates, "std": 0.1, "noise_kind": "uniform"})
    assert len(plot_curves(table, "ela").get_xticks()) != len(rates)


def test_every_model_has_its_own_look():
    models = [f"m{i}" for i in range(20)]
    ax = plot_curves(means(models), "ela")
    looks = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in ax.lines}
    assert len(looks) == 20
    # A model looks the same when another one is missing.
    table = means(models)
    alone = plot_curves(table[table["model"] == "m5"], "ela", models=models)
    assert alone.lines[5].get_color() == ax.lines[5].get_color()


def test_missing_values_leave_gaps():
    table = means()
    table.loc[table["model"] == "a", ["ela", "std"]] = np.nan
    figure = figure_of_means(table, "ela", models=["a", "b"], n_datasets=2, options=FigureOptions())
    figure.draw_without_rendering()


def test_a_panel_for_each_kind_of_noise():
    kinds = ["uniform", "label"]
    figure = figure_of_means(
        means(kinds=kinds), "ela", models=["a", "b"], n_datasets=3, options=FigureOptions()
    )
    assert [ax.get_title().split(",")[0] for ax in figure.axes] == [
        "ELA under uniform noise",
        "ELA under label noise",
    ]


def test_names_of_noise_that_are_no_formulas():
    kinds = ["$\\nonsense$", "$\\eta$"]
    figure = figure_of_means(
        means(kinds=kinds), "ela", models=["a", "b"], n_datasets=3, options=FigureOptions()
    )
    figure.draw_without_rendering()
    assert [ax.get_title().split(",")[0] for ax in figure.axes] == [
        "ELA under \\$\\nonsense\\$ noise",
        "ELA under $\\eta$ noise",
    ]


def test_options_of_the_2020_study():
    options = FigureOptions(
        fig_size=[6, 5], fig_dpi=80, fig_title="with $\\gamma$", fig_cmap="viridis",
        plot_kwargs=[{}, {"marker": "s", "c": "red", "lw": 4}],
    )  # fmt: skip
    check_options(options, "ela_fig")
    figure = figure_of_means(means(), "ela", models=["a", "b"], n_datasets=2, options=options)
    assert figure.get_size_inches().tolist() == [6, 5]
    assert figure.dpi == 80
    (ax,) = figure.axes
    assert ax.get_title() == "with $\\gamma$"
    assert ax.lines[0].get_color() == matplotlib.colormaps["viridis"](0.0)
    assert (ax.lines[1].get_color(), ax.lines[1].get_linewidth()) == ("red", 4)


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
    assert _text(name) == shown
    figure = Figure()
    figure.text(0, 0, _text(name))
    figure.draw_without_rendering()
