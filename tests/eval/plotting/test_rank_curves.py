import numpy as np
from scipy.stats import rankdata

from boostnoise.eval import plot

SETS = [f"set {i}" for i in range(5)]


def test_mean_ranks_and_their_bands(made_scores):
    scores = made_scores("abc", datasets=SETS)
    scores["accuracy"] += np.random.default_rng(1).normal(0, 0.2, len(scores))
    ax = plot(scores, "ranks")
    means = scores.groupby(["noise_rate", "dataset", "model"])["accuracy"].mean().unstack()
    ranks = means.apply(lambda row: rankdata(-row), axis=1, result_type="broadcast")
    expected = ranks.groupby("noise_rate").mean()
    bottom, top = ax.get_ylim()
    assert top < 1 < 3 < bottom
    assert ax.figure.get_supxlabel() == "Band: 95 % t interval of the mean over 5 data sets"
    for model, line, band in zip("abc", ax.lines, ax.collections, strict=True):
        np.testing.assert_allclose(line.get_ydata(), expected[model])
        vertices = band.get_paths()[0].vertices
        for rate, rank in zip(line.get_xdata(), line.get_ydata(), strict=True):
            edges = vertices[np.isclose(vertices[:, 0], rate), 1]
            assert edges.min() <= rank <= edges.max()
            assert edges.min() >= 1 - 1e-12
            assert edges.max() <= 3 + 1e-12


def test_sets_with_a_missing_value_do_not_count(made_scores, fail):
    scores = made_scores("abc", datasets=SETS)
    fail(scores, dataset="set 0", noise_rate=0.4, model="a")
    ax = plot(scores, "ranks")
    assert np.isfinite(ax.lines[0].get_ydata()).all()
    caption = " ".join(ax.figure.get_supxlabel().split())
    assert "over 4 to 5 data sets; of 5: data sets where a model has no value are excluded" in caption


def test_ranks_are_among_the_models_that_are_drawn(made_scores):
    ax = plot(made_scores("abc", datasets=SETS), "ranks", models=["b", "c"])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), 1)


def test_lower_losses_are_better(made_scores):
    ax = plot(made_scores("abc", datasets=SETS), "ranks", metric="ela")
    np.testing.assert_allclose(ax.lines[0].get_ydata(), 1)
