import math

import numpy as np
import pytest

from boostnoise.eval import curve, plot
from boostnoise.eval.plotting.small_multiples import columns_for

SETS = [f"set {i}" for i in range(30)]


def test_lines_are_those_of_the_tables(made_scores):
    scores = made_scores(datasets=SETS[:6])
    axes = plot(scores, "ela_by_dataset")
    assert [ax.get_title() for ax in axes] == SETS[:6]
    table = curve(scores, "ela").set_index(["dataset", "model"])
    for name, ax in zip(SETS[:6], axes, strict=True):
        for model, line in zip("ab", ax.lines, strict=True):
            here = table.loc[(name, model)]
            np.testing.assert_allclose(line.get_ydata(), here["ela"])
            np.testing.assert_allclose(line.get_xdata(), here["noise_rate"])


def test_thirty_panels_are_legible(made_scores):
    axes = plot(made_scores(datasets=SETS, repeats=1), "ela_by_dataset")
    figure = axes[0].figure
    figure.draw_without_rendering()
    assert len(figure.axes) == 30
    assert len(figure.legends) == 1
    sizes = [ax.get_window_extent().transformed(figure.dpi_scale_trans.inverted()) for ax in axes]
    assert min(size.width for size in sizes) > 1.7
    assert min(size.height for size in sizes) > 1.2
    assert max(figure.get_size_inches()) < 20
    assert len({ax.get_ylim() for ax in axes}) == len({ax.get_xlim() for ax in axes}) == 1
    assert all(ax.get_xlabel() == "" for ax in axes[:24])
    assert all(ax.get_xlabel() == "noise rate" for ax in axes[24:])
    assert figure.get_supylabel() == "ELA, equalised loss of accuracy"


def test_a_column_for_each_kind_of_noise(made_scores):
    axes = plot(made_scores(kinds=("uniform", "pair")), "accuracy_by_dataset")
    assert axes.shape == (2, 2)
    assert [[ax.get_title() for ax in row] for row in axes] == [
        [f"{name}\n{kind} noise" for kind in ("uniform", "pair")] for name in ("iris", "wine")
    ]


def test_ticks_are_those_of_all_kinds_of_noise(made_scores):
    scores = made_scores(kinds=("uniform", "pair"))
    pair = scores["noise_kind"] == "pair"
    scores.loc[pair, "noise_rate"] = scores.loc[pair, "noise_rate"].replace({0.1: 0.2, 0.4: 0.3})
    for ax in plot(scores, "ela_by_dataset").flat:
        assert ax.get_xticks().tolist() == [0.0, 0.1, 0.2, 0.3, 0.4]


def test_one_set_is_in_the_title(made_scores):
    (ax,) = plot(made_scores(datasets=["iris"]), "ela_by_dataset")
    assert (ax.get_title(), ax.figure.get_suptitle()) == ("", "ELA under uniform noise on iris")


def test_a_set_without_values_says_so(made_scores, fail):
    scores = made_scores()
    fail(scores, dataset="iris")
    empty, other = plot(scores, "ela_by_dataset")
    assert [text.get_text() for text in empty.texts] == ["no values"]
    assert not other.texts
    legend = [text.get_text() for text in empty.figure.legends[0].get_texts()]
    assert legend == ["a (no values on iris)", "b (no values on iris)"]


def test_one_large_value_does_not_flatten_the_rest(made_scores):
    scores = made_scores(datasets=SETS[:12])
    scores.loc[(scores["dataset"] == "set 3") & (scores["model"] == "b"), "accuracy"] = 0.02
    axes = plot(scores, "ela_by_dataset")
    assert axes[0].get_ylim()[1] < 2
    assert [text.get_text() for ax in axes for text in ax.texts] == ["↑ to 49"]
    assert axes[3].texts[0].get_text() == "↑ to 49"
    assert "↑" in axes[0].figure.get_supxlabel()
    assert "↑" not in plot(made_scores(), "ela_by_dataset")[0].figure.get_supxlabel()


@pytest.mark.parametrize("n", [*range(1, 40), 300])
def test_columns(n):
    columns = columns_for(n)
    rows = math.ceil(n / columns)
    assert rows * columns - n <= max(2, n // 7)
    assert columns <= 2 * rows + 1
    assert rows <= 2 * columns
