import base64
import re
from functools import partial
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from boostnoise import Comparison
from boostnoise.eval import best_and_overlapping, rank_table, score_table, verdict
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.execution.run import Run
from boostnoise.eval.metrics.registry import MEASURES
from boostnoise.eval.report.files import write_report

NAMES = ["<script>alert(1)</script>", "a_b & 50% | $\\lambda$"]
SETS = ["iris", "wine_|", "digits"]


def comparison_of(scores, **changes):
    content = {
        "datasets": [{"name": name, "set": "iris"} for name in scores["dataset"].unique()],
        "models": [{"name": name, "model": "gbm"} for name in scores["model"].unique()],
        "noise": [{"kind": "uniform", "name": k, "rates": [0.1, 0.4]} for k in scores["noise_kind"].unique()],
        "repeats": int(scores["repeat"].nunique()),
    }
    scores = scores.reindex(columns=[*scores, *(name for name in MEASURES if name not in scores)])
    return Comparison(Run(parse_config(content | changes, "mine & <b>"), scores))


@pytest.fixture(scope="module")
def scores(made_scores):
    return made_scores(models=NAMES, datasets=SETS)


@pytest.fixture(scope="module")
def comparison(scores):
    return comparison_of(scores)


@pytest.fixture(scope="module")
def two_kinds(made_scores):
    return comparison_of(made_scores(models=["a", "b", "c"], kinds=("uniform", "pair_flip")))


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_scores_are_a_copy(comparison, scores):
    mine = comparison.scores
    pd.testing.assert_frame_equal(mine[list(scores)], scores)
    mine["accuracy"] = 0.0
    pd.testing.assert_frame_equal(comparison.scores[list(scores)], scores)


def test_curves(comparison, scores):
    table = comparison.ela()
    assert list(table.index) == NAMES
    assert table.columns.tolist() == [0.0, 0.1, 0.4]
    assert (table.index.name, table.columns.name) == ("model", "noise_rate")
    wide = scores.pivot(index=["dataset", "repeat", "model"], columns="noise_rate", values="accuracy")
    expected = ((1 - wide[0.4]) / wide[0.0]).groupby("model").mean()
    np.testing.assert_allclose(table[0.4], expected[NAMES])
    np.testing.assert_allclose(
        comparison.rla()[0.4], ((wide[0.0] - wide[0.4]) / wide[0.0]).groupby("model").mean()[NAMES]
    )
    by_set = comparison.curve("accuracy", by_dataset=True)
    assert list(by_set.index) == [(dataset, model) for dataset in SETS for model in NAMES]
    np.testing.assert_allclose(by_set[0.1], wide[0.1].groupby(["dataset", "model"]).mean()[by_set.index])
    area = comparison.curve("area_under_ela")
    assert list(area.columns) == ["area"]
    assert list(area.index) == NAMES


def test_kinds_of_noise(two_kinds):
    table = two_kinds.ela()
    assert list(table.index) == [(kind, model) for kind in ("uniform", "pair_flip") for model in "abc"]
    pd.testing.assert_frame_equal(two_kinds.ela(noise_kind="pair_flip"), table.loc["pair_flip"])
    for method in (two_kinds.ranks, two_kinds.tests, two_kinds.to_latex, two_kinds.to_markdown):
        with pytest.raises(
            ValueError, match=r"there are several kinds of noise; noise_kind must be one of uniform, pair_flip$"
        ):
            method()
    with pytest.raises(ValueError, match="noise_kind must be one of uniform, pair_flip, got 'label'"):
        two_kinds.ela(noise_kind="label")


def test_rows_lie_within_each_kind_of_noise(made_scores):
    scores = made_scores("ab", kinds=("uniform", "pair_flip"))
    # As a run has them: data set by data set.
    scores = scores.sort_values("dataset", kind="stable", ignore_index=True)
    rows = [
        (kind, name, model) for kind in ("uniform", "pair_flip") for name in ("iris", "wine") for model in "ab"
    ]
    assert list(comparison_of(scores).ela(by_dataset=True).index) == rows
    assert list(comparison_of(scores).curve("area_under_ela", by_dataset=True).index) == rows


@pytest.mark.parametrize(("metric", "higher"), [("accuracy", True), ("ela", False), ("fit_seconds", False)])
def test_ranks(comparison, scores, metric, higher):
    table = score_table(scores, metric, noise_rate=0.4)
    pd.testing.assert_frame_equal(
        comparison.ranks(0.4, metric=metric), rank_table(table, higher_is_better=higher)
    )
    assert comparison.ranks(0.4, metric=metric).sum(axis=1).tolist() == [3.0] * 3


