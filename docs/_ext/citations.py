"""Citations in docstrings: `[1]_` may name a source that the module's docstring lists."""

import inspect
import re
import sys

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.ext.autosummary import autosummary_table

CITED = re.compile(r"\[(\d+)\]_")


def add_sources_of_module(app, what, name, obj, options, lines):
    """Append the cited entries of the module's References to a docstring that has no such section."""
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


def remove_citations_from_summaries(app, doctree):
    """Tables of names show the first sentence of a docstring, whose sources are on another page."""
    for table in doctree.findall(autosummary_table):
        for cited in [node for node in table.findall(pending_xref) if node["refdomain"] == "citation"]:
            before = cited.parent[cited.parent.index(cited) - 1]
            before.parent.replace(before, nodes.Text(before.astext().rstrip()))
            cited.parent.remove(cited)


def setup(app):
    """Run before numpydoc, which rewrites docstrings."""
    app.connect("autodoc-process-docstring", add_sources_of_module, priority=100)
    app.connect("doctree-read", remove_citations_from_summaries, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
