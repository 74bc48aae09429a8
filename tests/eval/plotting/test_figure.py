import numpy as np
import pytest
from matplotlib.figure import Figure

from boostnoise.eval import plot
from boostnoise.eval.config.figures import COMPARISONS, MAX_PIXELS, FigureOptions

LONG = "a robust model with a long name, of depth"
NOISE = ("uniform", "label", "pair")


def figure_of(axes):
    return np.ravel(axes)[0].figure


def legend(figure):
    (found,) = figure.legends
    return [" ".join(text.get_text().split()) for text in found.get_texts()]


def boxes(figure):
    """Where the panels and the legend are, in inches."""
    figure.draw_without_rendering()
    inches = figure.dpi_scale_trans.inverted()
    panels = [ax.get_window_extent().transformed(inches) for ax in figure.axes]
    return panels, figure.legends[0].get_window_extent().transformed(inches)


@pytest.mark.parametrize(
    ("n", "name", "kinds"), [(3, "m", NOISE), (3, LONG, NOISE[:1]), (60, "m", NOISE[:1]), (60, LONG, NOISE)]
)
def test_a_figure_grows_with_its_models(made_scores, n, name, kinds):
    figure = figure_of(plot(made_scores([f"{name} {i}" for i in range(n)], kinds=kinds, repeats=1), "ela"))
    panels, legend = boxes(figure)
    width, height = figure.get_size_inches()
    assert legend.x0 >= 0
    assert legend.y0 >= 0
    assert legend.x1 <= width
    assert legend.y1 <= height
    for panel in panels:
        assert not legend.overlaps(panel)
        assert panel.width > 5
        assert panel.height > 3.3


@pytest.mark.parametrize("name", ["m", LONG])
def test_the_size_option_is_obeyed(made_scores, name):
    options = FigureOptions(fig_size=[9, 6], fig_title="")
    scores = made_scores([f"{name} {i}" for i in range(60)], repeats=1)
    figure = figure_of(plot(scores, "ela", options=options))
    (panel,), legend = boxes(figure)
    assert figure.get_size_inches().tolist() == [9, 6]
    assert legend.x1 <= 9
    assert legend.y0 >= 0
    assert not legend.overlaps(panel)
    assert panel.width > 3
    assert panel.height > 4


@pytest.mark.filterwarnings("ignore:constrained_layout not applied")
@pytest.mark.parametrize(
    "plot_name", ["ela", "ela_by_dataset", "critical_difference", "ranks", "time", "heatmap"]
)
def test_figures_that_are_too_small_are_drawn(made_scores, plot_name):
    scores = made_scores([f"{LONG} {i}" for i in range(6)], repeats=1)
    figure = figure_of(plot(scores, plot_name, options=FigureOptions(fig_size=[1, 1])))
    figure.draw_without_rendering()
    assert figure.get_size_inches().tolist() == [1, 1]
    assert figure.axes[0].get_position().width > 0


@pytest.mark.parametrize("plot_name", ["ela", "heatmap"])
def test_default_size_respects_the_pixel_limit(made_scores, plot_name):
    kinds, datasets = [f"kind {i}" for i in range(4)], [f"set {i}" for i in range(5)]
    scores = made_scores([LONG, "b", "c"], datasets, kinds, rates=(0.0,), repeats=1)
    figure = figure_of(plot(scores, plot_name, options=FigureOptions(fig_dpi=2000)))
    assert (figure.get_size_inches() * figure.dpi).max() <= MAX_PIXELS + 1


ODD = ["_hidden", "x" * 90, "<script>alert(1)</script>", "$\\gamma$", "word " * 20, "שלום", "Ünïcode ✓", "5 $"]


