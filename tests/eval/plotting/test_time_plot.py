import numpy as np
import pytest

from boostnoise.eval import curve, mean_curve, plot


def test_points_and_bars(made_scores):
    scores = made_scores("abc")
    ax = plot(scores, "time", noise_rate=0.1)
    assert ax.get_xscale() == "log"
    accuracy, seconds = (
        mean_curve(scores, metric).query("noise_rate == 0.1").set_index("model")[metric]
        for metric in ("accuracy", "fit_seconds")
    )
    for i, (model, point) in enumerate(zip("abc", ax.lines, strict=True)):
        assert point.get_xydata()[0] == pytest.approx([seconds[model], accuracy[model]])
        upright, level = (bar for bar in ax.collections if bar.get_gid().startswith(f"model-{i}-"))
        (((x, low), (_, high)),) = upright.get_segments()
        assert x == seconds[model]
        assert low < accuracy[model] < high
        (((fastest, y), (slowest, _)),) = level.get_segments()
        assert y == accuracy[model]
        assert 0 < fastest < seconds[model] < slowest
    assert ax.figure.get_suptitle() == "Accuracy and time at 10 % uniform noise, mean over 2 data sets"
    assert ax.figure.get_supxlabel() == "Error bars: 95 % t interval of the mean over 3 repeats"


def test_a_row_for_each_data_set(made_scores):
    datasets = [f"set {i}" for i in range(20)]
    scores = made_scores("ab", datasets=datasets)
    ax = plot(scores, "time_per_dataset", noise_rate=0.1)
    assert ax.get_xscale() == "log"
    assert [label.get_text() for label in ax.get_yticklabels()] == datasets
    assert ax.yaxis_inverted()
    seconds = (
        curve(scores, "fit_seconds").query("noise_rate == 0.1").set_index(["model", "dataset"])["fit_seconds"]
    )
    for model, points, bars in zip("ab", ax.lines, ax.collections, strict=True):
        np.testing.assert_allclose(points.get_xdata(), seconds[model][datasets])
        np.testing.assert_array_equal(np.round(points.get_ydata()), range(20))
        for (x, y), ((low, level), (high, _)) in zip(points.get_xydata(), bars.get_segments(), strict=True):
            assert y == level
            assert low <= x <= high
    assert (ax.lines[0].get_ydata() < ax.lines[1].get_ydata()).all()
    assert ax.figure.get_figheight() > 7
    assert ax.figure.get_suptitle() == "Time to fit at 10 % uniform noise"


def test_models_without_values(made_scores, fail):
    scores = made_scores("abc")
    fail(scores, model="b")
    figure = plot(scores, "time").figure
    figure.draw_without_rendering()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b (no values)", "c"]
    scores.loc[scores["model"] == "b", "fit_seconds"] = np.nan
    figure = plot(scores, "time_per_dataset").figure
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b (no values)", "c"]


def test_ticks_have_one_format(made_scores):
    scores = made_scores("ab")
    scores["fit_seconds"] = np.geomspace(7e-5, 2e-4, len(scores))
    ax = plot(scores, "time")
    ax.set_xlim(7e-5, 7e-4)
    ax.figure.draw_without_rendering()
    labels = [label.get_text() for which in ("major", "minor") for label in ax.get_xticklabels(which=which)]
    assert {"0.0001", "0.0002"} <= set(labels)
    assert not any("e" in label for label in labels)


def test_ticks_within_a_decade_are_labelled(made_scores):
    scores = made_scores("ab")
    scores["fit_seconds"] = np.linspace(2, 6, len(scores))
    ax = plot(scores, "time")
    ax.figure.draw_without_rendering()
    assert [label.get_text() for label in ax.get_xticklabels(which="minor") if label.get_text()]
