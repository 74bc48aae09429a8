"""How the site is built: ``sphinx-build -W -n --keep-going docs docs/_build/html``."""

import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

import jupytext

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

project = "boostnoise"
author = metadata.metadata("boostnoise")["Author"]
project_copyright = f"2026, {author[0].lower()}{author[1:]}"
release = version = metadata.version("boostnoise")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_nb", "docstrings", "mathml"]
exclude_patterns = ["_build", "_ext", "conf.py", "config_reference.py"]
templates_path = ["_templates"]

# Docstrings: what they put between single grave accents is a reference, and one that leads nowhere an error.
# Without a network there is nothing to refer to in other libraries, so their names are plain text.
default_role = "py:obj"
nitpicky = True
suppress_warnings = ["ref.citation"]  # the sources of a module need not be cited by its docstring
nitpick_ignore_regex = [
    ("py:obj", r"(catboost|joblib|lightgbm|matplotlib|numpy|pandas|scipy|sklearn|xgboost)\.[\w.]+")
]
autodoc_typehints = "none"  # numpydoc's sections tell them
autodoc_default_options = {"member-order": "groupwise"}
autosummary_generate = True
numpydoc_show_class_members = False  # the templates list them
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # but for our own classes, which docstrings.py adds
maximum_signature_line_length = 100

# Pages: Markdown, and the examples, which are executed.
nb_custom_formats = {".py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_mode = "cache"
nb_execution_cache_path = str(DOCS / "_build" / "executed")
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True
nb_ipywidgets_js = {}  # which would be loaded from another host
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"boostnoise {release}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False

# Pages of the site that lie elsewhere in the tree.
PAGES = {
    "docs/config.md": "config.md",
    "docs/cluster.md": "cluster.md",
    "docs/security.md": "security.md",
    "configs/README.md": "studies.md",
    "benchmarks/README.md": "benchmarks.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "../CONTRIBUTING.md": "contributing.md",
}


def links_to_pages(app, path, docname, content):
    """In files of the tree that a page includes, let links lead to pages."""
    content[0] = re.sub(r"(?<=\]\()[^)#\s]+", lambda link: PAGES.get(link[0], link[0]), content[0])


def copy_examples():
    """The examples that there are; Sphinx reads nothing that lies outside its folder."""
    for copy in (DOCS / "examples").glob("*.py"):
        copy.unlink()
    for example in (DOCS.parent / "examples").glob("*.py"):
        shutil.copy2(example, DOCS / "examples")


def list_examples(app, docname, content):
    """Their titles and first paragraphs, and their place in the table of contents."""
    examples = sorted((DOCS / "examples").glob("*.py"))
    if docname != "examples/index" or not examples:
        return
    for example in examples:
        first = jupytext.read(example).cells[0].source
        title, text, *_ = first.removeprefix("# ").split("\n\n")
        whole = re.match(r".*[.?!]", text, re.DOTALL)  # what leads to a list is left out
        content[0] += f"\n[{title}]({example.name})\n: {' '.join(whole[0].split()) if whole else ''}\n"
    names = "\n".join(example.stem for example in examples)
    content[0] += f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def setup(app):
    """What no option of Sphinx says."""
    copy_examples()
    app.connect("source-read", list_examples)
    app.connect("env-get-outdated", lambda *_: ["examples/index"])
    app.connect("include-read", links_to_pages)
