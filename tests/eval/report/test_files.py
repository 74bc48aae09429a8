import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from boostnoise.eval import write_report
from boostnoise.eval.config.run import Config
from boostnoise.eval.execution.run import Run
from boostnoise.eval.metrics.outcome import NOT_FITTED
from boostnoise.eval.metrics.registry import MEASURES, METRICS
from boostnoise.eval.report.text_tables import summary


@pytest.fixture
def config(small_config):
    return small_config(
        datasets=["iris", "wine"],
        models=[{"name": "[red]a[/red]", "model": "adaboost"}, {"name": "b", "model": "gbm"}],
        noise=[{"kind": "uniform", "rates": [0.25]}],
        tables=["accuracy", "mean_ela", "mean_rla"],
        ela_fig={"fig_dpi": 50},
        rla_fig={"fig_dpi": 50},
    )


@pytest.fixture
def scores(made_scores, with_measures):
    table = made_scores(("[red]a[/red]", "b"), rates=(0.0, 0.25), repeats=2)
    rate = table["noise_rate"]
    accuracy = 0.9 - rate - 0.1 * table["repeat"] - 0.1 * (table["model"] == "b")
    seconds = {"fit_seconds": 1.0, "predict_seconds": 0.5}
    return with_measures(table.assign(accuracy=accuracy, macro_f1=0.8 - rate, leaves=150.25 + rate, **seconds))


FILES = {
    "scores.csv", "scores.parquet", "ela.csv", "ela_mean.csv", "ela.png", "ela.svg", "ela.pdf", "rla.csv",
    "rla_mean.csv", "rla.png", "rla.svg", "rla.pdf", "retention.csv", "retention_mean.csv", "area_under_ela.csv", "area_under_ela_mean.csv",
    "report.html",
    "tables.tex",
}  # fmt: skip


def printed(config, scores, width=80, **changes):
    """Summary of a run as a terminal shows it; `changes` are those of the config."""
    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(summary(config.model_copy(update=changes), scores, width))
    return capture.get()


