"""The HTML report in a real browser: contents, behaviour, no errors and no requests."""

import base64
import json
import re

import pytest

from boostnoise.eval.errors import ConfigError
from boostnoise.eval.execution.run import Run
from boostnoise.eval.metrics.outcome import NOT_FITTED
from boostnoise.eval.report.html.page import render_page, write_html

pytestmark = pytest.mark.release


NASTY = [
    "<script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "</script><!--",
    "<b>bold</b> &amp; co %{x} {{ 7 * 7 }}",
    "数据 Ünïcode 🌲",
]


SHAPES = {
    "one model": {"models": ["only"]},
    "one of everything": {"models": ["only"], "datasets": 1, "rates": [0.0], "repeats": 1},
    "one rate": {"rates": [0.0]},
    "all failed": {"fails": lambda row: "ValueError: no"},
    "nothing fitted": {"datasets": 1, "fails": lambda row: NOT_FITTED},
    "25 models": {"models": [f"a model with a long name, {i}" for i in range(25)], "datasets": 2},
    "30 data sets": {"models": ["one", "other"], "datasets": 30, "repeats": 1},
    "incomplete": {
        "fails": lambda row: NOT_FITTED if row["dataset"] == "set 2" and row["repeat"] == 2 else None
    },
    "one model failed": {
        "kinds": ["uniform", "other"],
        "fails": lambda row: "ValueError: no" if row["model"] == "tree" else None,
    },
    "long names": {"models": ["m" * 300, "short"], "datasets": ["d" * 300, "e"]},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_runs_of_every_shape_on_desktop_and_phone(opened, make_run, shape):
    tab = opened(make_run(**SHAPES[shape]), reduced_motion="reduce")
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


def test_names_and_errors_show_as_text(opened, make_run):
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


def test_latex_reads_well(opened, make_run):
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
    assert tab.page.locator("#rate table:visible").count() == 2 * len(run.config.noise[0].rates)
    assert tab.page.locator("#curves table:visible").count() == 3
    assert tab.page.locator("button:visible").count() == 0


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


def test_the_verdict_comes_first_and_what_is_missing_with_it(opened, make_run):
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


def test_too_few_data_sets_have_no_p_value_and_enough_have_a_diagram(opened, make_run):
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


def test_the_diagram_is_an_image_of_its_own(run, make_run):
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