@pytest.mark.parametrize(
    "plot_name", ["ela", "ela_by_dataset", "critical_difference", "ranks", "time", "heatmap"]
)
def test_long_and_odd_names(made_scores, plot_name, tmp_path):
    figure = figure_of(plot(made_scores(ODD, datasets=ODD[::2], rates=(0.0, 0.1), repeats=1), plot_name))
    # Names are in the legend of the one and at the ticks of the other.
    for suffix in ("svg", *{"ela": ["png"], "heatmap": ["pdf"]}.get(plot_name, [])):
        figure.savefig(tmp_path / f"drawn.{suffix}")
    assert "<script>" not in (tmp_path / "drawn.svg").read_text()
    assert figure.axes[0].get_window_extent().width > 0
    if figure.legends:
        names = [text.get_text() for text in figure.legends[0].get_texts()]
        assert names[0] == "_hidden"
        assert names[1].replace("\n", "") == "x" * 90
        assert names[2:4] == ["<script>alert(1)</script>", "$\\gamma$"]


def test_legend_marks_models_without_values(made_scores, fail):
    scores = made_scores(("a", "b", "c", "d"), kinds=NOISE[:2])
    fail(scores, model="a")
    fail(scores, model="d")
    fail(scores, model="b", noise_kind="label")
    fail(scores, model="c", noise_rate=0.4)
    figure = figure_of(plot(scores, "ela"))
    figure.draw_without_rendering()
    assert legend(figure) == ["a (no values)", "b (no values under label noise)", "c", "d (no values)"]


# One curve of each kind, a metric, a score and a time, stands for those of all measures.
@pytest.mark.parametrize("plot_name", ["ela", "accuracy", "fit_seconds", "ela_by_dataset", *COMPARISONS])
def test_no_values_at_all_can_be_drawn(made_scores, plot_name):
    scores = made_scores().assign(accuracy=np.nan, macro_f1=np.nan, error="ValueError: no", fit_seconds=np.nan)
    figure = figure_of(plot(scores, plot_name))
    figure.draw_without_rendering()
    if figure.legends:
        assert legend(figure) == ["a (no values)", "b (no values)"]


@pytest.mark.parametrize(("kind", "text"), [("$\\nonsense$", "\\$\\nonsense\\$"), ("$\\eta$", "$\\eta$")])
def test_names_of_noise_that_are_no_formulas(made_scores, kind, text):
    figure = figure_of(plot(made_scores(kinds=[kind]), "ela"))
    figure.draw_without_rendering()
    assert figure.get_suptitle().split(",")[0] == f"ELA under {text} noise"


def test_panels_in_a_grid(made_scores):
    kinds = ["uniform", "$\\nonsense$", "$\\eta$", *(f"kind {i}" for i in range(4))]
    scores = made_scores(kinds=kinds, datasets=("x", "y", "z"))
    figure = figure_of(plot(scores, "ela"))
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[:4] == ["uniform noise", "\\$\\nonsense\\$ noise", "$\\eta$ noise", "kind 0 noise"]
    assert figure.get_suptitle() == "ELA, mean over 3 data sets"
    panels, _ = boxes(figure)
    assert len({round(panel.x0, 2) for panel in panels}) == len({round(panel.y0, 2) for panel in panels}) == 3
    assert legend(figure) == ["a", "b"]
    # The user's title replaces the default one, but not the panel headings and the caption.
    caption = figure.get_supxlabel()
    figure = figure_of(plot(scores, "ela", options=FigureOptions(fig_title="mine")))
    assert figure.get_suptitle() == "mine"
    assert [ax.get_title() for ax in figure.axes] == titles
    assert figure.get_supxlabel() == caption == "Band: 95 % t interval of the mean over 3 repeats"


def test_axes_of_the_user_get_title_and_caption(made_scores):
    figure = Figure(figsize=(20, 5), layout="constrained")
    scores = made_scores("abcd", datasets=[f"set {i}" for i in range(6)], repeats=1)
    for ax, plot_name in zip(
        figure.subplots(1, 4), ["ela", "critical_difference", "time", "heatmap"], strict=True
    ):
        assert plot(scores, plot_name, ax=ax) is ax
        assert "\n" in ax.get_title()
    assert figure.get_suptitle() == ""
    figure.draw_without_rendering()
