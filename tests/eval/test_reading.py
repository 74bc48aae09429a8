import json

import pytest
from boostnoise.eval import ConfigError, load_config

MINIMAL = {"datasets": ["iris"], "models": ["adaboost"], "noise": [{"kind": "uniform", "rates": [0.1]}]}


def test_a_run_is_named_by_its_file(tmp_path):
    path = tmp_path / "my study.json"
    path.write_text(json.dumps(MINIMAL))
    assert load_config(path).name == "my study"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"  \n", "the file is empty"),
        (b"{", "not valid JSON: Expecting property name"),
        (b"[1]", r"must hold a JSON object, got \[1\]"),
        (b'{"repeats": 1, "repeats": 2}', "not valid JSON: an object holds the key 'repeats' twice"),
        (b'{"test_fraction": NaN}', "not valid JSON: NaN is not a number"),
        (b"\xff\xfe", "cannot be read"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"datasets": ["iris"]}', "models: the key is missing"),
    ],
)
def test_files_that_are_no_config(tmp_path, content, message):
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message) as error:
        load_config(path)
    assert all(line.startswith(str(path)) for line in str(error.value).splitlines())


def test_no_file(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        load_config(tmp_path / "config.json")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path)
