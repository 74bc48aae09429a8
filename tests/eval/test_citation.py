"""The project is cited by the same facts everywhere."""

import re
import tomllib

from boostnoise.eval.citation import YEAR, bibtex, citation


def test_citation(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    authors = project["authors"][0]["name"]
    said = dict(re.findall(r"^[\s-]*([\w-]+): \"?(.*?)\"?$", (root / "CITATION.cff").read_text(), re.MULTILINE))
    assert said["name"] == authors
    assert said["version"] == project["version"]
    assert said["license"] == project["license"]
    assert citation() == f"{authors} ({YEAR}). {said['title']}. Version {project['version']}."
    assert project["description"].lower().startswith(said["title"].removeprefix("boostnoise: "))
    assert f"(c) {YEAR}," in (root / "LICENSE").read_text()


def test_bibtex(root):
    assert bibtex().splitlines()[1:3] == [
        "  author = {{The boostnoise developers}},",
        "  title = {boostnoise: learning with noisy labels on tabular data},",
    ]
    assert bibtex().count("{") == bibtex().count("}")
