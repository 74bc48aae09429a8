import re

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from boostnoise.eval import mean_curve, plot
from boostnoise.eval.config.figures import FigureOptions, figure_names
from boostnoise.eval.config.run import Config

MIXED = ["ela", "ela_by_dataset", "critical_difference", "ranks", "time", "time_per_dataset", "heatmap"]
SETS = [f"set {i}" for i in range(4)]


def first(axes):
    return np.ravel(axes)[0]


def lines_of(ax, i):
    return [line for line in ax.lines if re.fullmatch(rf"model-{i}(-\d+)?", line.get_gid() or "")]


def test_a_config_may_name_every_plot():
    figures = Config.model_json_schema()["properties"]["figures"]["items"]["enum"]
    assert tuple(figures) == figure_names()


def test_lines_are_those_of_the_table_and_bands_hold_them(made_scores):
    scores = made_scores("abc", kinds=("uniform", "pair"))
    for plot_name in ("ela", "rla", "retention", "accuracy", "fit_seconds"):
        axes = plot(scores, plot_name)
        assert axes.shape == (2,)
        for noise, ax in zip(("uniform", "pair"), axes, strict=True):
            table = mean_curve(scores[scores["noise_kind"] == noise], plot_name).set_index("model")
            for model, line, band in zip("abc", ax.lines, ax.collections, strict=True):
                np.testing.assert_allclose(line.get_ydata(), table.loc[model, plot_name])
                np.testing.assert_allclose(line.get_xdata(), table.loc[model, "noise_rate"])
                edges = band.get_paths()[0].vertices
                for rate, value in line.get_xydata():
                    there = edges[np.isclose(edges[:, 0], rate), 1]
                    assert there.min() - 1e-12 <= value <= there.max() + 1e-12
                assert np.ptp(edges[:, 1]) > 0
                assert band.get_gid().startswith(f"model-{'abc'.index(model)}-")
                assert line in lines_of(ax, "abc".index(model))


def test_titles_name_the_measure(made_scores):
    titles = {
        plot_name: plot(made_scores(), plot_name, measure=measure).figure.get_suptitle()
        for plot_name, measure in [
            ("ela", "accuracy"),
            ("rla", "macro_f1"),
            ("accuracy", "macro_f1"),
            ("time", "macro_f1"),
        ]
    }
    assert titles == {
        "ela": "ELA under uniform noise, mean over 2 data sets",
        "rla": "RLA of macro F1 under uniform noise, mean over 2 data sets",
        "accuracy": "Accuracy under uniform noise, mean over 2 data sets",
        "time": "Macro F1 and time at 40 % uniform noise, mean over 2 data sets",
    }


@pytest.mark.parametrize("n", [7, 25])
def test_a_model_has_one_style_in_all_plots(made_scores, n):
    scores = made_scores([f"m{i}" for i in range(n)], datasets=SETS, rates=(0.0, 0.4), repeats=1)
    styles = {}
    for plot_name in MIXED[:-1]:
        ax = first(plot(scores, plot_name))
        for i in range(n):
            line = lines_of(ax, i)[-1]
            styles.setdefault(i, set()).add((line.get_color(), line.get_marker()))
    assert all(len(found) == 1 for found in styles.values())
    dashes = [line.get_linestyle() for line in plot(scores, "ela").lines]
    assert len({(*styles[i], dashes[i]) for i in range(n)}) == n


@pytest.mark.parametrize(
    "plot_name", ["ela", "ela_by_dataset", "critical_difference", "ranks", "time", "time_per_dataset"]
)
def test_a_model_has_one_style_without_the_others(made_scores, plot_name):
    scores = made_scores("abcde", datasets=SETS)
    whole, some = first(plot(scores, plot_name)), first(plot(scores, plot_name, models=["e", "b", "d"]))
    for i in (1, 3, 4):
        (*_, one), (*_, other) = lines_of(whole, i), lines_of(some, i)
        assert (one.get_color(), one.get_marker()) == (other.get_color(), other.get_marker())
    assert not lines_of(some, 0)
    legends = some.figure.legends
    assert not legends or [text.get_text() for text in legends[0].get_texts()] == ["e", "b", "d"]


