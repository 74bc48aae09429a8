"""The HTML report in a real browser: contents, behaviour, no errors and no requests."""

import base64
import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from boostnoise.eval.config.run import parse_config
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.execution.run import Run
from boostnoise.eval.execution.run_record import DatasetFacts, Session
from boostnoise.eval.metrics.curves import curve, mean_curve
from boostnoise.eval.metrics.outcome import NOT_FITTED
from boostnoise.eval.metrics.registry import RANGES
from boostnoise.eval.plotting.styles import line_style
from boostnoise.eval.report.html.page import render_page, write_html
from boostnoise.eval.report.html.styles import DARK_PAGE, lighten

pytestmark = pytest.mark.release

RATES = [0.0, 0.1, 0.3, 0.4]
NASTY = [
    "<script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "</script><!--",
    "<b>bold</b> &amp; co %{x} {{ 7 * 7 }}",
    "数据 Ünïcode 🌲",
]
SESSION = Session(
    started="2026-02-03T04:05:06+00:00",
    seconds=12.25,
    fitted=96,
    versions={"numpy": "2.0.0", "<i>odd</i>": "1"},
    python="3.12.1",
    system="Linux",
    processor="x86_64",
    cores=2,
)


def make_run(
    models=("tree", "forest", "boosted"),
    datasets=4,
    kinds=("uniform",),
    rates=RATES,
    repeats=3,
    fails=lambda row: None,
    **more,
):
    """A run with random scores: the later a model in the list, the less noise harms it."""
    names = [f"set {i}" for i in range(datasets)] if isinstance(datasets, int) else list(datasets)
    rng = np.random.default_rng(3)
    rows = []
    for cell in itertools.product(names, kinds, rates, range(repeats), models):
        row = dict(zip(("dataset", "noise_kind", "noise_rate", "repeat", "model"), cell, strict=True))
        row |= dict.fromkeys(RANGES) | {"realised_rate": row["noise_rate"], "error": fails(row)}
        if row["error"] is None:
            m = models.index(row["model"])
            lost = row["noise_rate"] * (1 - m / (len(models) + 1))
            row["accuracy"] = 0.95 - 0.5 * lost - rng.uniform(0, 0.04)
            row["fit_seconds"] = 10.0 ** (m % 3 - 1) * rng.uniform(1, 2)
            row["leaves"] = float(len(rows))
        rows.append(row)
    scores = pd.DataFrame(rows).astype(dict.fromkeys(RANGES, "float64") | {"error": "string"})
    config = parse_config(
        {
            "datasets": [{"path": f"{i}.csv", "target": "y", "name": name} for i, name in enumerate(names)],
            "models": [{"name": name, "model": "robust_forest:ane"} for name in models],
            "noise": [
                {"kind": "uniform", "name": kind, "rates": [rate for rate in rates if rate] or [0.0]}
                for kind in kinds
            ],
            "repeats": repeats,
        }
        | more,
        "a study",
    )
    return Run(
        config,
        scores,
        {name: DatasetFacts(rows=150 + i, features=4, classes=3) for i, name in enumerate(names)},
        (SESSION,),
    )


class Opened:
    """A report in its own tab, with the messages and requests of the browser."""

    def __init__(self, browser, path, **settings):
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | settings)
        self.page = self.context.new_page()
        self.messages, self.requests, self.failed = [], [], []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.messages.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("requestfailed", lambda request: self.failed.append((request.url, request.failure)))
        self.url = path.as_uri()
        self.page.goto(self.url)

    def js(self, code, argument=None):
        return self.page.evaluate(code, argument)

    def draw_all(self, most=None):
        """Expand every section and scroll to every chart, or the first ones, so that they are drawn."""
        self.page.locator("#open").click()
        for plot in self.page.locator(".plot").all()[:most]:
            plot.scroll_into_view_if_needed()
            plot.locator(".main-svg").first.wait_for()

    def lines(self, which):
        """The colour of each line of a chart that is drawn, by the number of its model."""
        return self.js(
            """(selector) => {
              const plot = document.querySelector(selector);
              const drawn = [...plot.querySelectorAll(".scatterlayer .trace")];
              // Plotly draws the traces that have points, in their order.
              const traces = plot.data.filter((trace) => trace.x.length > 0);
              if (traces.length !== drawn.length) throw Error(`${drawn.length} of ${traces.length} traces are drawn`);
              return Object.fromEntries(traces.map((trace, i) => [trace, drawn[i]]).filter(([trace]) => !trace.meta.band).map(([trace, one]) => {
                const path = one.querySelector("path.js-line");
                return [trace.meta.model, path && path.getAttribute("d") ? getComputedStyle(path).stroke : null];
              }));
            }""",
            which,
        )

    def check_quiet(self):
        assert self.messages == []
        requested = [url for url in self.requests if not url.startswith(("data:", "blob:"))]
        assert requested == [self.url]


