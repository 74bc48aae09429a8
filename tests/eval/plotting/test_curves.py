import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from boostnoise.eval import plot_curves
from boostnoise.eval.config.figures import FigureOptions


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


def test_bands_from_columns():
    table = means(models=["a"]).assign(low=0.0, high=1.0)
    band = plot_curves(table, "ela").collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (0.0, 1.0)


def test_a_point_without_neighbours_has_a_bar():
    table = means(models=["a"])
    table.loc[1, ["ela", "std"]] = np.nan
    _, bars = plot_curves(table, "ela").collections
    np.testing.assert_allclose([segment[:, 1] for segment in bars.get_segments()], [[0.08, 0.12], [0.28, 0.32]])
    assert bars.get_gid() == "model-0-3"  # after the line and the band


def test_given_axes_are_drawn_on():
    ax = Figure().subplots()
    assert plot_curves(means(), "ela", ax=ax) is ax


def test_ticks_do_not_overlap():
    rates = [0.0, 0.01, 0.02, 0.5, 1.0]
    table = pd.DataFrame({"noise_rate": rates, "model": "a", "ela": rates, "std": 0.1, "noise_kind": "uniform"})
    assert len(plot_curves(table, "ela").get_xticks()) != len(rates)


def test_every_model_has_its_own_style():
    models = [f"m{i}" for i in range(20)]
    ax = plot_curves(means(models), "ela")
    styles = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in ax.lines}
    assert len(styles) == 20
    # A model keeps its style when another one is missing.
    table = means(models)
    alone = plot_curves(table[table["model"] == "m5"], "ela", models=models)
    assert alone.lines[5].get_color() == ax.lines[5].get_color()


def test_legend_marks_models_without_values():
    table = means(models=["a", "b"])
    table.loc[table["model"] == "a", ["ela", "std"]] = np.nan
    assert legend(plot_curves(table, "ela", models=["a", "b", "c"])) == ["a (no values)", "b", "c (no values)"]


def test_options_of_the_2020_study():
    options = FigureOptions(
        fig_size=[6, 5], fig_dpi=80, fig_title="with $\\gamma$", fig_cmap="viridis",
        plot_kwargs=[{}, {"marker": "s", "c": "red", "lw": 4}],
    )  # fmt: skip
    ax = plot_curves(means(), "ela", options=options)
    assert ax.figure.get_size_inches().tolist() == [6, 5]
    assert ax.figure.dpi == 80
    assert ax.get_title() == "with $\\gamma$"
    assert ax.lines[0].get_color() == matplotlib.colormaps["viridis"](0.0)
    assert (ax.lines[1].get_color(), ax.lines[1].get_linewidth()) == ("red", 4)


@pytest.mark.parametrize(
    ("table", "arguments", "message"),
    [
        (means(), {"metric": "rla"}, "metric must be a column of the table, which has ela, got 'rla'"),
        (means(), {"metric": "elan"}, "metric must be one of accuracy, .*, area_under_ela, got 'elan'"),
        (means(), {"measure": "ela"}, "measure must be one of accuracy, .*, predict_seconds, got 'ela'"),
        (
            means().drop(columns="noise_rate"),
            {},
            "table must have columns model, noise_rate, std and the metric, got noise_kind, model, ela, std",
        ),
        (means()[:0], {}, "table must have a row per model and noise rate, got none"),
        (means(), {"models": ["nope"]}, r"models must name models of the table, a, b, got \['nope'\]"),
        (means(), {"models": []}, r"models must name models of the table, a, b, got \[\]"),
    ],
)
def test_what_cannot_be_drawn(table, arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        plot_curves(table, **{"metric": "ela"} | arguments)
