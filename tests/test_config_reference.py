"""docs/config.md describes every key, in tables generated from the schema."""

import importlib.util
import json
import re
from pathlib import Path
from typing import get_args

import pytest

from boostnoise.eval.config.annotators_spec import AnnotatorsSpec
from boostnoise.eval.config.dataset_spec import SETS, DatasetSpec
from boostnoise.eval.config.figures import FigureOptions
from boostnoise.eval.config.json_schema import config_schema
from boostnoise.eval.config.metric_spec import MetricSpec
from boostnoise.eval.config.model_spec import EarlyStoppingSpec, Metric, ModelSpec, SearchSpec
from boostnoise.eval.config.noise_spec import NoiseSpec
from boostnoise.eval.config.run import Config, parse_config
from boostnoise.eval.metrics.registry import MEASURES, PAIRED
from boostnoise.eval.models.short_names import SHORT_NAMES

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def json_blocks(text):
    return [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]


def keys_of(section):
    """Return the keys of the first table of a section."""
    _, table = re.split(r"\n\|(?:---\|){3,}\n", TEXT.split(f"# {section}\n", 1)[1])[:2]
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| .* \| .*\|$", table.split("\n\n")[0], flags=re.MULTILINE)
    return {key for row in rows for key in re.findall(r"`(\w+)`", row)}


@pytest.fixture(scope="module")
def reference():
    """Import the script that generates the tables."""
    spec = importlib.util.spec_from_file_location("config_reference", ROOT / "docs" / "config_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_up_to_date(reference):
    assert reference.updated(TEXT) == TEXT, "run python docs/config_reference.py"
    assert TEXT.count("<!-- table: ") == len(reference.TABLE.findall(TEXT)) > 5
    assert reference.updated(TEXT.replace("| `repeats` |", "| `repeat` |")) == TEXT


def rows(text=TEXT):
    return {row.split("|")[1].strip(" `"): row for row in text.splitlines() if row.startswith("| `")}


@pytest.mark.parametrize(
    ("key", "value", "default"),
    [
        ("repeats", "integer from 1 to 10000", "`3`"),
        ("test_fraction", "number above 0 and below 1", "`0.2`"),
        ("stratify", "`true` or `false`", "`true`"),
        ("fig_size", "list of 2 numbers from 1 to 100", ""),
        ("categorical", "`onehot`, `ordinal`", '`"onehot"`'),
        ("openml", "string or integer above 0", ""),
        ("separator", "one character", ""),
        ("datasets", "list of [data sets](#data-sets)", "required"),
        ("ela_fig", "[figure](#options-of-figures)", ""),
        ("draws", "integer from 1 to 10000", ""),
    ],
)
def test_values_and_defaults(key, value, default):
    assert [cell.strip() for cell in rows()[key].split("|")[3:5]] == [value, default]


def test_every_description_of_the_schema_is_there():
    described = [config_schema()["properties"]]
    described += [form["properties"] for spec in config_schema()["$defs"].values()
                  for form in [spec, *spec.get("anyOf", [])] if "properties" in form]  # fmt: skip
    descriptions = {key["description"].removesuffix(".") for keys in described for name, key in keys.items()
            if name not in ("$schema", "kind")}  # fmt: skip
    assert len(descriptions) > 40
    assert [text for text in descriptions if text not in TEXT] == []


def test_what_would_break_a_table_is_escaped(reference):
    assert reference._text("|a| *b* `c|d*` e_f _g_.") == r"\|a\| \*b\* `c|d*` e_f \_g\_"


@pytest.mark.parametrize(
    ("section", "keys"),
    [
        ("A config", Config.model_fields.keys() - {"name"}),
        ("Options of figures", FigureOptions.model_fields),
        ("Data sets", DatasetSpec.model_fields),
        ("Measures", MEASURES),
        ("Metrics of installed packages", MetricSpec.model_fields),
        ("Models", ModelSpec.model_fields.keys() - {"hash"}),
        ("Early stopping", EarlyStoppingSpec.model_fields),
        ("Search", SearchSpec.model_fields),
    ],
)
def test_each_section_describes_its_keys(section, keys):
    assert keys_of(section) == set(keys)


def test_all_names_are_listed():
    names = [*SETS, *PAIRED, *SHORT_NAMES, *get_args(Metric)]
    assert [name for name in names if f"`{name}`" not in TEXT] == []


def test_examples():
    assert set(json_blocks(README)[0]) <= Config.model_fields.keys()
    data_sets, of_domains, models, *_ = json_blocks(TEXT)
    for spec, examples in ((DatasetSpec, data_sets), (DatasetSpec, of_domains), (ModelSpec, models)):
        for example in examples:
            spec.model_validate(example)


def test_annotators():
    section = TEXT.split("## Noisy labels of your own")[1]
    table = section.split("<!-- table: AnnotatorsSpec -->")[1].split("<!--")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(AnnotatorsSpec.model_fields)
    parse_config(json_blocks(section)[0], "example")


def test_noise():
    union, _ = get_args(NoiseSpec)
    kinds = {get_args(spec.model_fields["kind"].annotation)[0] for spec in get_args(union)}
    assert keys_of("Noise") == kinds
    of_objects = {key for spec in get_args(union) for key in spec.model_fields}
    assert of_objects - {"kind", "rates"} <= set(rows(TEXT.split("\n## Noise\n")[1]))