def test_default_noise_rate_is_that_of_the_verdict(comparison):
    # The rate nearest to 30 %.
    assert "At 40 %" in comparison.verdict()
    pd.testing.assert_frame_equal(comparison.ranks(), comparison.ranks(0.4))
    assert comparison.tests().noise_rate == 0.4
    assert comparison.tests(metric="area_under_ela").noise_rate is None
    assert "at 40 % uniform noise" in comparison.to_markdown()
    assert comparison.verdict(0.1) == verdict(comparison.scores, noise_rate=0.1)[0]


def test_tests(two_kinds):
    found = two_kinds.tests(0.1, "b", metric="ela", noise_kind="pair_flip")
    assert (found.metric, found.noise_rate, found.noise_kind) == ("ela", 0.1, "pair_flip")
    assert found.wilcoxon_holm.control == "b"
    assert found.friedman_nemenyi.mean_ranks.sum() == 6
    text = str(found)
    assert text.startswith("ELA, equalised loss of accuracy at 10 % pair_flip noise\n")
    for part in (found.friedman_nemenyi, found.wilcoxon_holm, found.paired_t):
        assert str(part) in text
    flowing = text.replace("\n", " ")
    assert "by corrected resampled t-tests over the repeats of each (α = 0.05): " in flowing
    assert max(map(len, text.splitlines())) <= 88
    assert "(α = 0.1): " in str(two_kinds.tests(0.1, noise_kind="uniform", alpha=0.1)).replace("\n", " ")
    with pytest.raises(ValueError, match="control must be one of a, b, c, got 'z'"):
        two_kinds.tests(0.1, "z", noise_kind="uniform")
    with pytest.raises(ValueError, match=r"noise_rate must be one of 0, 0\.1, 0\.4, got 0\.2"):
        two_kinds.tests(0.2, noise_kind="uniform")


def test_another_measure(scores):
    comparison = comparison_of(scores, metric="macro_f1")
    pd.testing.assert_frame_equal(comparison.ranks(0.4), comparison_of(scores).ranks(0.4, metric="macro_f1"))
    assert "Macro F1 at 40 % uniform noise" in comparison.to_markdown()
    assert "ELA, equalised loss of macro F1" in str(comparison)
    assert "ELA, equalised loss of macro F1" in comparison._repr_html_()


def test_figures_belong_to_pyplot(comparison):
    ax = comparison.plot()
    assert plt.gcf() is ax.figure
    comparison.plot("heatmap", noise_rate=0.1)
    assert len(plt.get_fignums()) == 2
    figure, ax = plt.subplots()
    assert comparison.plot("accuracy", ax=ax, models=NAMES[:1]) is ax
    assert len(plt.get_fignums()) == 3
    assert figure.axes[0] is ax
    with pytest.raises(ValueError, match="plot must be one of"):
        comparison.plot("elq")


def test_plots_use_the_noise_rate_of_the_verdict(two_kinds, made_scores):
    assert "at 40 % uniform noise" in two_kinds.plot("heatmap", noise_kind="uniform").figure.get_suptitle()
    rates = comparison_of(made_scores(rates=(0.0, 0.25, 0.4)))
    assert "at 25 % uniform noise" in rates.plot("heatmap").figure.get_suptitle()
    assert "at 40 % uniform noise" in rates.plot("heatmap", noise_rate=0.4).figure.get_suptitle()
    rates.plot("heatmap", metric="area_under_ela")


def test_each_argument_is_checked(comparison):
    wrong = "^noise_rate must be one of 0, 0.1, 0.4.*, got 'a'$"
    for call in (comparison.ranks, comparison.tests, comparison.verdict):
        with pytest.raises(ValueError, match=wrong):
            call("a")
    for call in (comparison.to_latex, comparison.to_markdown, partial(comparison.plot, "heatmap")):
        with pytest.raises(ValueError, match=wrong):
            call(noise_rate="a")
    with pytest.raises(ValueError, match=r"^plot must be one of ela, .*, got None$"):
        comparison.plot(None)
    for argument in ("caption", "label"):
        with pytest.raises(TypeError, match=f"^{argument} must be text or None, got 3$"):
            comparison.to_latex(**{argument: 3})


