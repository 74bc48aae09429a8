"""Nothing that a config may hold costs the report after all fits."""

import dataclasses
import json
import re
import subprocess

import pytest

from boostnoise.eval import load_config
from boostnoise.eval.config.figures import FigureOptions
from boostnoise.eval.config.line_styles import check_figures, check_options
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.plotting.mathtext import text_of
from boostnoise.eval.report.formulas import escape_latex, escape_markdown, readable, readable_names
from boostnoise.eval.report.html.styles import plotly_style

DEEP = {
    "superscripts": "$" + "x^{" * 60 + "1" + "}" * 60 + "$",
    "fractions": "$" + r"\frac{1}{" * 300 + "1" + "}" * 300 + "$",
    "brackets": "$" + r"\left(" * 60 + "1" + r"\right)" * 60 + "$",
    "long": "$" + "x" * 5000 + "$",
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_latex_is_shown_as_text(name):
    text = DEEP[name]
    assert text_of(text) == text.replace("$", r"\$")
    assert readable(text) == text


def test_latex_of_usual_depth_is_drawn():
    for text in (r"$\gamma = 0.1$", r"$\frac{a}{b_{1}^{2}}$", "$" + "x^{" * 5 + "1" + "}" * 5 + "$"):
        assert text_of(text) == text


def config_of(**changes):
    content = {"datasets": ["iris"], "models": ["nb"], "noise": [{"kind": "uniform", "rates": [0.1]}]}
    model = {"name": "nb", "module": "sklearn.naive_bayes", "model": "GaussianNB"}
    return parse_config(content | {"models": [model]} | changes, "study")


@pytest.mark.parametrize("title", ["\ud800", "a\x1b[2J", "x" * 10_000, "\u202e"])
def test_titles_are_checked_before_any_fit(title):
    with pytest.raises(ConfigError, match="fig_title"):
        config_of(ela_fig={"fig_title": title})


def test_titles_may_have_several_lines():
    assert config_of(ela_fig={"fig_title": "one\ntwo"}).ela_fig.fig_title == "one\ntwo"


@pytest.mark.parametrize(
    "look",
    [
        {"markersize": 1e9},
        {"ms": 1e9},
        {"linewidth": 1e300},
        {"markeredgewidth": -1},
        {"linestyle": [0, [1e-9, 1e-9]]},
        {"markevery": 1e-12},
        {"marker": "$" + "x^{" * 60 + "}" * 60 + "$"},
    ],
)
def test_lines_that_cannot_be_drawn_are_refused_before_any_fit(look):
    config = config_of(ela_fig={"plot_kwargs": [look]})
    with pytest.raises(ConfigError, match=r"ela_fig.plot_kwargs\[0\]"):
        check_figures(config)


@pytest.mark.parametrize(
    "look", [{"linestyle": "--"}, {"marker": None}, {"markersize": 12}, {"markevery": 2}, {"markevery": 0.1}]
)
def test_usual_lines_are_drawn(look):
    check_figures(config_of(ela_fig={"plot_kwargs": [look]}))


def test_a_picture_that_cannot_be_drawn_costs_that_picture(folder, monkeypatch):
    from boostnoise.eval.execution.run import load_run
    from boostnoise.eval.report import files as report

    drawn = report.plot_run

    def plot(config, scores, name):
        if name == "ela":
            raise RecursionError("too deep")
        return drawn(config, scores, name)

    monkeypatch.setattr(report, "plot_run", plot)
    results = folder / "results" / "study"
    for path in results.iterdir():
        path.unlink()
    run = load_run(results)
    options = FigureOptions(fig_dpi=30)
    pictures = run.config.model_copy(update={"ela_fig": options, "rla_fig": options})
    with pytest.warns(UserWarning, match="ela cannot be drawn"):
        report.write_report(dataclasses.replace(run, config=pictures))
    names = {path.name for path in results.iterdir()}
    assert {"rla.png", "rla.svg", "rla.pdf", "scores.csv", "report.html"} <= names
    assert "ela.png" not in names


@pytest.mark.release
def test_neither_closed_streams_nor_a_window_system_fail_a_run(folder, command, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "nope")  # a window system that is not there
    results = folder / "results" / "study"
    (results / "report.html").unlink()
    config = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps(config | {"ela_fig": {"fig_dpi": 30}}))
    line = f"{command} study.json 0>&- 1>&- 2>&-"
    assert subprocess.run(line, shell=True, cwd=folder, timeout=300).returncode == 0
    for name in ("report.html", "ela.png", "ela.svg", "ela.pdf"):
        assert (results / name).exists()