def test_files(config, scores):
    written = write_report(Run(config, scores))
    assert written[-1].name == "report.html"
    assert {path.name for path in written} == FILES == {path.name for path in config.output_dir.iterdir()}
    for read in (
        pd.read_csv(config.output_dir / "scores.csv"),
        pd.read_parquet(config.output_dir / "scores.parquet"),
    ):
        assert read["error"].isna().all()
        pd.testing.assert_frame_equal(
            read.drop(columns="error"), scores.drop(columns="error"), check_dtype=False
        )
    ela = pd.read_csv(config.output_dir / "ela.csv").set_index(["dataset", "noise_rate", "model"])
    assert ela.loc[("iris", 0.25, "b"), "ela"] == pytest.approx(np.mean([0.45 / 0.8, 0.55 / 0.7]))
    assert (config.output_dir / "ela.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (config.output_dir / "ela.svg").read_text()


def without(config, *names):
    """The config with these curves not saved, which takes time that a test may not need."""
    left_out = {
        f"{name}_fig": getattr(config, f"{name}_fig").model_copy(update={"save_fig": False}) for name in names
    }
    return config.model_copy(update=left_out)


def pictures(*names):
    return {f"{name}.{suffix}" for name in names for suffix in ("png", "svg", "pdf")}


MORE = ["rla_by_dataset", "time"]


@pytest.mark.release
def test_more_figures_and_the_same_bytes_for_the_same_scores(config, scores):
    options = {"fig_title": "mine", "fig_size": [3, 3], "fig_dpi": 50}
    figures = {name: getattr(config, name).model_copy(update=options) for name in ("ela_fig", "rla_fig")}
    config = without(config.model_copy(update={"figures": MORE, **figures}), "rla")
    written = write_report(Run(config, scores))
    assert {path.name for path in written} == FILES - pictures("rla") | pictures(*MORE)
    first = {path.name: path.read_bytes() for path in written}
    assert first == {path.name: path.read_bytes() for path in write_report(Run(config, scores))}
    # The resolution applies to all plots, size and title do not.
    assert b"mine" in first["ela.svg"]
    assert b"mine" not in first["rla_by_dataset.svg"]
    widths = {name: int.from_bytes(first[name][16:20], "big") for name in ("ela.png", "time.png")}
    assert widths["ela.png"] == 150
    assert 300 < widths["time.png"] < 600


def test_a_figure_not_saved_may_be_listed_in_figures(config, scores):
    config = without(config, "ela", "rla").model_copy(update={"figures": ["ela"]})
    assert {path.name for path in write_report(Run(config, scores))} == FILES - pictures("rla")


def test_nothing_slow_is_loaded(slow_imports):
    loaded = slow_imports("import boostnoise.eval.report")
    assert not loaded & {"matplotlib.pyplot", "seaborn", "scipy.stats", "scikit_posthocs", "statsmodels"}


def test_summary(config, scores):
    text = printed(config, scores)
    assert "[red]a[/red]" in text
    assert "mean over 2 data sets" in text
    lines = [line.split() for line in text.splitlines() if line.strip().startswith(("[red]a", "b"))]
    # ELA, the best model first, then RLA.
    assert lines[0] == ["[red]a[/red]", "0.181", "0.476"]
    assert lines[1] == ["b", "0.339", "0.674"]
    assert text.index("Accuracy") < text.index("ELA") < text.index("RLA")


def test_tables_of_other_measures(config, scores):
    tables = ["retention", "mean_area_under_ela", "mean_leaves", "area_under_ela", "macro_f1"]
    text = printed(config, scores, tables=tables)
    lines = [line.split() for line in text.splitlines()]
    assert text.index("Retention, share of accuracy that is kept: uniform noise, [red]a") == 0
    # Repeats 0 and 1 of b: from 0.8 to 0.55 and from 0.7 to 0.45.
    assert ["iris", "1.000", f"{(0.55 / 0.8 + 0.45 / 0.7) / 2:.3f}"] in lines
    assert ["b", f"{((0.2 + 0.45) / 2 / 0.8 + (0.3 + 0.55) / 2 / 0.7) / 2:.3f}"] in lines
    assert ["iris", "0.507"] in lines
    assert "Area under the curve of ELA, equalised loss of accuracy (the lower" in text
    assert ["b", "150.2", "150.5"] in lines
    assert "Macro F1: uniform noise, b" in text


def test_all_from_another_measure(config, scores):
    other = config.model_copy(update={"metric": "macro_f1", "tables": ["accuracy", "mean_ela"]})
    text = printed(other, scores)
    assert "ELA, equalised loss of macro F1 (the lower, the more robust): uniform noise" in text
    assert ["b", "0.250", "0.562"] in [line.split() for line in text.splitlines()]
    assert "Accuracy: uniform noise" in text
    write_report(Run(without(other, "rla"), scores))
    for name, value in (("ela", 0.45 / 0.8), ("rla", 0.25 / 0.8), ("retention", 0.55 / 0.8)):
        table = pd.read_csv(config.output_dir / f"{name}.csv").set_index(["noise_rate"])
        assert table.loc[0.25, name].tolist() == pytest.approx([value] * 4)
    area = pd.read_csv(config.output_dir / "area_under_ela_mean.csv")
    assert area["area_under_ela"].tolist() == pytest.approx([(0.25 + 0.5625) / 2] * 2)
    assert "ELA of macro F1 under uniform" in (config.output_dir / "ela.svg").read_text()


def test_every_table_that_a_config_may_name(config, scores):
    complete = scores.assign(**{name: 0.5 for name in MEASURES if name not in scores})
    names = Config.model_json_schema()["properties"]["tables"]["items"]["enum"]
    assert {name.removeprefix("mean_") for name in names} == set(METRICS)
    assert len(names) == 2 * len(METRICS)
    for name in names:
        assert printed(config, complete, tables=[name]).strip()


def test_failures_are_named(config, scores):
    scores.loc[[1, 3], ["accuracy", "error"]] = [np.nan, "ValueError: [bold]no"]
    text = printed(config, scores, 200)
    assert "2 of 16 cells failed" in text
    assert "b on iris, 2 cells: ValueError: [bold]no" in text
    assert any(line.split() == ["b", "–", "–"] for line in text.splitlines())
    scores.loc[5, ["accuracy", "error"]] = [np.nan, NOT_FITTED]
    scores.loc[3, "error"] = NOT_FITTED
    text = printed(config, scores, 200)
    assert "1 of 16 cells failed and 2 are not fitted yet;" in text
    assert "b on iris, 1 cell: ValueError: [bold]no" in text


def at_rates(scores, rates):
    """Scores at 0 and at other noise rates, copied from those at 0 and 0.25."""
    parts = [scores.assign(noise_rate=scores["noise_rate"] * 4 * rate) for rate in rates]
    return pd.concat(parts).drop_duplicates(["dataset", "noise_rate", "repeat", "model"])


def test_ten_noise_rates_fit_eighty_columns(config, scores):
    many = at_rates(scores, [i / 10 for i in range(1, 10)])
    text = printed(config, many)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    assert text.count("model") == 2  # one header for each table of means, as neither is split


@pytest.mark.parametrize("width", [30, 60, 80])
def test_wide_tables_are_printed_in_parts(config, scores, width):
    many = at_rates(scores, [i / 100 for i in range(100)])
    text = printed(config, many, width, tables=["mean_ela"])
    heads = [line.split()[1:] for line in text.splitlines() if line.strip().startswith("model")]
    assert [rate for head in heads for rate in head] == [f"{i / 100:.4g}" for i in range(100)]
    assert all(len(line) <= width for line in text.splitlines())
    assert "b" in text.split()


def test_one_data_set_gives_one_table(config, scores):
    alone = scores[scores["dataset"] == "iris"]
    text = printed(config, alone, tables=["accuracy"])
    assert text.count("Accuracy") == 1
    assert "uniform noise, iris" in text
