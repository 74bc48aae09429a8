"""What docstrings mean by a name between single grave accents.

In a docstring ``name`` with single grave accents is a parameter or an attribute of what is documented, or else
a reference.  The former become code here, so that Sphinx, told to be nitpicky, finds all of the latter that
lead nowhere.  A docstring may also cite the references of its module.
"""

import inspect
import pkgutil
import re
import sys
from collections import Counter
from pathlib import Path

import numpydoc.xref
from docutils import nodes
from numpydoc.docscrape import NumpyDocString
from sphinx.addnodes import pending_xref
from sphinx.ext.autosummary import autosummary_table
from sphinx.ext.autosummary.generate import find_autosummary_in_files
from sphinx.util.nodes import make_refnode

PACKAGES = ("boostnoise", "boostnoise.eval", "robust_splits")
NAME = re.compile(r"(?<![`\w:])`(\w+)`(?![`\w])")
CITED = re.compile(r"\[(\d+)\]_")
SECTIONS = ("Parameters", "Other Parameters", "Attributes", "Returns", "Yields")


def is_ours(obj):
    """Whether a class, function or method was defined in a package of ours."""
    return (getattr(obj, "__module__", None) or "").startswith(PACKAGES)


def documented_names(obj):
    """Names of the parameters and attributes that a docstring tells of."""
    doc = NumpyDocString(inspect.cleandoc(obj.__doc__ or ""))
    fields = [field for section in SECTIONS for field in doc[section]]
    names = {name.strip("* ") for field in fields for name in (field.name or field.type).split(",")}
    try:
        return names | set(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        return names


def names_as_code(app, what, name, obj, options, lines):
    """Parameters and attributes of an object, and of the class that it belongs to, become code."""
    if what == "module":
        return
    known = documented_names(obj)
    owner = obj if what == "class" else None
    if what in ("method", "property", "attribute"):
        owner = pkgutil.resolve_name(name.rpartition(".")[0])
    for base in inspect.getmro(owner) if owner else ():
        if is_ours(base):
            known |= documented_names(base)
            methods = vars(base).values() if what == "class" else ()  # of which a class may tell, too
            known.update(*(documented_names(it) for it in methods if inspect.isfunction(it) and is_ours(it)))
    lines[:] = [NAME.sub(lambda it: f"``{it[1]}``" if it[1] in known else it[0], line) for line in lines]


def references_of_module(app, what, name, obj, options, lines):
    """What a docstring cites without a section of its own is in that of its module."""
    module = sys.modules.get(getattr(obj, "__module__", None))
    text = "\n".join(lines)
    if module is None or "\nReferences\n---" in text:
        return
    _, _, section = (inspect.getdoc(module) or "").partition("\nReferences\n----------\n")
    entries = dict(re.findall(r"^\.\. \[(\d+)\] ((?:.+\n?)(?:    .*\n?)*)", section, re.MULTILINE))
    cited = sorted(set(CITED.findall(text)) & entries.keys())
    if cited:
        lines += ["", "References", "----------"]
        for number in cited:
            lines += f".. [{number}] {entries[number]}".splitlines()


def only_ours(app, what, name, obj, skip, options):
    """What classes inherit from those of other libraries is documented there."""
    return skip if is_ours(getattr(obj, "fget", obj)) else True


def without_citations(app, doctree):
    """A summary in a table of names cites nothing: what it would lead to is on another page."""
    for table in doctree.findall(autosummary_table):
        for cited in [node for node in table.findall(pending_xref) if node["refdomain"] == "citation"]:
            before = cited.parent[cited.parent.index(cited) - 1]
            before.parent.replace(before, nodes.Text(before.astext().rstrip()))
            cited.parent.remove(cited)


def find_elsewhere(app, env, node, contnode):
    """A class or function may be named without its module, where no other has its name."""
    if node["refdomain"] != "py":
        return None
    objects = env.domains["py"].objects
    target = node["reftarget"]
    found = [name for name in objects if f".{name}".endswith(f".{target}") and not objects[name].aliased]
    found = [name for name in found if objects[name].objtype in ("class", "exception", "function")] or [
        name for name in found if "." in target
    ]
    package = (node.get("py:module") or "").partition(".")[0]
    found = [name for name in found if name.startswith(f"{package}.")] or found
    if len(found) != 1:
        return None
    entry = objects[found[0]]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, contnode, found[0])


def link_types(app, config):
    """Let the types of parameters be links where they are classes that pages list."""
    numpydoc.xref.DEFAULT_LINKS.clear()  # they lead to other sites
    pages = [str(page) for page in Path(app.srcdir).glob("*.md")]
    listed = [entry.name for entry in find_autosummary_in_files(pages)]
    ends = Counter(name.rpartition(".")[2] for name in listed)
    names = {name.rpartition(".")[2]: name for name in listed}
    config.numpydoc_xref_aliases = {
        end: name for end, name in names.items() if ends[end] == 1 and end[0].isupper()
    }


def setup(app):
    """Come before numpydoc, which turns docstrings into something else."""
    app.connect("config-inited", link_types, priority=100)
    app.connect("autodoc-process-docstring", names_as_code, priority=100)
    app.connect("autodoc-process-docstring", references_of_module, priority=101)
    app.connect("autodoc-skip-member", only_ours)
    app.connect("doctree-read", without_citations, priority=900)
    app.connect("missing-reference", find_elsewhere)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