@pytest.mark.parametrize("plot_name", ["accuracy", "accuracy_by_dataset", "time", "time_per_dataset"])
def test_bands_of_two_standard_deviations(made_scores, plot_name):
    scores = made_scores(datasets=SETS)
    ax = first(plot(scores, plot_name, options=FigureOptions(fig_band="two_sd")))
    captions = [text.get_text() for text in ax.figure.texts]
    assert any("two standard deviations over" in caption for caption in captions)


@pytest.mark.parametrize("plot_name", MIXED)
def test_svg_can_be_scripted(made_scores, plot_name, tmp_path):
    scores = made_scores("abcd", datasets=SETS, kinds=("uniform", "pair"), rates=(0.0, 0.4), repeats=1)
    first(plot(scores, plot_name)).figure.savefig(tmp_path / "drawn.svg")
    ids = re.findall(r'\bid="(.+?)"', (tmp_path / "drawn.svg").read_text())
    assert {f"model-{i}{more}" for i in range(4) for more in ("", "-2")} <= set(ids)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("plot_name", MIXED)
@pytest.mark.parametrize(
    "size",
    [
        {"models": "a"},
        {"datasets": ["only"]},
        {"rates": [0.0]},
        {"models": "a", "datasets": ["only"], "rates": [0.0], "repeats": 1},
    ],
)
def test_the_smallest_runs(made_scores, plot_name, size):
    ax = first(plot(made_scores(**size), plot_name))
    ax.figure.draw_without_rendering()
    assert ax.figure.get_suptitle()


@pytest.mark.parametrize("plot_name", MIXED)
def test_the_2020_options_are_obeyed(made_scores, plot_name):
    options = FigureOptions(
        fig_size=[7, 5], fig_dpi=80, fig_title="with $\\gamma$", fig_cmap="viridis",
        plot_kwargs=[{}, {"marker": "s", "c": "red", "lw": 4}, {}],
    )  # fmt: skip
    ax = first(plot(made_scores("abc", datasets=SETS), plot_name, options=options))
    figure = ax.figure
    assert figure.get_size_inches().tolist() == [7, 5]
    assert figure.dpi == 80
    assert figure.get_suptitle() == "with $\\gamma$"
    if plot_name != "heatmap":
        assert lines_of(ax, 0)[0].get_color() == matplotlib.colormaps["viridis"](0.0)
        assert {line.get_color() for line in lines_of(ax, 1)} == {"red"}
        assert lines_of(ax, 1)[-1].get_marker() == "s"


@pytest.mark.parametrize("plot_name", MIXED)
def test_nothing_global_is_touched(made_scores, plot_name):
    with matplotlib.rc_context({"text.usetex": True, "font.size": 7}):
        before = dict(matplotlib.rcParams)
        axes = plot(made_scores("abc", datasets=SETS), plot_name)
        assert dict(matplotlib.rcParams) == before
    figure = first(axes).figure
    figure.draw_without_rendering()  # without LaTeX
    assert not hasattr(figure.canvas, "manager") or figure.canvas.manager is None


def test_noise_rates_and_kinds_of_noise(made_scores):
    scores = made_scores("abc", datasets=SETS, kinds=("uniform", "pair"))
    assert (
        plot(scores, "heatmap", noise_rate=0.1, noise_kind="pair").figure.get_suptitle()
        == "Accuracy at 10 % pair noise"
    )
    axes = plot(scores, "heatmap", noise_rate=0.1)
    assert [ax.get_title() for ax in axes] == ["at 10 % uniform noise", "at 10 % pair noise"]
    assert len(plot(scores, "time")) == len(plot(scores, "ranks")) == 2


