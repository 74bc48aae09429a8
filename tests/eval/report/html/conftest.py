"""Reports of runs with random scores, opened in a real browser."""

import itertools

import numpy as np
import pandas as pd
import pytest

from boostnoise.eval.config.run import parse_config
from boostnoise.eval.execution.run import Run
from boostnoise.eval.execution.run_record import DatasetFacts, Session
from boostnoise.eval.metrics.registry import RANGES
from boostnoise.eval.report.html.page import write_html

RATES = [0.0, 0.1, 0.3, 0.4]
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


def _make_run(
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


@pytest.fixture(scope="session")
def make_run():
    """Makes a run with random scores."""
    return _make_run


@pytest.fixture(scope="session")
def run():
    """Three models on four data sets."""
    return _make_run()


@pytest.fixture(scope="session")
def page_of(tmp_path_factory):
    """Writes the report of a run, once."""
    pages = {}

    def write(run):
        if id(run) not in pages:
            path = write_html(run, tmp_path_factory.mktemp("page") / "report.html")
            pages[id(run)] = path, run  # as long as the run is kept, no other has its ID
        return pages[id(run)][0]

    return write


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

    def notes(self, chart):
        """The texts below a chart that are shown."""
        return self.page.locator(f"figure:has([data-chart={chart}]) .note:visible").all_inner_texts()


@pytest.fixture
def opened(browser, page_of):
    """Open the report of a run; in the end there must be no messages and no requests."""
    tabs = []

    def open_(run, **settings):
        tabs.append(Opened(browser, page_of(run), **settings))
        return tabs[-1]

    yield open_
    for tab in tabs:
        tab.check_quiet()
        tab.context.close()


@pytest.fixture(scope="module")
def shown(browser, run, page_of):
    """The report of the run with all charts drawn, for tests that do not change it."""
    tab = Opened(browser, page_of(run))
    tab.draw_all()
    yield tab
    tab.check_quiet()
    tab.context.close()
