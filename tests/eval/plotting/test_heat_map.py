import matplotlib
import numpy as np
import pytest

from boostnoise.eval import area_under_ela, curve, plot
from boostnoise.eval.config.figures import FigureOptions

SETS = ("iris", "wine", "digits")


def cells(ax):
    """The texts of the cells, by row and column, the upper first."""
    found = {}
    for text in ax.texts:
        x, y = text.get_position()
        found.setdefault((int(y), int(x)), []).append(text)
    return {place: [text.get_text() for text in texts] for place, texts in found.items()}


def mesh_of(ax):
    """The coloured cells."""
    (mesh,) = (found for found in ax.collections if found.get_array() is not None)
    return mesh


def bold_columns(ax):
    return sorted(int(text.get_position()[0]) for text in ax.texts if text.get_fontweight() == "bold")


def test_values_and_deviations(made_scores):
    scores = made_scores("abc", SETS)
    ax = plot(scores, "heatmap", noise_rate=0.1, metric="ela")
    table = curve(scores, "ela").query("noise_rate == 0.1").set_index(["dataset", "model"])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(SETS)
    for i, dataset in enumerate(SETS):
        for j, model in enumerate("abc"):
            row = table.loc[(dataset, model)]
            assert cells(ax)[i, j] == [f"{row['ela']:.3f}", f"±{row['std']:.3f}"]
    assert ax.figure.get_suptitle() == "ELA at 10 % uniform noise"
    assert "standard deviation over 3 repeats" in ax.figure.get_supxlabel()


def test_kinds_of_noise_share_their_colours(made_scores):
    scores = made_scores("ab", SETS, kinds=("uniform", "pair_flip"))
    scores.loc[scores["noise_kind"] == "pair_flip", "accuracy"] /= 2
    axes = plot(scores, "heatmap", noise_rate=0.1)
    limits = {mesh_of(ax).get_clim() for ax in axes}
    values = curve(scores, "accuracy").query("noise_rate == 0.1")["accuracy"]
    assert limits == {(values.min(), values.max())}


def test_lighter_is_better(made_scores):
    for metric, best in (("accuracy", np.max), ("ela", np.min)):
        ax = plot(made_scores("abc", SETS), "heatmap", metric=metric)
        mesh = mesh_of(ax)
        values = mesh.get_array()
        lightness = mesh.cmap(mesh.norm(values))[..., :3].mean(axis=-1).ravel()
        assert values.ravel()[lightness.argmax()] == best(values)
        assert values.ravel()[lightness.argmin()] != best(values)


def test_the_best_of_a_row_is_bold(made_scores):
    scores = made_scores("abc", SETS)
    assert bold_columns(plot(scores, "heatmap")) == [0, 0, 0]
    first = scores["model"].eq("a").to_numpy()
    scores.loc[scores["model"].eq("c"), "accuracy"] = scores.loc[first, "accuracy"].to_numpy() + 1e-16
    assert bold_columns(plot(scores, "heatmap")) == [0, 0, 0, 2, 2, 2]


def test_failed_cells_are_no_colours(made_scores, fail):
    scores = made_scores("abc", SETS, repeats=1)
    fail(scores, dataset="iris", model="b")
    fail(scores, None, dataset="wine", model="a")
    # What fails at another noise rate says nothing of this one.
    scores.loc[(scores["dataset"] == "digits") & (scores["noise_rate"] == 0.1), "error"] = "no"
    ax = plot(scores, "heatmap")
    assert cells(ax)[0, 1] == ["failed"]
    assert cells(ax)[1, 0] == ["no value"]
    assert {patch.get_hatch() for patch in ax.patches} == {"////"}
    assert sorted((int(patch.get_x()), int(patch.get_y())) for patch in ax.patches) == [(0, 1), (1, 0)]
    assert sum(text.get_text() in ("failed", "no value") for text in ax.texts) == 2
    # ELA lacks a value where the fit without noise failed.
    scores.loc[(scores["noise_rate"] > 0) & (scores["model"] == "b"), ["accuracy", "error"]] = [0.5, None]
    assert cells(plot(scores, "heatmap"))[0, 1] == ["0.500"]
    assert cells(plot(scores, "heatmap", metric="ela"))[0, 1] == ["failed"]


def test_the_area_has_no_rate(made_scores):
    scores = made_scores("ab", ("iris",), repeats=1)
    ax = plot(scores, "heatmap", metric="area_under_ela")
    table = curve(scores, "ela").query("model == 'a'")
    area = area_under_ela(table["ela"], table["noise_rate"])
    assert cells(ax)[0, 0] == [f"{area:.3f}"]
    assert ax.figure.get_suptitle() == "Area under the curve of ELA under uniform noise"


def test_one_large_value_does_not_flatten_the_rest(made_scores):
    scores = made_scores("abc", [f"set {i}" for i in range(10)], repeats=1)
    scores.loc[(scores["dataset"] == "set 3") & (scores["model"] == "b"), "accuracy"] = 0.02
    ax = plot(scores, "heatmap", metric="ela")
    mesh = mesh_of(ax)
    assert mesh.get_clim()[1] < 2 < mesh.get_array().max()
    assert mesh.colorbar.extend == "max"
    assert cells(ax)[3, 1] == ["49.000"]


@pytest.mark.parametrize("name", ["viridis", "gray_r"])
def test_colour_maps_of_the_user(made_scores, name):
    options = FigureOptions(fig_cmap=name)
    assert mesh_of(plot(made_scores(), "heatmap", options=options)).cmap == matplotlib.colormaps[name]
    falling = mesh_of(plot(made_scores(), "heatmap", metric="rla", options=options)).cmap
    assert falling == matplotlib.colormaps[name].reversed()


def test_25_models_on_30_sets(made_scores):
    names = [f"a model with a name, {i}" for i in range(25)]
    ax = plot(made_scores(names, [f"set {i}" for i in range(30)], repeats=1, rates=(0.0, 0.1)), "heatmap")
    figure = ax.figure
    figure.draw_without_rendering()
    box = ax.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    assert box.width / 25 > 0.6
    assert box.height / 30 > 0.3
