import numpy as np
import pytest

from boostnoise.eval import plot
from boostnoise.eval.statistics.friedman_nemenyi import friedman_nemenyi
from boostnoise.eval.statistics.score_tables import score_table

SETS = [f"set {i}" for i in range(14)]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def diagram(scores, **options):
    ax = plot(scores, "critical_difference", **options)
    ax.figure.draw_without_rendering()
    return ax


def bars_of(ax):
    return [line for line in ax.lines if (line.get_gid() or "").startswith("group")]


@pytest.mark.parametrize("n", [4, 20])
def test_ranks_and_bars_are_those_of_the_test(made_scores, n):
    models = [f"m{i}" for i in range(n)]
    scores = made_scores(models, datasets=SETS, repeats=1)
    result = friedman_nemenyi(score_table(scores, "accuracy", noise_rate=0.4), higher_is_better=True)
    ax = diagram(scores)
    for i, model in enumerate(models):
        drawn = [line for line in ax.lines if line.get_gid() in (f"model-{i}", f"model-{i}-2")]
        assert all(line.get_xdata()[0] == result.mean_ranks[model] for line in drawn)
        assert len(drawn) == 2
        assert f"{result.mean_ranks[model]:.2f}" in texts(ax)
        assert model in texts(ax)
    bars = [sorted(line.get_xdata()) for line in bars_of(ax)]
    assert len(bars) == len(result.groups)
    for group in result.groups:
        low, high = result.mean_ranks[group].min(), result.mean_ranks[group].max()
        assert any(bar[0] <= low <= high <= bar[1] for bar in bars)
    assert f"critical difference {result.critical_difference:.2f}" in texts(ax)
    assert "α\u00a0=\u00a00.05" in ax.figure.get_supxlabel()


def test_bars_do_not_overlap(made_scores):
    rng = np.random.default_rng(0)
    scores = made_scores([f"m{i}" for i in range(20)], datasets=SETS, repeats=1)
    scores["accuracy"] += rng.normal(0, 0.1, len(scores))
    bars = bars_of(diagram(scores))
    assert len(bars) > 2
    lanes = {}
    for bar in bars:
        lanes.setdefault(bar.get_ydata()[0], []).append(sorted(bar.get_xdata()))
    assert len(lanes) > 1
    for spans in lanes.values():
        for (_, high), (low, _) in zip(sorted(spans), sorted(spans)[1:], strict=False):
            assert high < low


def test_names_do_not_overlap(made_scores):
    ax = diagram(made_scores([f"model {i}" for i in range(20)], datasets=SETS, repeats=1))
    found = [text.get_window_extent() for text in ax.texts if text.get_text().startswith("model")]
    assert len(found) == 20
    assert not any(a.overlaps(b) for i, a in enumerate(found) for b in found[:i])
    inside = ax.figure.bbox
    assert all(box.x0 >= inside.x0 and box.x1 <= inside.x1 for box in found)


@pytest.mark.parametrize(
    ("models", "datasets"), [("abc", SETS[:2]), ("ab", SETS), ("a", SETS), ("abc", SETS[:1])]
)
def test_without_power_there_is_no_diagram(made_scores, models, datasets):
    scores = made_scores(list(models), datasets=datasets)
    result = friedman_nemenyi(score_table(scores, "accuracy", noise_rate=0.4), higher_is_better=True)
    ax = diagram(scores)
    assert not ax.lines
    (remark,) = texts(ax)
    assert " ".join(remark.split()) == f"No diagram. {result.remark}"
    assert "Nemenyi" not in ax.figure.get_supxlabel()


def test_caption_names_what_was_excluded(made_scores, fail):
    scores = made_scores("abcd", datasets=SETS)
    fail(scores, dataset="set 3", model="a")
    fail(scores, None, model="b")
    caption = " ".join(diagram(scores).figure.get_supxlabel().split())
    assert "over 13 data sets" in caption
    assert "Excluded data sets (a model has no value): set 3." in caption
    assert "Excluded models (no values): b." in caption


def test_kinds_of_noise_one_below_the_other(made_scores):
    axes = plot(
        made_scores("abcd", datasets=SETS, kinds=("uniform", "pair")), "critical_difference", metric="ela"
    )
    assert [ax.get_title() for ax in axes] == ["at 40 % uniform noise", "at 40 % pair noise"]
    assert "Under pair noise: Friedman's test over 14 data sets" in " ".join(
        axes[0].figure.get_supxlabel().split()
    )
