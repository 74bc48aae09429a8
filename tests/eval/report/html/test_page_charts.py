"""The charts of the HTML report in a real browser."""

import re

import pytest
from matplotlib.colors import to_hex

from boostnoise.eval.execution.run import Run
from boostnoise.eval.metrics.curves import curve, mean_curve
from boostnoise.eval.metrics.outcome import NOT_FITTED
from boostnoise.eval.plotting.styles import line_style
from boostnoise.eval.report.html.styles import DARK_PAGE, lighten

pytestmark = pytest.mark.release


def rgb(colour):
    red, green, blue = (int(to_hex(colour)[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgb({red}, {green}, {blue})"


def test_each_model_has_a_line_of_its_colour_in_every_chart(shown, run):
    colours = {str(i): rgb(line_style(i, 3, run.config.ela_fig)["color"]) for i in range(3)}
    assert len(set(colours.values())) == 3
    charts = [f"#curves [data-chart={name}]" for name in ("ela", "rla", "accuracy", "rank")]
    charts += [f"#set-{i} [data-chart={name}]" for i in range(4) for name in ("ela", "rla", "accuracy")]
    for chart in charts:
        assert shown.lines(chart) == colours, chart
    legend = shown.js(
        "[...document.querySelectorAll('#models .swatch')].map((swatch) => getComputedStyle(swatch).stroke)"
    )
    assert legend == list(colours.values())
    assert list(shown.lines("[data-chart=time]")) == ["0", "1", "2"]


def test_hovering_shows_the_values(shown, run):
    for chart, table in (
        ("#curves [data-chart=ela]", mean_curve(run.scores, "ela")),
        ("#set-1 [data-chart=accuracy]", curve(run.scores, "accuracy").query("dataset == 'set 1'")),
    ):
        plot = shown.page.locator(chart)
        plot.scroll_into_view_if_needed()
        metric = "ela" if "ela" in table else "accuracy"
        value = table.query("model == 'forest' and noise_rate == 0.4")[metric].item()
        # The last point of the second of three lines; bands have none.
        box = plot.locator(".trace:has(path.point)").nth(1).locator("path.point").last.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        shown.page.mouse.move(x - 2, y)
        shown.page.mouse.move(x, y)
        label = plot.locator(".hoverlayer .hovertext")
        label.wait_for()
        assert re.match(rf"forest at 40\s%{value:.3f}  \[0\.\d{{3}}, 0\.\d{{3}}\]", label.text_content())


def test_each_chart_describes_its_band(opened, run, make_run):
    interval = "95 % t interval of the mean over"
    tab = opened(run)
    for metric in ("ela", "rla", "accuracy"):
        assert tab.notes(metric) == [f"Mean over 4 data sets. Band: {interval} 3 repeats."]
    ranks = f"Ranks of all three models over all four data sets. Band: {interval} 4 data sets."
    assert tab.notes("rank") == [ranks]
    bars = f"Mean over 4 data sets. Error bars of accuracy and time: {interval} 3 repeats."
    assert tab.notes("time") == [bars]
    assert f"Ranges in small print: {interval} 3 repeats." in tab.page.locator("#curves").inner_text()
    of_each = "Bands and ranges in small print: "
    assert f"{of_each}{interval} 3 repeats." in tab.page.locator("#sets").inner_text()
    tab = opened(make_run(datasets=2, repeats=2))
    none = "none (two repeats are too few; at least three repeats needed)."
    assert tab.notes("ela") == [f"Mean over 2 data sets. Band: {none}"]
    assert tab.notes("time") == [f"Mean over 2 data sets. Error bars of accuracy and time: {none}"]
    assert f"{of_each}{none}" in tab.page.locator("#sets").inner_text()
    none = "none (two data sets are too few; at least three data sets needed)."
    assert tab.notes("rank") == [f"Ranks of all three models over both data sets. Band: {none}"]


def test_ranks_that_cannot_be_compared_are_not_joined(opened, make_run):
    def fails(row):
        rate, dataset = row["noise_rate"], row["dataset"]
        missing = {
            "uniform": (rate >= 0.3 and row["model"] == "boosted")
            or (rate == 0.4 and dataset in ("set 0", "set 1")),
            "other": dataset == "set 3",
        }
        return NOT_FITTED if missing.get(row["noise_kind"]) else None

    tab = opened(make_run(kinds=["uniform", "other", "third"], fails=fails))
    chart = tab.page.locator("[data-chart=rank]")
    drawn = """(plot) => plot.data.filter((trace) => !trace.meta.band).map((trace) => {
      const points = trace.x.map((x, i) => [x, trace.y[i]]);
      return points.map(([x, y]) => x === null || y === null ? " " : x).join("").trim();
    })"""

    def choose(kind):
        tab.page.get_by_role("radio", name=kind).check()
        chart.scroll_into_view_if_needed()
        chart.locator(".main-svg").first.wait_for()
        (note,) = tab.notes("rank")
        return note

    interval = "95 % t interval of the mean over"
    assert choose("uniform") == (
        "Ranks of 2 to 3 of 3 models over 2 to 4 of 4 data sets: those where each of these models has a value. "
        "Lines break where the ranked models or the data sets change. "
        f"Band: {interval} 4 data sets; none over fewer data sets."
    )
    assert chart.evaluate(drawn) == ["00.1 0.3 0.4"] * 2 + ["00.1"]
    assert chart.locator("path.point").count() == 4 + 4 + 2
    assert choose("other") == (
        "Ranks of all three models over 3 of 4 data sets: those where each of these models has a value. "
        f"Band: {interval} 3 data sets."
    )
    assert chart.evaluate(drawn) == ["00.10.30.4"] * 3
    assert "over all four data sets" in choose("third")
    tab = opened(make_run(datasets=1, fails=lambda row: NOT_FITTED))
    assert tab.notes("rank") == ["No data set has a value for every model."]


def test_a_band_without_width_is_not_shown(opened, make_run):
    run = make_run(datasets=1)
    scores = run.scores.assign(accuracy=run.scores["accuracy"].where(run.scores["model"] != "tree", 0.75))
    tab = opened(Run(run.config, scores, run.datasets, run.sessions))
    for name in ("ELA", "RLA", "Accuracy"):
        rows = tab.page.get_by_role("table", name=re.compile(f"^{name}, one data set")).locator("tbody tr")
        assert rows.filter(has_text="tree").locator("small").count() == 0
        assert rows.filter(has_text="forest").locator("small").count() >= len(run.config.noise[0].rates) - 1


def test_a_model_is_hidden_everywhere_at_once(opened, run):
    tab = opened(run)
    tab.draw_all()
    box = tab.page.get_by_role("checkbox", name="forest")
    of_forest = tab.page.locator("main [data-m='1']")
    assert of_forest.first.is_visible()
    box.uncheck()
    for plot in tab.page.locator(".plot").all():
        plot.scroll_into_view_if_needed()
    charts = tab.js(
        "[...document.querySelectorAll('.plot')].map((plot) => [...new Set(plot.data.map((trace) => trace.meta.model))].sort())"
    )
    assert charts == [[0, 2]] * len(charts)
    assert len(charts) == 5 + 4 * 3
    assert not any(cell.is_visible() for cell in of_forest.all())
    cells = tab.page.locator("#all-cells")
    assert "forest" not in cells.locator("tbody").inner_text()
    assert "96 of 144 rows" in cells.inner_text()
    assert tab.page.locator("#model-count").inner_text() == "(2 of 3)"
    tab.page.get_by_role("button", name="None", exact=True).click()
    tab.page.locator("#curves [data-chart=ela]").scroll_into_view_if_needed()
    tab.page.locator("#curves [data-chart=ela]").get_by_text("no models selected").wait_for()
    tab.page.get_by_role("button", name="All", exact=True).click()
    assert box.is_checked()
    assert of_forest.first.is_visible()


def test_dark_mode_and_print(opened, run):
    tab = opened(run, color_scheme="dark")
    tab.page.locator("#curves [data-chart=ela]").scroll_into_view_if_needed()
    tab.page.locator("#curves [data-chart=ela][data-drawn]").wait_for()
    on_dark = tab.lines("#curves [data-chart=ela]")
    assert tab.js("getComputedStyle(document.body).backgroundColor") == rgb(DARK_PAGE)
    assert on_dark == {
        str(i): rgb(lighten(to_hex(line_style(i, 3, run.config.ela_fig)["color"]))) for i in range(3)
    }
    # On paper all charts are drawn, visited or not, in the colours of the figures.
    tab.js(
        """() => {
          addEventListener("beforeprint", () => {
            window.printed = [...document.querySelectorAll("#curves .plot, #rate .plot")].map((plot) =>
              [Number(plot.querySelector(".main-svg").getAttribute("width")), plot.data.at(-1).marker.color]);
          });
        }"""
    )
    assert tab.page.pdf(format="A4").startswith(b"%PDF")
    assert tab.js("window.printed") == [[336, to_hex(line_style(2, 3, run.config.ela_fig)["color"])]] * 5
    assert tab.lines("#curves [data-chart=ela]") == on_dark


def test_printing_keeps_the_size_of_the_charts(opened, run):
    tab = opened(run)
    sizes = """() => [...document.querySelectorAll("#curves .plot, #rate .plot")].map((plot) => {
      const { width, height } = plot.querySelector(".main-svg").getBoundingClientRect();
      return [width, height, plot.clientWidth, plot.clientHeight];
    })"""
    for plot in tab.page.locator("#curves .plot, #rate .plot").all():
        plot.scroll_into_view_if_needed()
        plot.locator(".main-svg").first.wait_for()
    before = tab.js(sizes)
    assert all(size[:2] == size[2:] for size in before)
    tab.js("dispatchEvent(new Event('beforeprint'))")
    assert [size[:2] for size in tab.js(sizes)] == [[336, 272]] * len(before)
    tab.js("dispatchEvent(new Event('afterprint'))")
    tab.page.wait_for_function(
        "(before) => JSON.stringify((" + sizes + ")()) === JSON.stringify(before)", arg=before, timeout=5000
    )


def test_empty_charts_have_no_axes(opened, run, make_run):
    def ticks(tab):
        chart = tab.page.locator("#curves [data-chart=ela]")
        chart.scroll_into_view_if_needed()
        chart.locator(".main-svg").first.wait_for()
        return chart.locator(".xtick, .ytick").count()

    tab = opened(run)
    with_all = ticks(tab)
    assert with_all > len(run.config.noise[0].rates)
    tab.page.locator("#none").click()
    for chart in tab.page.locator("#curves .plot, #rate .plot").all():
        chart.scroll_into_view_if_needed()
        chart.get_by_text("no models selected").wait_for()
        assert chart.locator(".xtick, .ytick, .xtitle, .ytitle").count() == 0
    tab.page.locator("#all").click()
    tab.page.locator("#curves [data-chart=ela]").scroll_into_view_if_needed()
    tab.page.locator("#curves [data-chart=ela] .ytick").first.wait_for()
    assert ticks(tab) == with_all
    tab = opened(make_run(fails=lambda row: NOT_FITTED))
    assert ticks(tab) == 0
    assert tab.page.locator("#curves [data-chart=ela]").get_by_text("no values").is_visible()


def test_figure_options_apply(opened, make_run):
    own = [
        {"color": "#123456", "linestyle": ":", "marker": "*"},
        {"c": "red", "lw": 3},
        {"marker": "None", "alpha": 0.5},
    ]
    run = make_run(ela_fig={"plot_kwargs": own, "fig_cmap": "viridis"})
    tab = opened(run)
    tab.draw_all()
    colours = tab.lines("#curves [data-chart=rla]")
    assert colours["0"] == "rgb(18, 52, 86)"
    assert colours["1"] == "rgb(255, 0, 0)"
    assert colours["2"] == rgb(line_style(2, 3, run.config.ela_fig)["color"])
    traces = tab.js(
        "document.querySelector('#curves .plot').data.filter((trace) => !trace.meta.band).map((trace) => [trace.line.dash, trace.line.width, trace.marker.symbol, trace.mode, trace.opacity])"
    )
    assert traces == [
        ["dot", 2, "star", "lines+markers", 1],
        ["solid", 4, "square", "lines+markers", 1],
        ["solid", 2, "circle", "lines", 0.5],
    ]
