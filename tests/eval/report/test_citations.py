import ast
import re
import tomllib
from pathlib import Path

import pytest

import boostnoise
from boostnoise import losses
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.models.variants import ADAPTIVE_CRITERION
from boostnoise.eval.report import citations as module
from boostnoise.eval.report.citations import (
    CRITERIA,
    LOSSES,
    NOISE,
    YEAR,
    bibtex,
    bibtex_of,
    citation,
    references_of,
)
from robust_splits import criteria


def references(models, noise="uniform"):
    config = parse_config(
        {"datasets": ["iris"], "models": models, "noise": [{"kind": noise, "rates": [0.1]}]}, "study"
    )
    return {reference.bibtex.split("{")[1].split(",")[0]: reference for reference in references_of(config)}


@pytest.mark.parametrize(
    ("models", "noise", "expected"),
    [
        (["decision_tree"], "uniform", {"pedregosa2011"}),
        (["robust_forest"], "pair_flip", {"han2018"}),
        (["robust_tree"], "uniform", {"wilton2024"}),
        (["decision_tree"], "by_row", {"pedregosa2011", "ghosh2017trees"}),
        (["robust_forest:credal(0.5)"], "uniform", {"mantas2014"}),
        (["robust_xgboost"], "uniform", {"chen2016"}),
        (["robust_xgboost:gce"], "uniform", {"chen2016", "zhang2018"}),
        (["robust_lightgbm:sce", "lightgbm"], "mahalanobis", {"ke2017", "wang2019", "wilton2024"}),
        (["cleanlab+svm_linear"], "uniform", {"northcutt2021", "pedregosa2011"}),
        (["robust+xgboost"], "uniform", {"patrini2017", "menon2015", "chen2016"}),
    ],
)
def test_references_of_models_and_noise(models, noise, expected):
    found = references(models, noise)
    assert set(found) == {"saez2016", "demsar2006"} | expected


def test_a_reference_is_listed_once_with_all_reasons():
    found = references(["robust_tree:ne", "robust_forest:ane"], "mahalanobis")
    assert found["wilton2024"].reason == "mahalanobis noise, criterion ne, criterion ane"
    assert found["wilton2024"].text == (
        "Wilton & Ye: Robust Loss Functions for Training Decision Trees with Noisy Labels. AAAI, 2024."
    )
    assert found["saez2016"].url == "https://doi.org/10.1016/j.neucom.2014.11.086"
    assert found["saez2016"].text.startswith("Sáez, Luengo & Herrera: Evaluating the classifier behavior")
    assert bibtex_of(list(found.values())).count("\n@") == len(found) - 1


def test_every_key_has_an_entry_and_every_entry_is_used():
    keys = {
        node.value
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    entries = set(module._entries())
    assert len(entries) > 25
    assert entries <= keys
    for table in (module.ALWAYS, CRITERIA, LOSSES, NOISE):
        assert {key for named in table.values() for key in named} <= entries
    for entry in module._entries().values():
        assert entry.count("{") == entry.count("}")


def test_every_criterion_and_loss_is_known_or_needs_no_paper():
    without = {"gini", "entropy", "ce", "mse", "distribution"}
    assert set(CRITERIA) | without >= {*criteria.CRITERIA, ADAPTIVE_CRITERION}
    assert set(LOSSES) | without >= set(losses.LOSSES)
    assert set(CRITERIA) <= {*criteria.CRITERIA, ADAPTIVE_CRITERION}
    assert set(LOSSES) <= set(losses.LOSSES)


def test_citation(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    authors = project["authors"][0]["name"]
    cff = dict(re.findall(r"^[\s-]*([\w-]+): \"?(.*?)\"?$", (root / "CITATION.cff").read_text(), re.MULTILINE))
    assert cff["name"] == authors
    assert cff["version"] == boostnoise.__version__
    assert cff["license"] == project["license"]
    assert citation() == f"{authors} ({YEAR}). {cff['title']}. Version {boostnoise.__version__}."
    assert project["description"].lower().startswith(cff["title"].removeprefix("boostnoise: "))
    assert f"(c) {YEAR}," in (root / "LICENSE").read_text()


def test_bibtex(root):
    assert bibtex().splitlines()[1:3] == [
        "  author = {{The boostnoise developers}},",
        "  title = {boostnoise: learning with noisy labels on tabular data},",
    ]
    assert bibtex().count("{") == bibtex().count("}")