@pytest.fixture
def opened(browser, tmp_path):
    """Open the report of a run; in the end there must be no messages and no requests."""
    tabs = []

    def open_(run, **settings):
        tabs.append(Opened(browser, write_html(run, tmp_path / f"{len(tabs)}.html"), **settings))
        return tabs[-1]

    yield open_
    for tab in tabs:
        tab.check_quiet()
        tab.context.close()


def rgb(colour):
    red, green, blue = (int(to_hex(colour)[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgb({red}, {green}, {blue})"


@pytest.fixture(scope="module")
def run():
    return make_run()


@pytest.fixture(scope="module")
def shown(browser, run, tmp_path_factory):
    """The report of the run with all charts drawn, for tests that do not change it."""
    tab = Opened(browser, write_html(run, tmp_path_factory.mktemp("shown") / "report.html"))
    tab.draw_all()
    yield tab
    tab.check_quiet()
    tab.context.close()


SHAPES = {
    "one model": lambda: make_run(models=["only"]),
    "one of everything": lambda: make_run(models=["only"], datasets=1, rates=[0.0], repeats=1),
    "one rate": lambda: make_run(rates=[0.0]),
    "all failed": lambda: make_run(fails=lambda row: "ValueError: no"),
    "nothing fitted": lambda: make_run(datasets=1, fails=lambda row: NOT_FITTED),
    "25 models": lambda: make_run(models=[f"a model with a long name, {i}" for i in range(25)], datasets=2),
    "30 data sets": lambda: make_run(models=["one", "other"], datasets=30, repeats=1),
    "incomplete": lambda: make_run(
        fails=lambda row: NOT_FITTED if row["dataset"] == "set 2" and row["repeat"] == 2 else None
    ),
    "one model failed": lambda: make_run(
        kinds=["uniform", "other"], fails=lambda row: "ValueError: no" if row["model"] == "tree" else None
    ),
    "long names": lambda: make_run(models=["m" * 300, "short"], datasets=["d" * 300, "e"]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_runs_of_every_shape_on_desktop_and_phone(opened, shape):
    tab = opened(SHAPES[shape](), reduced_motion="reduce")
    tab.draw_all(most=9)
    for width in (1280, 390):
        tab.page.set_viewport_size({"width": width, "height": 800})
        assert tab.js("document.documentElement.scrollWidth") == width
        # Browsers leave out rules under sticky cells whose heights are fractions.
        heights = tab.js(
            "[...document.querySelectorAll('tbody tr')].map((row) => row.getBoundingClientRect().height)"
        )
        assert [height for height in heights if height % 1] == []
    tab.page.locator("#models").evaluate("(models) => { models.open = true; }")
    tab.page.locator("#none").click()
    tab.page.locator("#all").click()


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


def notes(tab, chart):
    return tab.page.locator(f"figure:has([data-chart={chart}]) .note:visible").all_inner_texts()


def test_each_chart_describes_its_band(opened, run):
    interval = "95 % bootstrap interval of the mean over"
    tab = opened(run)
    for metric in ("ela", "rla", "accuracy"):
        assert notes(tab, metric) == [f"Mean over 4 data sets. Band: {interval} 3 repeats."]
    ranks = f"Ranks of all three models over all four data sets. Band: {interval} 4 data sets."
    assert notes(tab, "rank") == [ranks]
    bars = f"Mean over 4 data sets. Error bars of accuracy and time: {interval} 3 repeats."
    assert notes(tab, "time") == [bars]
    assert f"Ranges in small print: {interval} 3 repeats." in tab.page.locator("#curves").inner_text()
    of_each = "Bands and ranges in small print: "
    assert (
        f"{of_each}{interval} 3 repeats (approximate: few repeats)." in tab.page.locator("#sets").inner_text()
    )
    tab = opened(make_run(datasets=2, repeats=2))
    none = "none (two repeats are too few; at least three repeats needed)."
    assert notes(tab, "ela") == [f"Mean over 2 data sets. Band: {none}"]
    assert notes(tab, "time") == [f"Mean over 2 data sets. Error bars of accuracy and time: {none}"]
    assert f"{of_each}{none}" in tab.page.locator("#sets").inner_text()
    none = "none (two data sets are too few; at least three data sets needed)."
    assert notes(tab, "rank") == [f"Ranks of all three models over both data sets. Band: {none}"]


def test_ranks_that_cannot_be_compared_are_not_joined(opened):
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
        (note,) = notes(tab, "rank")
        return note

    interval = "95 % bootstrap interval of the mean over"
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
    assert notes(tab, "rank") == ["No data set has a value for every model."]


def test_a_band_without_width_is_not_shown(opened):
    run = make_run(datasets=1)
    scores = run.scores.assign(accuracy=run.scores["accuracy"].where(run.scores["model"] != "tree", 0.75))
    tab = opened(Run(run.config, scores, run.datasets, run.sessions))
    for name in ("ELA", "RLA", "Accuracy"):
        rows = tab.page.get_by_role("table", name=re.compile(f"^{name}, one data set")).locator("tbody tr")
        assert rows.filter(has_text="tree").locator("small").count() == 0
        assert rows.filter(has_text="forest").locator("small").count() >= len(RATES) - 1


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


def as_number(text):
    text = text.replace("−", "-").replace("%", "").strip()
    try:
        return float(text)
    except ValueError:
        return None if text in ("", "–") else text


def in_order(text):
    """A key that puts numbers in a text in order of their size."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def test_every_column_of_every_table_sorts(opened):
    def fails(row):
        return "ValueError: no" if row["dataset"] == "set 3" and row["model"] == "model 2" else None

    tab = opened(make_run(models=[f"model {i}" for i in (2, 10, 1)], datasets=8, repeats=1, fails=fails))
    tab.draw_all()
    clicked = tab.js(
        """() => [...document.querySelectorAll("table")].flatMap((table) => [...table.querySelectorAll("thead button")].flatMap((button, column) =>
          [1, 2].map(() => {
            button.click();
            const marked = [...table.querySelectorAll("[aria-sort]")];
            return [table.caption.textContent, marked.length === 1 && marked[0].cellIndex === column && marked[0].ariaSort,
                    [...table.tBodies[0].rows].map((row) => row.cells[column].firstChild?.textContent ?? "")];
          })))"""
    )
    assert len({caption for caption, *_ in clicked}) > 20
    for (caption, direction, texts), expected in zip(
        clicked, itertools.cycle(("ascending", "descending")), strict=False
    ):
        assert direction == expected, caption
        keys = [as_number(text) for text in texts]
        known = [key for key in keys if key is not None]
        assert keys[len(known) :] == [None] * (len(keys) - len(known)), "missing values come last"
        if not all(isinstance(key, float) for key in known):
            known = [in_order(text) for text in texts if text not in ("", "–")]
        assert known == sorted(known, reverse=direction == "descending"), caption
    # Something was missing, and something was a number that as a text would come elsewhere.
    assert any("–" in texts for *_, texts in clicked)
    assert any(texts[:3] == ["model 1", "model 2", "model 10"] for *_, texts in clicked)


def test_tables_are_filtered(opened):
    tab = opened(make_run(datasets=12))
    box = tab.page.get_by_role("searchbox", name="Filter rows: Accuracy at 30")
    table = tab.page.get_by_role("table", name=re.compile("^Accuracy at 30"))
    assert table.locator("tbody tr:visible").count() == 12
    box.fill("SET 1")
    assert table.locator("tbody tr:visible").count() == 3  # 1, 10, 11
    assert "3 of 12 rows" in tab.page.locator("#rate").inner_text()
    table.get_by_role("button", name="tree").click()
    assert table.locator("tbody tr:visible").count() == 3
    box.fill("")
    assert table.locator("tbody tr:visible").count() == 12
    cells = tab.page.locator("#all-cells")
    assert "Rows 1 to 50 of 432" in cells.inner_text()
    cells.get_by_role("button", name="Next").click()
    assert "Rows 51 to 100 of 432" in cells.inner_text()
    for typed, expected in {
        '"set 11"\tuniform\t40 %': 9,
        "40 %": 108,
        "40%": 108,
        "40\N{NO-BREAK SPACE}%": 108,
        "  forest   SET ": 144,
        'boosted "set 2"  10 %': 3,
        "tree 7.": 0,  # a word of digits begins a number; this would be within many
        "(": 0,
        '"': 0,
    }.items():
        cells.get_by_role("searchbox").fill(typed)
        position = f"Rows 1 to {min(expected, 50)} of {expected}" if expected else "No rows"
        assert position in cells.inner_text(), typed
    cells.get_by_role("searchbox").fill("forest boosted")
    assert "No rows" in cells.inner_text()


def test_kind_of_noise_and_noise_rate_are_chosen(opened):
    tab = opened(make_run(kinds=["uniform", "pair flip"]))

    def captions():
        return [caption.inner_text() for caption in tab.page.locator("#rate caption:visible").all()]

    assert all("at 30\N{NO-BREAK SPACE}% uniform noise" in caption for caption in captions())
    assert len(captions()) == 2
    tab.page.get_by_role("radio", name="pair flip").check()
    assert all("at 30\N{NO-BREAK SPACE}% pair flip noise" in caption for caption in captions())
    tab.page.locator("select.rate:visible").select_option("10\N{NO-BREAK SPACE}%")
    assert all("at 10\N{NO-BREAK SPACE}% pair flip noise" in caption for caption in captions())
    assert len(captions()) == 2
    assert not tab.page.get_by_text("under uniform noise", exact=False).locator("visible=true").count()


def test_names_and_errors_show_as_text(opened):
    error = "ValueError: <img src=x onerror=alert(1)></td></script>"
    run = make_run(
        models=NASTY,
        datasets=NASTY[::-1],
        fails=lambda row: (
            error if row["model"] == NASTY[1] and row["repeat"] == 1 and row["dataset"] == NASTY[0] else None
        ),
    )
    fig = {"fig_title": "<script>alert(2)</script> & co"}
    run = Run(
        run.config.model_copy(
            update={"name": "<u>run</u>", "ela_fig": run.config.ela_fig.model_copy(update=fig)}
        ),
        run.scores,
        run.datasets,
        run.sessions,
    )
    tab = opened(run)
    tab.draw_all()
    names = [label.text_content() for label in tab.page.locator("#models label .name").all()]
    assert names == NASTY
    assert [name.text_content() for name in tab.page.locator(".set summary .name").all()] == NASTY[::-1]
    assert tab.page.locator("h1").text_content() == "<u>run</u>"
    assert tab.page.title().startswith("<u>run</u>")
    assert fig["fig_title"] in tab.page.locator("#curves figcaption").first.text_content()
    assert error in tab.page.locator("#missing").text_content()
    assert json.dumps(NASTY[3]) in tab.page.locator("#run pre").text_content()
    tab.page.locator("#all-cells").get_by_role("searchbox").fill("onerror")
    assert error in tab.page.locator("#all-cells td.error").first.text_content()
    assert (
        tab.js("JSON.parse(document.getElementById('data').textContent).models.map((model) => model.name)")
        == NASTY
    )
    hover = tab.js(
        "document.querySelector('#curves .plot').data.filter((trace) => !trace.meta.band).map((trace) => trace.name)"
    )
    assert "&lt;b&gt;bold&lt;/b&gt; &amp;amp; co" in hover[3]
    assert (
        tab.page.locator("main b, main u, main i, [onmouseover], [onerror], img:not(.diagram img)").count() == 0
    )
    assert "alert" not in tab.js(
        "[...document.scripts].filter((script) => script.type === '').map((script) => script.textContent.slice(-20000)).join()"
    )
    assert tab.page.locator("script").count() == 4


def test_latex_reads_well(opened):
    tab = opened(
        make_run(
            models=[r"$\gamma = 0.1$", r"$\lambda_2$ of $5", "$5"],
            ela_fig={"fig_title": r"Average ELA, varying $\gamma$"},
        )
    )
    assert [label.text_content() for label in tab.page.locator("#models label .name").all()] == [
        "γ = 0.1",
        r"$\lambda_2$ of $5",
        "$5",
    ]
    assert tab.page.locator("#curves figcaption").first.text_content() == "Average ELA, varying γ"


def test_no_script_but_the_pages_own_and_no_request(opened, run):
    tab = opened(run)
    tab.js("""() => {
      const script = document.createElement("script");
      script.textContent = "window.hacked = true";
      document.body.append(script);
      document.body.insertAdjacentHTML("beforeend", '<img src="https://example.org/x.png"><p onclick="window.hacked = true" id="bait">x</p>');
      document.getElementById("bait").click();
    }""")
    assert tab.js("fetch('https://example.org').then(() => 'went out', () => 'stayed in')") == "stayed in"
    assert tab.js("window.hacked === undefined")
    assert sum("Content Security Policy" in text for text in tab.messages) >= 3
    assert ("https://example.org/x.png", "csp") in tab.failed
    tab.messages = [text for text in tab.messages if "Content Security Policy" not in text]
    tab.requests.remove("https://example.org/x.png")


def test_every_control_is_reachable_with_the_tab_key(opened, run):
    tab = opened(run)
    n_elements = tab.js(
        """() => {
          const found = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
            .filter((one) => one.checkVisibility() && !one.disabled);
          found.forEach((one, i) => { one.dataset.seen = i; });
          return found.length;
        }"""
    )
    assert n_elements > 60
    seen = []
    while len(seen) < 2 * n_elements and (not seen or seen[-1][0] != str(n_elements - 1)):
        tab.page.keyboard.press("Tab")
        seen.append(
            tab.js(
                "(() => { const at = document.activeElement, style = getComputedStyle(at); return [at.dataset.seen, style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2]; })()"
            )
        )
    # Charts are drawn when they come near, and then have buttons too.
    assert [number for number, _ in seen if number is not None] == [str(i) for i in range(n_elements)]
    assert all(is_visible for _, is_visible in seen)
    tab.page.locator(".skip").focus()
    assert tab.page.locator(".skip").is_visible()
    tab.page.keyboard.press("Enter")
    assert tab.js("document.activeElement.id") == "main"
    tab.page.get_by_role("checkbox", name="tree").focus()
    tab.page.keyboard.press("Space")
    assert tab.page.locator("#model-count").inner_text() == "(2 of 3)"
    button = tab.page.locator("#rate table:visible thead button").nth(2)
    button.focus()
    tab.page.keyboard.press("Enter")
    assert tab.page.locator("#rate table:visible thead th").nth(2).get_attribute("aria-sort") == "ascending"


def test_every_element_has_an_accessible_name(shown):
    assert shown.page.locator("html").get_attribute("lang") == "en"
    assert shown.js(
        "[...document.querySelectorAll('h1, h2, h3')].map((head) => Number(head.tagName[1])).every((level, i, all) => i === 0 ? level === 1 : level - all[i - 1] <= 1)"
    )
    unnamed = """[...document.querySelectorAll("img, [role=img], [role=region], input, select, button, table")].filter((one) =>
      !(one.alt || one.ariaLabel || one.labels?.length || one.textContent.trim() && one.tagName === "BUTTON" || one.caption?.textContent))"""
    assert shown.js(f"{unnamed}.length") == 0
    ids = shown.js("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    dead = shown.js(
        "[...document.querySelectorAll('a[href^=\"#\"]')].filter((link) => !document.getElementById(link.hash.slice(1))).length"
    )
    assert dead == 0


def test_without_javascript_tables_are_there(opened, run):
    tab = opened(run, java_script_enabled=False)
    assert tab.page.locator("noscript p").is_visible()
    assert "Without JavaScript" in tab.page.locator("noscript p").inner_text()
    assert not tab.page.locator("#controls").is_visible()
    assert not tab.page.locator(".plot").first.is_visible()
    # Two for each rate of the heat maps, three averages, and no buttons that would do nothing.
    assert tab.page.locator("#rate table:visible").count() == 2 * len(RATES)
    assert tab.page.locator("#curves table:visible").count() == 3
    assert tab.page.locator("button:visible").count() == 0


def test_numbers_of_the_tables(shown, run):
    means = mean_curve(run.scores, "rla").set_index(["model", "noise_rate"])["rla"]
    table = shown.page.get_by_role("table", name="RLA, mean over 4 data sets")
    for model in ("tree", "forest", "boosted"):
        cells = table.locator("tbody tr").filter(has_text=model).locator("td").all()
        assert [as_number(cell.evaluate("(cell) => cell.firstChild.textContent")) for cell in cells] == [
            round(means[model, rate], 3) for rate in RATES
        ]
    best = table.locator("tbody tr").filter(has=shown.page.locator("td.best").nth(0))
    assert best.locator("th").inner_text() == "boosted"
    areas = (
        shown.page.get_by_role("table", name="ELA, mean over 4 data sets")
        .locator("tbody tr td:last-child")
        .all_inner_texts()
    )
    assert [float(area) for area in areas] == mean_curve(run.scores, "area_under_ela")["area_under_ela"].round(
        3
    ).tolist()


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


def test_empty_charts_have_no_axes(opened, run):
    def ticks(tab):
        chart = tab.page.locator("#curves [data-chart=ela]")
        chart.scroll_into_view_if_needed()
        chart.locator(".main-svg").first.wait_for()
        return chart.locator(".xtick, .ytick").count()

    tab = opened(run)
    with_all = ticks(tab)
    assert with_all > len(RATES)
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


def test_figure_options_apply(opened):
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


def test_config_and_references(shown):
    page = shown.page.locator("main").inner_text()
    for text in (
        "2026-02-03 04:05",
        "12.2",
        "Linux x86_64, 2 cores",
        "Python 3.12.1, <i>odd</i> 1, numpy 2.0.0",
        "training labels only (uniform)",
        "Sáez, Luengo & Herrera",
        "Wilton & Ye",
    ):
        assert text in page, text
    config = json.loads(shown.page.locator("#run pre").text_content())
    assert config["repeats"] == 3
    assert "results_dir" not in config
    shown.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.page.get_by_role("button", name="Copy as BibTeX").click()
    shown.page.get_by_text("Copied.").wait_for()
    assert "@article{saez2016," in shown.js("navigator.clipboard.readText()")


def test_the_verdict_comes_first_and_what_is_missing_with_it(opened):
    run = make_run(
        fails=lambda row: (
            NOT_FITTED
            if row["repeat"] == 2
            else "ValueError: no"
            if row["model"] == "tree" and row["noise_rate"] == 0.1
            else None
        )
    )
    tab = opened(run)
    first = tab.page.locator("main section").first
    assert "At 30 % uniform noise" in first.inner_text() or "can be compared" in first.inner_text()
    assert "of 144 cells, 8 failed and 48 are not fitted yet" in first.inner_text()
    first.get_by_role("link", name="details").click()
    assert tab.page.locator("#missing").is_visible()
    assert "ValueError: no" in tab.page.locator("#missing").inner_text()


def test_too_few_data_sets_have_no_p_value_and_enough_have_a_diagram(opened):
    few = opened(make_run(datasets=2)).page.locator("#significance")
    assert "too few" in few.inner_text()
    assert "p =" not in few.inner_text()
    assert few.locator("img").count() == 0
    tab = opened(make_run(datasets=12))
    many = tab.page.locator("#significance")
    assert many.locator("img").evaluate("(image) => image.naturalWidth") > 300
    assert many.locator("img").get_attribute("alt").startswith("Mean ranks: boosted 1.")
    assert "yes" in many.get_by_role("table", name="boosted against every other").inner_text()


def test_the_same_run_gives_the_same_bytes(run, tmp_path):
    first = write_html(run, tmp_path / "first.html")
    elsewhere = run.config.model_copy(update={"results_dir": "/somewhere/else"})
    again = write_html(
        Run(elsewhere, run.scores, run.datasets, run.sessions), tmp_path / "new folder" / "again.html"
    )
    assert first.read_bytes() == again.read_bytes()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["again.html", "first.html", "new folder"]
    assert b"/somewhere/else" not in again.read_bytes()


def test_the_diagram_is_an_image_of_its_own(run):
    (diagram,) = set(
        re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', render_page(make_run(datasets=12)))
    )
    assert base64.b64decode(diagram).startswith(b"<?xml")


def test_a_file_that_cannot_be_written(run, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"the report cannot be written to .*file/x\.html"):
        write_html(run, tmp_path / "file" / "x.html")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigError, match="the report cannot be written"):
        write_html(run, tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
