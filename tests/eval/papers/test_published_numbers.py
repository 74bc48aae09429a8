import re
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from boostnoise import Comparison
from boostnoise.eval import write_report
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.execution.run import Run
from boostnoise.eval.papers.published_comparison import CELL, check_cells
from boostnoise.eval.papers.published_numbers import (
    against_published,
    check_published,
    published_names,
    read_published,
)
from boostnoise.eval.report.published_tables import as_markdown

NO_PICTURES = {"ela_fig": {"save_fig": False}, "rla_fig": {"save_fig": False}}


@pytest.fixture
def finished(small_config, made_scores, with_measures):
    """A run with two repeats of two models."""
    models = [{"name": "<b>a|b", "model": "gbm"}, {"name": "c", "model": "adaboost"}]
    scores = made_scores(("<b>a|b", "c"), ("iris",), rates=(0.0, 0.2), repeats=2)
    accuracy = 0.9 - scores["noise_rate"] / 2 + 0.01 * scores["repeat"]
    return Run(small_config(models=models, **NO_PICTURES), with_measures(scores.assign(accuracy=accuracy)))


@pytest.fixture
def table():
    cells = [("iris", "<b>a|b", "uniform", 0.0, 0.91, 0.01), ("iris", "c", "uniform", 0.2, 0.6, 0.01)]
    cells.append(("iris", "none", "uniform", 0.2, 0.6, 0.01))
    return pd.DataFrame(cells, columns=[*CELL, "accuracy", "sd"])


def test_files_and_report(finished, table):
    compared = against_published(finished, table)
    names = {path.name for path in write_report(finished, compared)}
    assert {"published.csv", "published.md", "report.html"} <= names
    folder = finished.config.output_dir
    cells = pd.read_csv(folder / "published.csv")
    assert cells["within"].tolist() == ["yes", "no", "–"]
    assert cells["ours"].tolist()[:2] == pytest.approx([0.905, 0.805])
    text = (folder / "published.md").read_text()
    assert r"| iris | \<b\>a\|b | uniform | 0 | 0.9100 | 0.0100 | 0.9050 | 0.0071 | -0.0050 |" in text
    assert "| none |" not in text
    assert "1 of 2 cells" in text
    page = (folder / "report.html").read_text()
    assert 'id="published"' in page
    assert "<td" in page
    assert "<b>a|b" not in page
    assert "1 of 2 cells (50 %) are within the bands" in page
    assert not {"published.csv", "published.md"} & {path.name for path in write_report(finished)[:-1]}
    assert 'id="published"' not in (folder / "report.html").read_text()


