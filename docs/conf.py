"""Configuration of the site: ``sphinx-build -W -n --keep-going docs docs/_build/html``."""

import pkgutil
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

import jupytext
from numpydoc.xref import DEFAULT_LINKS

import boostnoise
import boostnoise.eval
import robust_splits

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

project = "boostnoise"
author = metadata.metadata("boostnoise")["Author"]
project_copyright = f"2026, {author[0].lower()}{author[1:]}"
release = version = metadata.version("boostnoise")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_nb", "citations", "mathml"]
exclude_patterns = ["_build", "_ext", "conf.py", "config_reference.py", "real_noise_page.py"]
templates_path = ["_templates"]

# Docstrings name these without their packages.  The classes among them are links in types of parameters, too.
# A class that two packages export has its page in boostnoise.
PUBLIC = [
    *(f"boostnoise.{name}" for name in boostnoise.__all__),
    *(f"boostnoise.eval.{name}" for name in boostnoise.eval.__all__ if name not in boostnoise.__all__),
    *(f"robust_splits.{name}" for name in robust_splits.__all__),
    "boostnoise.eval.statistics.significance.SignificanceTests",
    "boostnoise.eval.metrics.curves.per_repeat",
    "boostnoise.eval.papers.published_comparison.PublishedComparison",
    "boostnoise.eval.statistics.friedman_nemenyi.FriedmanNemenyi",
    "boostnoise.eval.statistics.intervals.BestAndOverlapping",
    "boostnoise.eval.statistics.paired_t.PairedTTests",
    "boostnoise.eval.statistics.wilcoxon_holm.WilcoxonHolm",
    "boostnoise.objectives.hooks.LightGBMObjective",
    "boostnoise.objectives.hooks.XGBoostObjective",
    "boostnoise.losses.probabilities",
    "boostnoise.losses.softmax.Softmax",
    "boostnoise.objectives.metrics.Metric",
]

# Names in single backticks are links.  Lower-case words and single letters that are no public names are
# parameters.  They become code, as do names of other libraries, which have no pages here.  Other unknown names
# are errors.
default_role = "py:obj"
nitpicky = True
suppress_warnings = ["ref.citation"]  # the sources of a module need not be cited by its docstring
nitpick_ignore_regex = [
    ("py:obj", r"[a-z0-9_]+|[A-Z]"),
    ("py:obj", r"(catboost|joblib|lightgbm|matplotlib|numpy|pandas|scipy|sklearn|xgboost)\.[\w.]+"),
]
autodoc_typehints = "none"  # numpydoc's sections have them
autodoc_default_options = {"member-order": "groupwise"}
autosummary_generate = True
numpydoc_show_class_members = False  # the templates list them
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # except the aliases
numpydoc_xref_aliases = {name: name for name in DEFAULT_LINKS} | {
    name: path for path in PUBLIC if (name := path.rpartition(".")[2])[0].isupper()
}
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

# Pages of the site that are elsewhere in the repository.
PAGES = {
    "configs/README.md": "/studies.md",
    "benchmarks/README.md": "/benchmarks.md",
    "examples/README.md": "/examples/index.md",
    "CHANGELOG.md": "/changelog.md",
    "CONTRIBUTING.md": "/contributing.md",
    "README.md": "/index.md",
}
LINK = re.compile(r"(?<=\]\()(?:\.\./)*(?:docs/)?([\w/]+\.(?:md|py))")


def link_pages(text):
    """Turn links to files of the repository into links to pages of the site."""
    return LINK.sub(lambda link: PAGES.get(link[1], link[1]), text)


def link_pages_in_source(app, docname, content):
    """Change the links of a page."""
    content[0] = link_pages(content[0])


def link_pages_in_include(app, path, docname, content):
    """Change the links of a file that a page includes."""
    content[0] = link_pages(content[0])


def copy_examples():
    """Copy the examples, because Sphinx reads only its own folder."""
    for copy in (DOCS / "examples").glob("*.py"):
        copy.unlink()
    for example in (DOCS.parent / "examples").glob("*.py"):
        shutil.copy2(example, DOCS / "examples")


def list_examples(app, docname, content):
    """Add titles and first paragraphs of the examples, and their table of contents."""
    examples = sorted((DOCS / "examples").glob("*.py"))
    if docname != "examples/index" or not examples:
        return
    for example in examples:
        first = jupytext.read(example).cells[0].source
        title, text, *_ = first.removeprefix("# ").split("\n\n")
        sentences = re.match(r".*[.?!]", text, re.DOTALL)  # without the words that introduce a list
        content[0] += f"\n[{title}]({example.name})\n: {' '.join(sentences[0].split()) if sentences else ''}\n"
    names = "\n".join(example.stem for example in examples)
    content[0] += f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def skip_inherited(app, what, name, obj, skip, options):
    """Leave out what classes inherit from other libraries."""
    module = getattr(getattr(obj, "fget", obj), "__module__", None) or ""
    return skip if module.startswith(("boostnoise", "robust_splits")) else True


def find_public_name(app, env, node, contnode):
    """Resolve public names, and the members of public classes, that are named without their packages."""
    name, dot, member = node["reftarget"].partition(".")
    paths = [path for path in PUBLIC if path.endswith(f".{name}")]
    if node["refdomain"] != "py" or not paths:
        return None
    package = (node.get("py:module") or "").partition(".")[0]
    path = max(paths, key=lambda path: path.startswith(package))
    resolve = env.domains["py"].resolve_xref
    found = resolve(env, node["refdoc"], app.builder, "obj", f"{path}{dot}{member}", node, contnode)
    if found is None and member in getattr(pkgutil.resolve_name(path), "__annotations__", ()):
        # The fields of a dataclass are described by its docstring.
        found = resolve(env, node["refdoc"], app.builder, "obj", path, node, contnode)
    return found


def setup(app):
    """Connect the functions above."""
    copy_examples()
    app.connect("source-read", list_examples)
    app.connect("source-read", link_pages_in_source)
    app.connect("include-read", link_pages_in_include)
    app.connect("env-get-outdated", lambda *_: ["examples/index"])
    app.connect("autodoc-skip-member", skip_inherited)
    app.connect("missing-reference", find_public_name)
