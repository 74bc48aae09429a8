"""The site: each public name has a page, and a broken reference fails the build."""

import importlib
import os
import re
import shutil
import subprocess
import sys

import pytest

PACKAGES = ["boostnoise", "boostnoise.eval", "robust_splits"]

GOOD = """\
# A page

Half of it is $\\frac{1}{2}$, see [the other page](other.md#a-part) and {py:obj}`boostnoise_module.function`.

```{eval-rst}
.. automodule:: boostnoise_module
   :members:
```
"""
GINI = """\

```{eval-rst}
.. currentmodule:: robust_splits

.. autoclass:: Gini
   :members:
   :inherited-members:
```
"""
MODULE = '''
"""A module.

References
----------
.. [1] A paper.
"""


def function(depth, *, width=1):
    """As in `other` and `Gini.gain`, to a `depth` of %s [1]_.

    Parameters
    ----------
    depth, width : int
        `numpy.ndarray` is another project's.
    """


def other():
    """Another."""
'''


def listed(root):
    """Yield the names in the tables of the pages, with their packages."""
    for page in (root / "docs").glob("*.md"):
        package = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            package = (
                line.removeprefix(".. currentmodule:: ") if line.startswith(".. currentmodule::") else package
            )
            if name := re.fullmatch(r"   ([\w.]+)", line):
                yield f"{package}.{name[1]}"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_on_a_page(package, root):
    pages = set(listed(root))
    # A class that two packages export has its page in boostnoise.
    missing = [
        name
        for name in importlib.import_module(package).__all__
        if pages.isdisjoint({f"{package}.{name}", f"boostnoise.{name}"})
    ]
    assert missing == [], "add them to the page of their package in docs/"


def test_no_name_is_on_two_pages(root):
    names = list(listed(root))
    assert len(names) == len(set(names)) > 50


@pytest.fixture
def build(root, tmp_path):
    """Build a site of two pages and a module, with our settings."""
    shutil.copytree(
        root / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("*.md", "_build", "api", "examples")
    )

    def run(page, module):
        (tmp_path / "docs" / "index.md").write_text(page + "\n```{toctree}\nother\n```\n")
        (tmp_path / "docs" / "other.md").write_text("# Another\n\n## A part\n")
        (tmp_path / "boostnoise_module.py").write_text(module)
        command = [sys.executable, "-m", "sphinx", *"-W -n --keep-going -q docs html".split()]  # noqa: SIM905
        path = {"PYTHONPATH": str(tmp_path)}
        return subprocess.run(command, cwd=tmp_path, env=os.environ | path, capture_output=True, text=True)

    return run


@pytest.mark.release
def test_a_site_without_mistakes(build, tmp_path):
    done = build(GOOD + GINI, MODULE % "`width`")
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert 'href="#boostnoise_module.other"' in page
    assert 'href="#robust_splits.Gini.gain"' in page
    assert "A paper." in page
    # Nothing is loaded from another host.
    files = [*tmp_path.glob("html/**/*.html"), *tmp_path.glob("html/**/*.css")]
    loaded = r"""(?:src="|<link[^>]* href="|url\(["']?|@import ["'])((?:https?:)?//[^"')]*)"""
    assert [found for file in files for found in re.findall(loaded, file.read_text(encoding="utf-8"))] == []


@pytest.mark.release
def test_every_broken_reference_is_an_error(build):
    page = GOOD + GINI + "[a](nowhere.md) [b](other.md#nothing) {py:obj}`robust_splits.Ginny`\n"
    done = build(page, MODULE % "`Ginny`, `boostnoise_module.anther`, `Gini.gian` and [2]_")
    assert done.returncode == 1
    for name in ("nowhere.md", "'nothing'", "robust_splits.Ginny"):
        assert name in done.stderr
    for name in ("Ginny", "boostnoise_module.anther", "Gini.gian"):
        assert f"not found: {name} " in done.stderr
    assert re.search(r'[Uu]nknown target name: "2"|citation not found: \S*2', done.stderr)


def test_continuous_integration_runs_the_documented_command(root):
    script, text = ((root / path).read_text(encoding="utf-8") for path in (".ci/run", "CONTRIBUTING.md"))
    (command,) = re.findall(r"^\.venv/bin/(sphinx-build .*)$", script, re.MULTILINE)
    assert "-W" in command.split()
    assert "-n" in command.split()
    assert f".venv/bin/{command}" in text
