"""The workflows and the conda recipe agree with `pyproject.toml`, the README and the guides."""

import re
import tomllib

import pytest
import yaml

import boostnoise

CONDA_NAMES = {"lazy-loader": "lazy_loader", "matplotlib": "matplotlib-base"}


@pytest.fixture
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def recipe(root):
    return yaml.safe_load((root / "packaging" / "recipe.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def workflow(root):
    """Read a workflow."""
    return lambda name: (root / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")


def as_conda(requirement):
    name, version = re.fullmatch(r"([\w-]+)(\S*)", requirement).groups()
    return f"{CONDA_NAMES.get(name, name)} {version}"


def test_the_recipe_has_the_dependencies_of_the_wheel(project, recipe):
    python, *others = recipe["requirements"]["run"]
    assert python == "python >=${{ python_min }}"
    assert project["project"]["requires-python"] == f">={recipe['context']['python_min']}"
    assert others == [as_conda(requirement) for requirement in project["project"]["dependencies"]]
    assert recipe["requirements"]["host"][2:] == [*map(as_conda, project["build-system"]["requires"])]


def test_the_recipe_has_the_commands_and_the_version_of_the_wheel(project, recipe):
    commands = [f"{name} = {function}" for name, function in project["project"]["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == commands
    assert recipe["context"]["version"] == boostnoise.__version__


def test_the_oldest_python_is_tested(project, workflow):
    pythons = yaml.safe_load(workflow("tests"))["jobs"]["tests"]["strategy"]["matrix"]["python"]
    assert project["project"]["requires-python"] == f">={pythons[0]}"


@pytest.mark.parametrize(
    ("name", "page", "command"),
    [
        ("tests", "README.md", r"python3 -m venv .*pytest.*"),
        ("site", "CONTRIBUTING.md", r"\S+/sphinx-build .*"),
    ],
)
def test_workflows_run_the_documented_commands(root, workflow, name, page, command):
    (documented,) = re.findall(rf"^ *({command})$", (root / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert f"run: {documented}\n" in workflow(name)
