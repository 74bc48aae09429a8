import matplotlib
import numpy as np
import pandas as pd
import pytest
from boostnoise.eval import plot_curves
from boostnoise.eval.config import MAX_PIXELS, FigureOptions
from boostnoise.eval.looks import check_options
from boostnoise.eval.metrics import METRICS
from boostnoise.eval.plots import _text, figure_of_means, label_of
from matplotlib.figure import Figure


def means(models=("a", "b"), kinds=("uniform",)):
    rows = [
        (kind, rate, model, 0.1 + rate / 2, 0.02, 3)
        for kind in kinds
        for rate in (0.0, 0.1, 0.4)
        for model in models
    ]
    return pd.DataFrame(rows, columns=["noise_kind", "noise_rate", "model", "ela", "std", "repeats"])


def legend(drawn):
    (found,) = drawn.legends if isinstance(drawn, Figure) else [drawn.get_legend()]
    return [text.get_text() for text in found.get_texts()]


def boxes(figure):
    """Where the axes and the legend are, in inches."""
    figure.draw_without_rendering()
    found = figure.legends[0] if figure.legends else figure.axes[0].get_legend()
    inches = figure.dpi_scale_trans.inverted()
    return [
        ax.get_window_extent().transformed(inches) for ax in figure.axes
    ], found.get_window_extent().transformed(inches)


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
        figure_of_means(means(), "ela", of=of, **options).get_suptitle() for of in ("accuracy", "macro_f1")
    ]
    band = "mean over 2 data sets, band: ±1 sd over 3 repeats"
    assert titles == [f"ELA under uniform noise, {band}", f"ELA of macro F1 under uniform noise, {band}"]
    for metric in METRICS:
        assert "{" not in label_of(metric, "balanced_accuracy")


def test_given_axes_are_drawn_on():
    ax = Figure().subplots()
    assert plot_curves(means(), "ela", ax=ax) is ax


LONG = "a robust model with a long name, of depth"


@pytest.mark.parametrize("n", [3, 12, 28, 60])
@pytest.mark.parametrize("name", ["m", LONG])
@pytest.mark.parametrize("kinds", [("uniform",), ("uniform", "label", "pair")])
def test_a_figure_grows_with_its_models(n, name, kinds):
    models = [f"{name} {i}" for i in range(n)]
    figures = [
        figure_of_means(means(models, kinds), "ela", models=models, n_datasets=2, options=FigureOptions())
    ]
    if len(kinds) == 1:
        figures.append(plot_curves(means(models), "ela").figure)
    for figure in figures:
        panels, legend = boxes(figure)
        width, height = figure.get_size_inches()
        assert legend.x0 >= 0
        assert legend.y0 >= 0
        assert legend.x1 <= width
        assert legend.y1 <= height
        for panel in panels:
            assert not legend.overlaps(panel)
            assert panel.width > 5
            assert panel.height > 3.5


@pytest.mark.parametrize("name", ["m", LONG])
def test_the_size_asked_for_is_obeyed(name):
    models = [f"{name} {i}" for i in range(60)]
    options = FigureOptions(fig_size=[9, 6], fig_title="")
    for figure in (
        figure_of_means(means(models), "ela", models=models, n_datasets=2, options=options),
        plot_curves(means(models), "ela", options=options).figure,
    ):
        (panel,), legend = boxes(figure)
        assert figure.get_size_inches().tolist() == [9, 6]
        assert legend.x1 <= 9
        assert legend.y0 >= 0
        assert not legend.overlaps(panel)
        assert panel.width > 3
        assert panel.height > 4


@pytest.mark.filterwarnings("ignore:constrained_layout not applied")
def test_a_size_too_small_is_drawn_all_the_same():
    models = [f"{LONG} {i}" for i in range(30)]
    options = FigureOptions(fig_size=[1, 1])
    figure = figure_of_means(means(models), "ela", models=models, n_datasets=2, options=options)
    figure.draw_without_rendering()
    assert figure.get_size_inches().tolist() == [1, 1]
    assert figure.axes[0].get_position().width > 0


def test_no_default_is_too_large_for_its_dots():
    models = [f"{LONG} {i}" for i in range(30)]
    kinds = [f"kind {i}" for i in range(5)]
    options = FigureOptions(fig_dpi=2000)
    figure = figure_of_means(means(models, kinds), "ela", models=models, n_datasets=2, options=options)
    assert (figure.get_size_inches() * figure.dpi).max() <= MAX_PIXELS + 1


def test_long_and_odd_names():
    models = ["_hidden", "x" * 90, "word " * 20, "$\\gamma$"]
    figure = figure_of_means(means(models), "ela", models=models, n_datasets=1, options=FigureOptions())
    figure.draw_without_rendering()
    (ax,) = figure.axes
    names = legend(figure)
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