@pytest.mark.parametrize(
    ("plot_name", "arguments", "message"),
    [
        ("elan", {}, "plot must be one of ela, rla, retention, .*, heatmap, got 'elan'"),
        (
            "ela",
            {"measure": "ela"},
            "measure must be one in the scores, accuracy, macro_f1, fit_seconds, got 'ela'",
        ),
        ("ela", {"measure": "roc_auc"}, "measure must be one in the scores, .*, got 'roc_auc'"),
        ("leaves", {}, "measure 'leaves' is not in the scores"),
        ("ela", {"metric": "rla"}, "metric must be None for ela, .* got 'rla'"),
        (
            "time_per_dataset",
            {"metric": "ela"},
            "metric must be None for time_per_dataset, whose name is its metric",
        ),
        ("heatmap", {"metric": "elan"}, "metric must be one of .*, area_under_ela for heatmap, got 'elan'"),
        (
            "time",
            {"metric": "area_under_ela"},
            "metric must be one of .*, retention for time, got 'area_under_ela'",
        ),
        ("heatmap", {"noise_rate": 0.3}, "noise_rate must be one of 0, 0.1, 0.4 under uniform noise, got 0.3"),
        (
            "heatmap",
            {"noise_rate": 0.1, "metric": "area_under_ela"},
            "noise_rate must be None for area_under_ela, .* got 0.1",
        ),
        ("ela", {"noise_rate": 0.1}, "noise_rate must be None for ela, which shows all noise rates, got 0.1"),
        ("ela", {"noise_kind": "pair"}, "noise_kind must be among uniform, got 'pair'"),
        ("ela", {"noise_kind": 3}, "noise_kind must be among uniform, got 3"),
        ("ela", {"models": ["a", "z"]}, r"models must be among a, b, got \['a', 'z'\]"),
        ("ela", {"models": []}, r"models must be among a, b, got \[\]"),
        ("ela", {"models": ["a", "a"]}, "models must be distinct, got 'a' twice"),
        ("ela", {"models": [["a"]]}, r"models must be among a, b, got \[\['a'\]\]"),
        ("heatmap", {"noise_rate": "a"}, "noise_rate must be one of 0, 0.1, 0.4 under uniform noise, got 'a'"),
        (None, {}, "plot must be one of ela, .*, got None"),
        (
            "ela",
            {"options": FigureOptions(plot_kwargs=[{}])},
            "options.plot_kwargs must be empty or hold one .* got 1",
        ),
        ("ela_by_dataset", {"ax": Figure().subplots()}, "ax must be None for a plot with several panels"),
    ],
)
def test_what_cannot_be_drawn(made_scores, plot_name, arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        plot(made_scores(), plot_name, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": "a"}, "models must be a list of names or None, got 'a'"),
        ({"models": 3}, "models must be a list of names or None, got 3"),
        ({"ax": 3}, "ax must be a Matplotlib Axes or None, got 3"),
    ],
)
def test_types_of_arguments(made_scores, arguments, message):
    with pytest.raises(TypeError, match=f"^{message}$"):
        plot(made_scores(), "ela", **arguments)


def test_ids_stay_unique_when_more_is_drawn_into_a_figure(made_scores):
    figure = Figure()
    for ax in figure.subplots(1, 2):
        plot(made_scores(), "accuracy", ax=ax)
    ids = [artist.get_gid() for artist in figure.findobj() if artist.get_gid()]
    assert {"model-0", "model-1", "model-0-2", "model-1-2"} <= set(ids)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("plot_name", ["critical_difference", "time", "heatmap"])
def test_default_noise_rate_is_that_of_the_verdict(made_scores, fail, plot_name):
    scores = made_scores(kinds=("uniform", "pair"), rates=(0.0, 0.1, 0.3, 0.6))
    scores = scores[(scores["noise_kind"] == "uniform") | (scores["noise_rate"] < 0.2)]
    assert [ax.get_title() for ax in plot(scores, plot_name)] == ["at 30 % uniform noise", "at 10 % pair noise"]
    # Also where the drawn models alone would give another rate.
    fail(scores, model="b", noise_rate=0.3)
    assert "at 10 % uniform noise" not in plot(made_scores(), plot_name).figure.get_suptitle()
    assert "at 10 %" in plot(scores, plot_name, models=["a"], noise_kind="uniform").figure.get_suptitle()


def test_one_ax_is_for_one_kind_of_noise(made_scores):
    scores, ax = made_scores(kinds=("uniform", "pair")), Figure().subplots()
    with pytest.raises(ValueError, match=r"^ax must be None for .* several kinds of noise; .* noise_kind"):
        plot(scores, "ela", ax=ax)
    assert plot(scores, "ela", ax=ax, noise_kind="pair") is ax


def test_no_scores(made_scores):
    with pytest.raises(ValueError, match=r"^noise_kind must be among \(no scores\)"):
        plot(made_scores()[:0], "ela")