def test_from_a_file_a_name_or_a_frame(finished, table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    texts = {
        str(Comparison(finished).against(source))
        for source in (table, tmp_path / "t.csv", str(tmp_path / "t.parquet"))
    }
    assert len(texts) == 1
    assert as_markdown(against_published(finished, table)).endswith("| no |\n")


@pytest.mark.parametrize("name", published_names())
def test_tables_of_this_package(name):
    folder = files("boostnoise.eval.papers") / "published"
    source, _, rest = (folder / f"{name}.csv").read_text().partition("\n")
    assert re.fullmatch(r"# Source: .{40,}", source)
    assert name[name.index("20") :][:4] in source
    assert rest.startswith("dataset,model,noise_kind,noise_rate,accuracy")
    assert "#" not in rest  # or values would be cut off
    cells = check_cells(read_published(name), "accuracy")
    assert cells["published"].between(0.01, 1).all()
    assert len(cells) > 20
    assert np.isfinite(cells["noise_rate"]).all()


def test_claims_are_part_of_the_summary(finished):
    published = read_published("yang_2019_table_3").query("dataset == 'sonar'")
    models = published["model"].unique()
    scores = published[CELL].assign(accuracy=published["accuracy"], repeat=0, error=None)
    scores.loc[scores["model"] == "gini", "accuracy"] = 0.9
    run = Run(finished.config, scores)
    text = str(Comparison(run).against("yang_2019_table_3"))
    assert (
        "Does not hold: pairwise wins against gini far more often than it loses (0 wins, 0 ties, 2 losses;"
        in text
    )
    assert (
        "Holds: pairwise wins against entropy far more often than it loses (2 wins, 0 ties, 0 losses;" in text
    )
    assert set(models) == {"pairwise", "gini", "entropy"}
    missing = Comparison(Run(finished.config, scores[scores["model"] != "gini"])).against("yang_2019_table_3")
    assert (
        "Not checked, as the run lacks models, data sets or noise rates: pairwise wins against gini far more often than it loses."
        in str(missing)
    )


def test_a_table_of_other_data_is_found_before_the_run(finished, table, tmp_path):
    def check(changed):
        changed.to_csv(tmp_path / "t.csv", index=False)
        with pytest.raises(ConfigError) as before:
            check_published(tmp_path / "t.csv", finished.config)
        with pytest.raises(ConfigError) as after:
            Comparison(finished).against(tmp_path / "t.csv")
        text = str(before.value)
        assert text.replace("config", "run") == str(after.value)
        return text.removeprefix(f"published numbers {str(tmp_path / 't.csv')!r}: ")

    with pytest.raises(ConfigError, match="'yang_2019_table_3': no data set of the config is among theirs, "):
        check_published("yang_2019_table_3", finished.config)
    assert check(table.assign(dataset="irs")) == (
        "no data set of the config is among theirs, irs (did you mean 'iris'?); the config has iris"
    )
    assert check(table.head(1).assign(model="gini")) == (
        "no model of the config is among theirs, gini; the config has <b>a|b, c"
    )
    assert check(table.assign(noise_kind="symmetric")) == (
        "no kind of noise of the config is among theirs, symmetric; the config has uniform"
    )
    assert check(table.assign(noise_rate=0.3).head(1)) == (
        "no cell is in the config, which does not have uniform noise at 0.3 (its rates are 0, 0.2)"
    )


def test_remarks_on_parts_that_the_config_lacks(finished, table, tmp_path):
    def remarks(changed):
        changed.to_csv(tmp_path / "t.csv", index=False)
        where = f"published numbers {str(tmp_path / 't.csv')!r}: the config does not have "
        return [text.removeprefix(where) for text in check_published(tmp_path / "t.csv", finished.config)]

    known = table.head(2)
    assert remarks(known) == []
    other = [("dataset", "irsi"), ("noise_kind", "unifrom"), ("noise_kind", "gaussian")]
    parts = [known, table.tail(1), *(known.head(1).assign(**{name: text}) for name, text in other)]
    assert remarks(pd.concat([*parts, known.tail(1).assign(noise_rate=0.25)])) == [
        "data set irsi (did you mean 'iris'?); model none; kinds of noise unifrom (did you mean 'uniform'?) and gaussian; "
        "uniform noise at 0.25 (its rates are 0, 0.2)"
    ]
    given = parse_config(
        {
            "datasets": [{"path": "a.csv", "target": "y", "noisy": {"expert": "e"}, "name": "iris"}],
            "models": ["gbm"],
            "noise": [{"kind": "given", "labels": ["expert"]}],
        },
        "given",
    )
    cells = known.assign(model="gbm", noise_kind="given (expert)")
    cells.to_csv(tmp_path / "t.csv", index=False)
    assert check_published(tmp_path / "t.csv", given) == []  # its noise rates are unknown before the run


def test_a_study_with_claims_only(finished, small_config, with_measures):
    models = {f"{name}, min_samples_leaf 50": accuracy for name, accuracy in (("tree", 0.9), ("forest", 0.99))}
    specs = [{"name": name, "model": "gbm"} for name in models]
    noise = [{"kind": "uniform", "rates": [0.0, 0.3]}]
    config = small_config("study", datasets=["checkerboard2x2"], models=specs, noise=noise, **NO_PICTURES)
    assert check_published("ghosh_2017_figure_1a", config) == []
    rows = [("checkerboard2x2", name, "uniform", 0.3, accuracy) for name, accuracy in models.items()]
    scores = pd.DataFrame(rows, columns=[*CELL, "accuracy"]).assign(repeat=0, error=None, realised_rate=0.3)
    run = Run(config, with_measures(scores))
    compared = against_published(run, "ghosh_2017_figure_1a")
    text = (
        "Does not hold: With leaves of 50 rows, a tree and a forest have an accuracy of 0.95 or more at "
        "30 % of noise (tree 0.900 and forest 0.990)."
    )
    assert str(compared) == text
    names = [path.name for path in write_report(run, compared)]
    assert "published.md" in names
    assert "published.csv" not in names
    assert (config.output_dir / "published.md").read_text() == f"{text}\n"
    page = (config.output_dir / "report.html").read_text()
    assert text in page
    assert "Published cells" not in page
    where = "published numbers 'ghosh_2017_figure_1a': the config does not have"
    needed = "tree, min_samples_leaf 50, forest, min_samples_leaf 50, checkerboard2x2, which its claim needs"
    with pytest.raises(ConfigError, match=f"{where} {needed}"):
        check_published("ghosh_2017_figure_1a", finished.config)
    with pytest.raises(ConfigError, match="the run does not have"):
        against_published(finished, "ghosh_2017_figure_1a")


def test_errors(finished, tmp_path):
    with pytest.raises(ConfigError, match=r"'yang': must be a CSV or Parquet file, or one of 2020_50stumps, "):
        read_published("yang")
    with pytest.raises(ConfigError, match="no such file"):
        read_published(tmp_path / "none.csv")
    pd.DataFrame({"dataset": [["iris"]]}).to_parquet(tmp_path / "lists.parquet")
    with pytest.raises(ConfigError, match="column 'dataset' has lists"):
        read_published(tmp_path / "lists.parquet")
    with pytest.raises(ConfigError, match="'model' is missing"):
        against_published(finished, pd.DataFrame({"dataset": ["iris"]}))


TABLE_3 = "wilton_2024_table_3"


def test_a_table_whose_numbers_the_package_does_not_have(small_config, made_scores, with_measures, tmp_path):
    """Its claims are checked for the run; with the numbers in a file of its name, also for these."""
    levels = {"ane": 0.9, "credal": 0.86, "cl": 0.82, "mse": 0.81, "ce": 0.8, "gce": 0.79, "twoing": 0.6}
    scores = made_scores(tuple(levels), ("iris",), rates=(0.0, 0.3), repeats=2)
    accuracy = scores["model"].map(levels)
    accuracy = accuracy.mask((scores["model"] == "cl") & (scores["noise_rate"] == 0), 0.5)
    models = [{"name": name, "model": f"robust_tree:{'gini' if name == 'mse' else 'ane'}"} for name in levels]
    finished = Run(small_config(models=models, **NO_PICTURES), with_measures(scores.assign(accuracy=accuracy)))
    assert check_published(TABLE_3, finished.config) == []
    alone = against_published(finished, TABLE_3)
    assert alone.cells.empty
    assert alone.claims["ours"].all()
    assert alone.claims["published"].isna().all()
    numbers = finished.scores.groupby(CELL, as_index=False)["accuracy"].mean()
    numbers["accuracy"] = 1 - numbers["accuracy"]  # the opposite order
    numbers.to_csv(tmp_path / f"{TABLE_3}.csv", index=False)
    compared = against_published(finished, tmp_path / f"{TABLE_3}.csv")
    assert compared.claims["ours"].all()
    assert not compared.claims["published"].iloc[:-1].any()
    assert len(compared.reproduced) == 14


def test_claims_without_numbers_need_the_models(small_config):
    with pytest.raises(ConfigError, match=r"does not have ane, cl, .* ce, which its claims need"):
        check_published(TABLE_3, small_config())
