"""The examples in docstrings give what they show."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for folder in ("boostnoise", "eval", "robust_splits")
    for path in (ROOT / folder).rglob("*.py")
    if re.search("^ +>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(re.sub(r"^eval\b", "boostnoise.eval", name))
    failed, attempted = doctest.testmod(module)
    assert attempted > 0
    assert failed == 0