def test_panels_are_an_array(two_kinds):
    axes = two_kinds.plot("ela_by_dataset")
    assert axes.shape == (2, 2)
    assert plt.gcf() is axes[0, 0].figure
    assert two_kinds.plot("ela", noise_kind="uniform").figure is plt.gcf()


def test_a_run_writes_the_table_of_each_kind_of_noise(two_kinds):
    write_report(two_kinds.run)
    text = (two_kinds.config.output_dir / "tables.tex").read_text(encoding="utf-8")
    assert text.startswith("% These tables need \\usepackage{booktabs}.\n")
    tables = [two_kinds.to_latex(noise_kind=kind) for kind in two_kinds.run.scores["noise_kind"].unique()]
    assert len(tables) == 2
    assert text.endswith("\n".join(tables))


def latex_of(text):
    """The cells of each row of a LaTeX table."""
    body = text.split("\\begin{tabular}")[1].split("\\end{tabular}")[0]
    lines = [line for line in body.splitlines() if line.endswith(r"\\")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)&", line.removesuffix(r"\\"))] for line in lines]


def test_latex(comparison, scores):
    text = comparison.to_latex(noise_rate=0.4, label="tab:mine")
    head, *rows = latex_of(text)
    assert head == ["data set", r"\textless{}script\textgreater{}alert(1)\textless{}/script\textgreater{}", r"a\_b \& 50\% \textbar{} $\lambda$"]  # fmt: skip
    assert [row[0] for row in rows] == ["iris", r"wine\_\textbar{}", "digits"]
    means = score_table(scores, "accuracy", noise_rate=0.4)
    repeats = scores[scores["noise_rate"] == 0.4].groupby(["dataset", "model"])["accuracy"]
    marks = best_and_overlapping(scores, "accuracy", noise_rate=0.4).table.set_index(["dataset", "model"])
    for dataset, row in zip(SETS, rows, strict=True):
        for model, cell in zip(NAMES, row[1:], strict=True):
            spread = repeats.std()[dataset, model]
            assert f"{means.loc[dataset, model]:.3f} \\pm {spread:.3f}" in cell
            assert cell.startswith(r"$\mathbf{") == marks.loc[(dataset, model), "best"]
            assert cell.endswith("^{*}$") == marks.loc[(dataset, model), "overlaps"]
    assert text.count(r"\mathbf") == 3
    assert r"\label{tab:mine}" in text
    assert r"asterisk: 97.5 \% t interval of the mean over the repeats overlaps the best model's." in text
    assert r"\caption{Accuracy at 40 \% uniform noise; mean and standard deviation over 3 repeats;" in text
    assert text.count("{") == text.count("}")
    assert [text.count(f"\\begin{{{name}}}") for name in ("table", "tabular")] == [1, 1]
    assert re.findall(r"(?<!\\)[%#]", text) == []
    assert r"\caption{50\% of it}" in comparison.to_latex(caption="50% of it")
    assert r"\label" not in comparison.to_latex()


def test_markdown(comparison):
    lines = comparison.to_markdown(noise_rate=0.4).splitlines()
    assert lines[0] == r"| data set | \<script\>alert(1)\</script\> | a\_b \& 50% \| $\lambda$ |"
    assert lines[1] == "|---|---:|---:|"
    assert [line.split(" | ")[0] for line in lines[2:5]] == ["| iris", r"| wine\_\|", "| digits"]
    assert sum(line.count("**") for line in lines[2:5]) == 6
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in lines[:5])


def test_tables_with_missing_values(scores, fail):
    holes = scores.copy()
    fail(holes, "lost <b>", dataset="iris", model=NAMES[0], repeat=1)
    comparison = comparison_of(holes)
    (_, iris, *_) = latex_of(comparison.to_latex(noise_rate=0.4))
    assert iris[1] == "--"
    assert iris[2].startswith(r"$\mathbf{")
    assert comparison.ranks(0.4).loc["iris"].isna().all()
    assert "lost <b>" in str(comparison)
    assert str(comparison.tests(0.4)).count("lost <b>") == 1
    assert "lost &lt;b&gt;" in comparison._repr_html_()


def test_one_repeat_has_no_spread(made_scores):
    comparison = comparison_of(made_scores(repeats=1))
    assert r"\pm" not in comparison.to_latex()
    assert "asterisk" not in comparison.to_latex()
    assert "One repeat is too few for paired t-tests" in str(comparison.tests())