@pytest.mark.parametrize("redirect", ["2>&-", ">&- 2>&-"])
def test_a_mistake_is_told_by_the_exit_status_where_streams_are_closed(folder, command, redirect):
    (folder / "study.json").write_text("{}")
    line = f"{command} study.json {redirect}"
    assert subprocess.run(line, shell=True, cwd=folder, timeout=300).returncode == 2


def test_names_are_no_formulas_to_a_spreadsheet(tmp_path, noisyeval):
    names = ['=HYPERLINK("http://x","y")', "+1", "-1", "@SUM(A1)", "a=b"]
    models = [{"name": name, "module": "sklearn.naive_bayes", "model": "GaussianNB"} for name in names]
    (tmp_path / "study.json").write_text(
        json.dumps(
            {
                "datasets": ["iris"],
                "models": models,
                "noise": [{"kind": "uniform", "rates": [0.0]}],
                "repeats": 1,
                "ela_fig": {"save_fig": False},
                "rla_fig": {"save_fig": False},
            }
        )
    )
    assert noisyeval(tmp_path, "study.json", "-q").exit_code == 0
    results = tmp_path / "results" / "study"
    for path in results.glob("*.csv"):
        text = path.read_text()
        for cell in text.replace('"', "").replace("\n", ",").split(","):
            assert not cell.startswith(("=", "+", "@")), (path.name, cell)
        assert "'-1" in text
        assert "a=b" in text
        assert "'a=b" not in text


def test_a_config_of_gigabytes_is_not_read(tmp_path):
    path = tmp_path / "zeros.json"
    with path.open("wb") as file:
        file.truncate(2**40)  # takes no space
    with pytest.raises(ConfigError, match="characters"):
        load_config(path)


def test_a_report_that_cannot_be_made_costs_nothing_else(folder, monkeypatch, refused):
    from boostnoise.eval.report.html import page as html_report

    def fail(*_):
        raise ZeroDivisionError("no such page")

    monkeypatch.setattr(html_report, "render_page", fail)
    results = folder / "results" / "study"
    for path in results.iterdir():
        path.unlink()
    assert "no such page" in refused(folder, "--redraw", "results/study")
    assert {"scores.csv", "ela.csv"} <= {path.name for path in results.iterdir()}


@pytest.mark.parametrize("rates", [[1e-9, 0.2], [0.1, 0.1000001]])
def test_rates_that_tables_cannot_tell_apart_are_refused(rates):
    with pytest.raises(ConfigError, match="too close"):
        config_of(noise=[{"kind": "uniform", "rates": rates}])
    with pytest.raises(ConfigError, match="too close"):
        config_of(noise=[{"kind": "class_conditional", "rates": [[rate, rate] for rate in rates]}])


def test_readable_names_are_different_whatever_the_names_are():
    names = ["$a$", "a", r"$\text{\textdollar}$a$\text{\textdollar}$"]
    assert len(set(readable_names(names).values())) == len(names)


@pytest.mark.parametrize("key", ["color", "linewidth", "markersize", "linestyle", "marker", "alpha"])
def test_lines_may_leave_a_key_to_the_default(key):
    options = config_of(ela_fig={"plot_kwargs": [{key: None}]}).ela_fig
    check_options(options, "ela_fig")
    assert plotly_style(0, 1, options)["colour"].startswith("#")


