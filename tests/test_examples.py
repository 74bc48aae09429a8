"""The notebooks in `examples/`: each runs to its end without a warning, and is kept as text alone."""

import os
import subprocess
from pathlib import Path

import jupytext
import pytest
from jupyter_cache import get_cache

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.fixture(params=EXAMPLES, ids=[path.stem for path in EXAMPLES])
def example(request):
    return request.param


def images(cell):
    return [output for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]


@pytest.fixture
def executed(example, root):
    """The notebook with its outputs, as the build of the site executed it."""
    cache = root / "docs" / "_build" / "executed"
    try:
        return get_cache(cache).merge_match_into_notebook(jupytext.read(example))[1]
    except KeyError:
        reason = f"the site was not built with {example.name} as it is: nothing in {cache}"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)


@pytest.mark.release
def test_it_runs_without_a_warning_and_shows_its_figures(executed):
    outputs = [output for cell in executed.cells for output in cell.get("outputs", [])]
    # Warnings go there, and nothing else should.
    assert [output["text"] for output in outputs if output.get("name") == "stderr"] == []
    for cell in executed.cells:
        assert bool(images(cell)) == ("plt.show()" in cell.source), cell.source
    assert sum(len(images(cell)) for cell in executed.cells) >= 1


def test_it_is_paired_with_a_notebook_that_leaves_it_as_it_is(example):
    text = example.read_text(encoding="utf-8")
    notebook = jupytext.reads(text, "py:percent")
    assert notebook.metadata["jupytext"]["formats"] == "ipynb,py:percent"
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    assert jupytext.writes(notebook, "py:percent") == text


def test_it_explains_itself(example):
    kinds = [cell.cell_type for cell in jupytext.read(example).cells]
    assert kinds[0] == "markdown"
    assert kinds.count("markdown") >= kinds.count("code") / 2
    assert kinds[-1] == "markdown" or kinds[-2] == "markdown"


def test_no_notebook_or_result_is_committed(root):
    tracked = subprocess.run(
        ["git", "ls-files", "examples"], cwd=root, check=True, capture_output=True, text=True
    ).stdout.split()
    package = {path for path in tracked if path.startswith("examples/extension_package/")}
    assert set(tracked) - package == {"examples/README.md", *(f"examples/{path.name}" for path in EXAMPLES)}
    assert {Path(path).suffix for path in package} == {".json", ".md", ".py", ".toml"}
    made = ["examples/new.ipynb", "examples/results/store.sqlite", "examples/loans.csv"]
    ignored = subprocess.run(["git", "check-ignore", *made], cwd=root, capture_output=True, text=True)
    assert ignored.stdout.split() == made


def test_each_is_named_where_a_reader_looks(root):
    assert len(EXAMPLES) >= 5
    for page in ("README.md", "examples/README.md"):
        text = (root / page).read_text(encoding="utf-8")
        assert [path.name for path in EXAMPLES if path.name not in text] == []
