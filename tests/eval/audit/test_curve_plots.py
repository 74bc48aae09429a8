import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from boostnoise import plot_calibration_curve, plot_lift_curve


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def table(**columns):
    values = {"estimate": [0.2, 0.6], "low": [0.1, 0.5], "high": [0.4, 0.7], "on_given_labels": [0.3, 0.5]}
    return pd.DataFrame({"model": "m", "class": "$x", **columns, **values})


def band(ax):
    vertices = ax.collections[0].get_paths()[0].vertices
    return vertices[:, 1].min(), vertices[:, 1].max()


def test_calibration_curve():
    of_one = table(mean_predicted=[0.3, 0.8])
    ax = plot_calibration_curve(pd.concat([of_one, of_one.assign(model="other")]))
    assert plt.gcf() is ax.figure
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[0.3, 0.2], [0.8, 0.6]])
    assert band(ax) == (0.1, 0.7)
    assert ax.get_xlabel() == "predicted probability of '\\$x'"
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["m", "other", "on given labels", "calibrated"]


def test_lift_curve():
    parts = [table(depth=[0.5, 1], measure=name) for name in ("recall", "precision", "lift")]
    parts[2]["estimate"] *= 4
    both = pd.concat(parts)
    ax = plt.figure().subplots()
    assert plot_lift_curve(both, "lift", ax=ax) is ax
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.8, 2.4])
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), [1, 1])
    np.testing.assert_allclose(plot_lift_curve(both, "precision").lines[-1].get_ydata(), [0.25, 0.25])
    np.testing.assert_allclose(plot_lift_curve(both).lines[-1].get_ydata(), [0, 1])
    with pytest.raises(ValueError, match="measure must be one of recall, precision, lift, got 'gain'"):
        plot_lift_curve(both, "gain")


def test_missing_column():
    with pytest.raises(ValueError, match="must come from calibration_curve, but has no column mean_predicted"):
        plot_calibration_curve(table())