def test_the_legend_tells_which_models_have_no_values():
    table = means(("a", "b", "c"), kinds=("uniform", "label"))
    table.loc[table["model"] == "a", ["ela", "std"]] = np.nan
    table.loc[(table["model"] == "b") & (table["noise_kind"] == "label"), ["ela", "std"]] = np.nan
    table.loc[(table["model"] == "c") & (table["noise_rate"] == 0.4), ["ela", "std"]] = np.nan
    options = {"models": ["a", "b", "c", "d"], "n_datasets": 2, "options": FigureOptions()}
    figure = figure_of_means(table, "ela", **options)
    figure.draw_without_rendering()
    names = [" ".join(name.split()) for name in legend(figure)]
    assert names == ["a (no values)", "b (no values under label noise)", "c", "d (no values)"]
    assert legend(plot_curves(table[table["noise_kind"] == "uniform"], "ela")) == ["a (no values)", "b", "c"]


def test_no_values_at_all_can_be_drawn():
    table = means().assign(ela=np.nan, std=np.nan, repeats=0)
    figure = figure_of_means(table, "ela", models=["a", "b"], n_datasets=2, options=FigureOptions())
    figure.draw_without_rendering()
    assert legend(figure) == ["a (no values)", "b (no values)"]
    assert figure.get_suptitle() == "ELA under uniform noise, mean over 2 data sets"


@pytest.mark.parametrize(
    ("repeats", "band"),
    [((1, 1), ""), ((4, 4), ", band: ±1 sd over 4 repeats"), ((2, 4), ", band: ±1 sd over 2 to 4 repeats")],
)
def test_the_title_tells_the_repeats(repeats, band):
    table = means()
    table["repeats"] = table["model"].map(dict(zip(("a", "b"), repeats, strict=True)))
    # What has no value has no repeats, nor a band.
    table.loc[0, ["ela", "std", "repeats"]] = (np.nan, np.nan, 0)
    figure = figure_of_means(table, "ela", models=["a", "b"], n_datasets=1, options=FigureOptions())
    assert figure.get_suptitle() == f"ELA under uniform noise, 1 data set{band}"


@pytest.mark.parametrize(
    ("table", "arguments", "message"),
    [
        (means(), {"metric": "rla"}, "metric must be a column of the table, which has ela, got 'rla'"),
        (means(), {"metric": "elan"}, "metric must be one of accuracy, .*, area_under_ela, got 'elan'"),
        (means(), {"of": "ela"}, "of must be one of accuracy, .*, predict_seconds, got 'ela'"),
        (
            means().drop(columns="noise_rate"),
            {},
            "table must have columns model, noise_rate, std and the metric, got noise_kind, model, ela, std",
        ),
        (means()[:0], {}, "table must have a row for each model and noise rate, got none"),
        (means(), {"models": ["nope"]}, r"models must be among those of the table, a, b, got \['nope'\]"),
        (means(), {"models": []}, r"models must be among those of the table, a, b, got \[\]"),
    ],
)
def test_what_cannot_be_drawn(table, arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        plot_curves(table, **{"metric": "ela"} | arguments)


@pytest.mark.parametrize(("kind", "shown"), [("$\\nonsense$", "\\$\\nonsense\\$"), ("$\\eta$", "$\\eta$")])
def test_names_of_noise_that_are_no_formulas(kind, shown):
    options = {"models": ["a", "b"], "n_datasets": 3, "options": FigureOptions()}
    figure = figure_of_means(means(kinds=[kind]), "ela", **options)
    figure.draw_without_rendering()
    assert figure.get_suptitle().split(",")[0] == f"ELA under {shown} noise"


def test_panels_in_a_grid():
    kinds = ["uniform", "$\\nonsense$", "$\\eta$", *(f"kind {i}" for i in range(4))]
    options = {"models": ["a", "b"], "n_datasets": 3}
    figure = figure_of_means(means(kinds=kinds), "ela", options=FigureOptions(), **options)
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[:4] == ["uniform noise", "\\$\\nonsense\\$ noise", "$\\eta$ noise", "kind 0 noise"]
    assert figure.get_suptitle() == "ELA, mean over 3 data sets, band: ±1 sd over 3 repeats"
    panels, _ = boxes(figure)
    assert len({round(panel.x0, 2) for panel in panels}) == len({round(panel.y0, 2) for panel in panels}) == 3
    assert legend(figure) == ["a", "b"]
    # A title of the user takes the place of ours, but not of those that tell the panels apart.
    figure = figure_of_means(means(kinds=kinds), "ela", options=FigureOptions(fig_title="mine"), **options)
    assert figure.get_suptitle() == "mine"
    assert [ax.get_title() for ax in figure.axes] == titles


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
    assert (figure.get_suptitle(), ax.get_title()) == ("with $\\gamma$", "")
    assert ax.lines[0].get_color() == matplotlib.colormaps["viridis"](0.0)
    assert (ax.lines[1].get_color(), ax.lines[1].get_linewidth()) == ("red", 4)


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
