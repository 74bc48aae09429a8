"""docs/config.md tells every key that the code knows."""

import json
import re
from pathlib import Path
from typing import get_args

from boostnoise.eval.config import Config
from boostnoise.eval.dataset_spec import SETS, DatasetSpec
from boostnoise.eval.metrics import MEASURES, PAIRED
from boostnoise.eval.model_names import SHORT_NAMES
from boostnoise.eval.model_spec import Metric, ModelSpec, SearchSpec
from boostnoise.eval.noise_spec import NoiseSpec

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def json_blocks(text):
    return [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]


def keys_of(section):
    """Keys of the first table of a section."""
    table = TEXT.split(f"# {section}\n", 1)[1].split("\n|---|---|---|\n", 1)[1].split("\n\n")[0]
    told = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| .* \| .*\|$", table, flags=re.MULTILINE)
    return {key for row in told for key in re.findall(r"`(\w+)`", row)}


def test_config():
    keys = keys_of("A config")
    assert keys == set(Config.model_fields) - {"name"}
    assert set(json_blocks(README)[0]) <= keys


def test_data_sets():
    assert keys_of("Data sets") == set(DatasetSpec.model_fields)
    assert all(f"`{name}`" in TEXT for name in SETS)
    for example in json_blocks(TEXT)[0]:
        DatasetSpec.model_validate(example)


def test_measures():
    assert keys_of("What is measured") == set(MEASURES)
    assert all(f"`{name}`" in TEXT for name in PAIRED)


def test_models():
    assert keys_of("Models") == set(ModelSpec.model_fields)
    assert all(f"`{name}`" in TEXT for name in SHORT_NAMES)
    for example in json_blocks(TEXT)[1]:
        ModelSpec.model_validate(example)


def test_search():
    assert keys_of("Search") == set(SearchSpec.model_fields)
    assert all(f"`{metric}`" in TEXT for metric in get_args(Metric))


def test_noise():
    union, _ = get_args(NoiseSpec)
    kinds = {get_args(spec.model_fields["kind"].annotation)[0] for spec in get_args(union)}
    assert keys_of("Noise") == kinds