def test_text(comparison, two_kinds):
    text = str(comparison)
    assert text.startswith(
        "mine & <b>: 2 models on 3 data sets under uniform noise, 3 repeats\nTested on the labels of the data, "
        "which may be wrong; noisyaudit estimates how many are.\n\nAt 40 %"
    )
    assert "ELA, equalised loss of accuracy (the lower, the more robust): uniform noise, mean over 3" in text
    assert f"{comparison.ela().loc[NAMES[1], 0.4]:.3f}" in text
    assert max(map(len, text.splitlines())) <= 100
    assert repr(two_kinds).endswith("3 models on 2 data sets under uniform, pair_flip noise, 3 repeats>")
    assert str(two_kinds).count("(the lower, the more robust)") == 2


def test_noise_on_test_labels_is_mentioned(made_scores, tmp_path):
    noise = [{"kind": "uniform", "rates": [0.1, 0.4]}, {"kind": "label", "rates": [0.1, 0.4]}]
    both = comparison_of(made_scores(kinds=("uniform", "label")), noise=noise)
    note = "Under label noise models are scored on noisy test labels."
    for text in (str(both), both._repr_html_(), both.verdict()):
        assert text.count(note) == 1
    page = both.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count(note) == page.count("Tested on the labels of the data, which may be wrong") == 1
    for write in (both.to_markdown, both.to_latex):
        assert note in write(noise_rate=0.4, noise_kind="label")
        assert "noisy test" not in write(noise_rate=0.4, noise_kind="uniform")
        assert "noisy test" not in write(noise_rate=0.0, noise_kind="label")
    assert "noisy test" not in str(comparison_of(made_scores()))


def test_html_for_notebooks(comparison):
    html = comparison._repr_html_()
    assert html == comparison._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "mine &amp; &lt;b&gt;" in html
    assert html.count("Tested on the labels of the data, which may be wrong") == 1
    # Well formed, but for the void element.
    tree = ElementTree.fromstring(re.sub(r"<img ([^>]*)>", r"<img \1/>", html).replace("&nbsp;", ""))
    assert [cell.text for cell in tree.findall(".//tbody//th")] == [NAMES[0], "a_b & 50% | λ"]
    assert [cell.text for cell in tree.findall(".//thead//th")][1:4] == ["0 %", "10 %", "40 %"]
    (image,) = tree.findall(".//img")
    media_type, _, content = image.get("src").partition(",")
    assert media_type == "data:image/svg+xml;base64"
    svg = base64.b64decode(content).decode()
    assert svg.count('id="model-0') >= 1
    assert "<script" not in svg.lower()
    assert plt.get_fignums() == []


def test_names_that_the_font_lacks(made_scores):
    comparison = comparison_of(made_scores(models=["\u6a21\u578b"]))
    assert "\u6a21\u578b" in comparison._repr_html_()
    assert "\u6a21\u578b" in comparison.to_latex()


def test_nothing_but_failures(made_scores):
    scores = made_scores().assign(accuracy=np.nan, error="no luck")
    comparison = comparison_of(scores)
    assert "no data set has values of" in " ".join(str(comparison).split())
    assert comparison._repr_html_().count("no luck") > 1
    assert comparison.ranks().isna().all(axis=None)
    assert not comparison.tests().wilcoxon_holm.has_power
    assert latex_of(comparison.to_latex())[1] == ["iris", "--", "--"]
    text = str(comparison.tests())
    assert "Empty DataFrame" not in text
    assert text.count("no luck") == 2  # once for each model


def test_without_noise(made_scores):
    comparison = comparison_of(made_scores(rates=(0.0,)), noise=[{"kind": "uniform", "rates": [0.0]}])
    assert str(comparison.tests()).startswith("Accuracy without noise\n")
    assert r"\caption{Accuracy without noise;" in comparison.to_latex()


def test_report(comparison, tmp_path):
    path = comparison.report(tmp_path / "new" / "page.html")
    assert path == tmp_path / "new" / "page.html"
    assert "<!doctype html>" in path.read_text(encoding="utf-8")[:100].lower()
    assert comparison.config.output_dir.name == "mine & <b>"


def test_a_report_goes_to_the_folder_of_the_run(made_scores, tmp_path):
    comparison = comparison_of(made_scores(), results_dir=str(tmp_path))
    assert comparison.report() == tmp_path / "mine & <b>" / "report.html"


def test_slow_libraries_are_loaded_when_they_are_needed(slow_imports):
    loaded = slow_imports("from boostnoise import Comparison, compare")
    assert not loaded & {"matplotlib", "scipy.stats", "xgboost", "lightgbm", "numba", "statsmodels"}
