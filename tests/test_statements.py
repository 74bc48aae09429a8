"""The page of statements names tests and studies that exist."""

import re

import pytest

import boostnoise
import boostnoise.eval
import robust_splits


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "statements.md").read_text(encoding="utf-8")


def test_every_test_is_defined(root, page):
    named = set(re.findall(r"`(tests/[^`]*)`", page))
    assert len(named) > 50
    for path, _, name in (test.partition("::") for test in named):
        assert re.search(rf"^def {name}\(", (root / path).read_text(encoding="utf-8"), re.MULTILINE), (
            path,
            name,
        )


def test_every_link_is_a_public_name(page):
    public = {*boostnoise.__all__, *boostnoise.eval.__all__, *robust_splits.__all__}
    named = re.findall(r"\{py:obj\}`(?:\w+ <)?([\w.]+)>?`", page)
    assert len(named) == page.count("{py:obj}") > 30
    assert {name.rpartition(".")[2] for name in named} <= public


def test_every_study_has_a_config_or_published_numbers(root, page):
    known = {
        path.stem for folder in ("configs", "eval/papers/published") for path in (root / folder).rglob("*.*")
    }
    named = set(re.findall(r"`(?:configs/)?((?:wilton|ghosh|yang|2020|50|depth6|xgb)\w*)(?:\.json)?`", page))
    assert len(named) > 15
    assert named <= known


def test_every_statement_has_a_test_or_says_that_it_is_not_here(page):
    rows = [line for line in page.splitlines() if line.startswith("| ") and "| shown by |" not in line]
    assert len(rows) > 40
    for row in rows:
        assert row.rstrip("| ").endswith("`") or "[not here]" in row, row
