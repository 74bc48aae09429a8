import json

import pytest

from boostnoise.eval import ConfigError, load_config
from boostnoise.eval.config.reader import parse_text

MINIMAL = {"datasets": ["iris"], "models": ["adaboost"], "noise": [{"kind": "uniform", "rates": [0.1]}]}


def test_a_run_is_named_by_its_file(tmp_path):
    path = tmp_path / "my study.json"
    path.write_text(json.dumps(MINIMAL))
    assert load_config(path).name == "my study"
    path.write_text(json.dumps(MINIMAL), encoding="utf-8-sig")  # as some editors of Windows save it
    assert load_config(path).name == "my study"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"  \n", "the file is empty"),
        (b"{", "not valid JSON: Expecting property name"),
        (b"[1]", r"must be a JSON object, got \[1\]"),
        (b'{"repeats": 1, "repeats": 2}', "not valid JSON: an object has the key 'repeats' twice"),
        (b'{"test_fraction": NaN}', "not valid JSON: NaN is not a JSON number"),
        (b"\xff\xfe", "cannot be read"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"datasets": ["iris"]}', "models: required key is missing"),
        (
            b'{\n  // why\n  "repeats" 3}',
            r"not valid JSON: Expecting ':' delimiter: line 3 column 13 \(char 23\)",
        ),
        (
            b'{"repeats": /* why\nnot */ 3 4}',
            r"not valid JSON: Expecting ',' delimiter: line 2 column 10 \(char 28\)",
        ),
        (b'\n{"repeats": 3} /* open', r"not valid JSON: Unterminated comment starting at: line 2 column 16"),
        (b'{"repeats": /*/ 3}', "not valid JSON: Unterminated comment starting at: line 1 column 13"),
        (b'{"repeats": 3} / 4', "not valid JSON: Extra data: line 1 column 16"),
        (b"// nothing", "not valid JSON: Expecting value"),
        (b'{"repeats": "//', "not valid JSON: Unterminated string starting at: line 1 column 13"),
        (b'{"repeats": 1, /* again: */ "repeats": 2}', "has the key 'repeats' twice"),
        (b"/*" * 500_000, "not valid JSON: Unterminated comment"),
        (b'{"a": [' + b", " * 500_000, "not valid JSON"),
        (b'{"a": [1' + b"," + b" " * 1_000_000, "not valid JSON"),
        (b"/* " * 500_000, "not valid JSON: Unterminated comment"),
        (b'"' + b'\\"' * 500_000, "not valid JSON: Unterminated string"),
        (b'{"$schema": 3}', r"\$schema: must be the URL or path of a JSON Schema, got 3"),
    ],
)
def test_files_that_are_no_config(tmp_path, content, message):
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message) as error:
        load_config(path)
    assert all(line.startswith(str(path)) for line in str(error.value).splitlines())


def test_comments(tmp_path):
    text = json.dumps({**MINIMAL, "results_dir": 'a // b /* c */ \\" // d'}, indent=1)
    text = text.replace("{", '{ // a comment, "with quotes\n/* and another: // "\n*/', 1) + "// the end"
    (tmp_path / "config.json").write_text(text)
    config = load_config(tmp_path / "config.json")
    assert config.results_dir == 'a // b /* c */ \\" // d'


def test_trailing_commas(tmp_path):
    (tmp_path / "config.jsonc").write_text(
        '{"datasets": ["iris" , // the only one\n], "models": ["adaboost",],\n'
        '"noise": [{"kind": "uniform", "rates": [0.1, /* and */ 0.2,\n]}], "results_dir": "a,] b,}",\n}\n'
    )
    config = load_config(tmp_path / "config.jsonc")
    assert config.results_dir == "a,] b,}"
    assert config.noise[0].rates == [0.0, 0.1, 0.2]


@pytest.mark.parametrize(
    "text", ['{"noise": [,]}', '{"repeats": 3,,}', "{,}", '{"noise": [1,,]}', '{"a": 1} ,']
)
def test_commas_that_follow_no_item(text):
    with pytest.raises(ConfigError, match="not valid JSON"):
        parse_text(text)


def test_a_config_may_name_its_schema(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"$schema": "schema.json", **MINIMAL}))
    (tmp_path / "config2.json").write_text(json.dumps(MINIMAL))
    configs = [load_config(tmp_path / name) for name in ("config.json", "config2.json")]
    assert configs[0].model_dump() == configs[1].model_dump()


def test_no_file(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        load_config(tmp_path / "config.json")
    with pytest.raises(ConfigError, match="not a regular file"):
        load_config(tmp_path)
