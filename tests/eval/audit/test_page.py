import base64
import re

import numpy as np
import pandas as pd
import pytest

from boostnoise import LabelAudit, find_label_errors
from boostnoise.eval.audit.page import MAX_SUSPECTS, render_page

PICTURE = b"\x89PNG"  # drawing takes long; see test_plot


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    right = rng.integers(2, size=1500)
    y = np.where(rng.random(1500) < 0.2, 1 - right, right)
    p = np.where(np.eye(2)[right] == 1, 0.8, 0.2)
    labels = np.array(["<b>a</b>", "b\u202e"])
    features = pd.DataFrame({"x": rng.normal(size=1500), "<script>": ["</script><i>" + "long " * 50] * 1500})
    return LabelAudit(find_label_errors(labels[y], p), labels[y], np.arange(1500), features, name="a <1>")


def test_everything_is_escaped(found):
    page = render_page(found, PICTURE)
    for evil in ("<b>a", "<i>", "</script><", "a <1>", "\u202e"):
        assert evil not in re.sub(r"</script>\n</body>", "", page), evil
    assert "<title>a &lt;1&gt;: audit of labels</title>" in page
    assert page.count("<script>") == 2


def test_the_policy_allows_its_scripts_only(found):
    page = render_page(found, PICTURE)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert policy.count("sha256-") == 2
    assert not re.search("https?:|//", re.sub(r'base64,[^"]+', "", page))


def test_what_it_shows(found):
    page = render_page(found, PICTURE)
    rows = re.findall(r'<tr><th scope="row">\d+</th><td class="text">', page)
    assert len(rows) == MAX_SUSPECTS
    assert f"{MAX_SUSPECTS} of 1500 rows" in page
    assert "Probability of each label (column) in each class (row)" in page
    assert re.search(r"first 10: [\d.]+ %; first 20: ", page)
    assert re.search(r"long long \S*…", page)
    assert render_page(found, PICTURE) == page
    assert f'src="data:image/png;base64,{base64.b64encode(PICTURE).decode()}"' in page


def test_many_classes_have_no_matrix():
    y = np.repeat(np.arange(20), 5)
    found = LabelAudit(find_label_errors(y, np.eye(20)[y]), y, np.arange(100))
    assert "Probability of each label" not in render_page(found, PICTURE)


@pytest.mark.release
def test_in_a_browser(found, browser, tmp_path):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(found.report(tmp_path / "audit.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.fill("#search", "0.9 <b>A")
    shown = page.locator("table.suspects tbody tr:visible").count()
    assert 0 < shown < MAX_SUSPECTS
    assert page.inner_text("#count") == f"{shown} of {MAX_SUSPECTS} rows"
    page.fill("#search", "")
    head = page.locator("table.suspects thead th", has_text="row").first
    for order in ("ascending", "descending"):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == order
        numbers = [int(text) for text in page.locator("table.suspects tbody th").all_inner_texts()]
        assert numbers == sorted(numbers, reverse=order == "descending")
    assert problems == []
