"""The tables of the HTML report in a real browser."""

import itertools
import re

import pytest

from boostnoise.eval.metrics.curves import mean_curve

pytestmark = pytest.mark.release


def as_number(text):
    text = text.replace("−", "-").replace("%", "").strip()
    try:
        return float(text)
    except ValueError:
        return None if text in ("", "–") else text


def in_order(text):
    """A key that puts numbers in a text in order of their size."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def test_every_column_of_every_table_sorts(opened, make_run):
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


def test_tables_are_filtered(opened, make_run):
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


def test_kind_of_noise_and_noise_rate_are_chosen(opened, make_run):
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


def test_numbers_of_the_tables(shown, run):
    means = mean_curve(run.scores, "rla").set_index(["model", "noise_rate"])["rla"]
    table = shown.page.get_by_role("table", name="RLA, mean over 4 data sets")
    for model in ("tree", "forest", "boosted"):
        cells = table.locator("tbody tr").filter(has_text=model).locator("td").all()
        assert [as_number(cell.evaluate("(cell) => cell.firstChild.textContent")) for cell in cells] == [
            round(means[model, rate], 3) for rate in run.config.noise[0].rates
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