WILD_LATEX = [
    r"$\text{\input /etc/passwd }$",
    r"$\text{\immediate\openout3=thesis.tex }$",
    r"${\text{\immediate\write18{touch x}}}$",
    r"$\input x$",
    r"$\mathrm{\input x}$",
]


@pytest.mark.parametrize("name", WILD_LATEX)
def test_no_name_is_a_command_of_latex(name):
    for escaped in (escape_latex(name), escape_markdown(name)):
        assert not re.search(r"(?<!\\)\\(input|openout|write|immediate)", escaped)


def test_formulas_stay_formulas_in_latex():
    for name in (r"$\gamma = 0.1$", r"$\frac{a}{b}$", r"$\hat{\lambda}_{1}$"):
        assert escape_latex(name) == name


def test_no_figure_is_wider_than_the_largest(monkeypatch):
    import pandas as pd

    from boostnoise.eval import plot
    from boostnoise.eval.config.figures import MAX_PIXELS, FigureOptions

    rows = [
        {"dataset": "d", "noise_kind": f"n{k}", "noise_rate": rate, "repeat": 0, "accuracy": 0.9 - rate, "error": None,
         "model": rf"$\hspace{{{400 + m}}}x$"}
        for k in range(4) for rate in (0.0, 0.2) for m in range(2)
    ]  # fmt: skip
    axes = plot(pd.DataFrame(rows), "ela", options=FigureOptions(fig_dpi=2000))
    assert axes[0].figure.get_figwidth() * 2000 <= MAX_PIXELS


def test_semicolons_begin_no_formula_either(tmp_path):
    import pandas as pd

    from boostnoise.eval.report.files import write_csv

    path = tmp_path / "a.csv"
    with path.open("wb") as file:
        write_csv(pd.DataFrame({"name": ["iris;=1+1;", "a;@b", "＝1", "a-b"]}), file)
    assert path.read_text(encoding="utf-8").split() == ["name", "iris;'=1+1;", "a;'@b", "'＝1", "a-b"]


def test_blanks_before_a_formula_and_controls_of_a_terminal(tmp_path):
    import pandas as pd

    from boostnoise.eval.report.files import write_csv

    texts = [
        "\n=1+1",
        "\t=1",
        "\r\n =1",
        "  +1",
        "a\n@b",
        "\xa0=1",
        "\x1b[2J",
        "a\u202eb",
        "\x85=1",
        "می\u200cروم",
        "a\n=b",
    ]
    path = tmp_path / "a.csv"
    with path.open("wb") as file:
        write_csv(pd.DataFrame({"name": texts, "=1+1": 1.5, "flag": True, "mixed": [None, *texts[1:]]}), file)
    read = pd.read_csv(path, keep_default_na=False)
    assert list(read) == ["name", "'=1+1", "flag", "mixed"]
    assert read["name"].tolist() == [
        "\n'=1+1", "\t'=1", "\r\n '=1", "  '+1", "a\n'@b", "\xa0'=1",
        r"\u001b[2J", r"a\u202eb", r"\u0085=1", "می\u200cروم", "a\n'=b",
    ]  # fmt: skip


def test_names_in_pages_and_tables_do_not_control_a_terminal():
    from boostnoise.eval.report.html.page import _json, environment

    name = "a\x1b[2J\u202eb\nc<"
    page = environment().from_string("{{ name }} {{ name | breakable }}").render(name=name)
    assert page == "a�[<wbr>2J�b\nc&lt; a�[2J�b\nc&lt;".replace("<wbr>", "")
    assert json.loads(_json([name, "\\u202e", "😀ü"])) == ["a�[2J�b\nc<", "\\u202e", "😀ü"]
    assert escape_markdown(name) == "a�\\[2J�b�c\\<"
    assert not {"\x1b", "\u202e"} & set(escape_latex(name))
