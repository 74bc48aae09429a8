import json
import re

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

from boostnoise.eval import ConfigError, load_config
from boostnoise.eval.cli.starter import starter_config, write_starter
from boostnoise.eval.config.dataset_spec import DatasetSpec
from boostnoise.eval.config.json_schema import config_schema
from boostnoise.eval.config.reader import parse_text
from boostnoise.eval.datasets.loader import load_dataset
from boostnoise.eval.execution.plan import plan


@pytest.fixture
def start(tmp_path):
    """Starts from a frame: the data set's keys, the config and the remarks."""

    def start(frame, target=None, name="data.csv"):
        path = tmp_path / name
        frame.to_parquet(path) if name.endswith("parquet") else frame.to_csv(path, index=False)
        remarks = write_starter(tmp_path / "study.jsonc", str(path), target)
        content = parse_text((tmp_path / "study.jsonc").read_text())
        Draft202012Validator(config_schema()).validate(content)
        config = load_config(tmp_path / "study.jsonc")
        assert len(plan(config).jobs) == 6 * 5 * 3
        keys = content["datasets"][0]
        assert keys.pop("path") == str(path)
        return keys, config, remarks

    return start


def frame(n=60, **columns):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return pd.DataFrame({"x": x, **columns, "class": np.where(x + rng.normal(size=n) > 0, "a", "b")})


def test_data_without_problems(start):
    keys, config, remarks = start(frame())
    assert keys == {"target": "class"}
    assert config.stratify
    assert remarks == [
        "guessed the target: column 'class', because of its name; use --target COLUMN to change it"
    ]


@pytest.mark.parametrize(
    ("columns", "target", "expected"),
    [
        (["x", "Label", "z"], None, "Label"),
        (["y", "x", "target"], None, "target"),
        (["x", "z", "kind"], None, "kind"),
        (["x", "z", "kind"], "x", "x"),
        (["x", "z", "kind"], "-3", "x"),
        (["0", "1", "kind"], "1", "1"),
    ],
)
def test_the_target(start, columns, target, expected):
    data = pd.DataFrame({name: np.arange(60) // 3 % (2 + i) for i, name in enumerate(columns)})
    keys, _, remarks = start(data, target)
    assert keys["target"] == expected
    assert sum("guessed the target" in remark for remark in remarks) == (target is None)


def test_columns_that_are_not_features(start):
    data = frame(
        row=range(5, 65),
        user_id=np.random.default_rng(0).permutation(60) * 7,
        valid=np.arange(60) * 7 % 61,
        mail=[f"text {i}" for i in range(60)],
        nothing=None,
        infinite=[np.inf] * 60,
        colour=["red", "green"] * 30,
    )
    keys, _, remarks = start(data)
    assert keys["drop"] == ["row", "user_id", "mail", "nothing", "infinite"]
    assert keys["categorical"] == "onehot"
    assert (
        remarks[1] == "dropped columns that are not features: 'row', 'user_id', 'mail', 'nothing', 'infinite'"
    )


def test_text_with_many_values_and_missing_values(start):
    town = [f"town {i % 300}" for i in range(900)]
    keys, _, _ = start(frame(900, town=town, holes=[1.0, np.nan, 2.0] * 300))
    assert (keys["categorical"], keys["missing"]) == ("ordinal", "impute")
    assert "drop" not in keys


def test_rare_classes(start):
    data = frame(60)
    data.loc[0, "class"] = "rare"
    assert not start(data)[1].stratify


def test_many_rows(start):
    keys, _, _ = start(frame(50_001))
    assert keys["max_rows"] == 20_000


def test_columns_whose_names_are_hard(start):
    strange = {
        'quo"te // no /* comment */': range(60),
        "new\nline": [1, 2] * 30,
        "größe\u2028": ["a", "b"] * 30,
    }
    keys, _, _ = start(frame(**strange))
    assert keys["drop"] == ['quo"te // no /* comment */']


def test_columns_without_names(start, tmp_path):
    pd.DataFrame({0: range(60), 1: [1, 2] * 30, 2: [0, 0, 1] * 20}).to_parquet(tmp_path / "a.parquet")
    text, _ = starter_config(str(tmp_path / "a.parquet"))
    (keys,) = parse_text(text)["datasets"]
    assert (keys["target"], keys["drop"]) == (2, [0])


def test_svmlight(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2\n0 1:3\n" * 30)
    text, remarks = starter_config(str(tmp_path / "a.svm"))
    assert parse_text(text)["datasets"] == [{"path": str(tmp_path / "a.svm")}]
    assert remarks == []
    with pytest.raises(ConfigError, match="--target: not allowed for"):
        starter_config(str(tmp_path / "a.svm"), "0")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "x", "must end in .csv, .csv.gz, .tsv, "),
        ("missing.csv", None, "no such file"),
        (
            "a.csv",
            "x,y\n1,1\n2,1\n",
            "needs at least two classes, found only 1; guessed the target: column 'y'",
        ),
    ],
)
def test_data_that_cannot_be_learnt_from(refusal, tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    assert re.search(message, refusal(write_starter, tmp_path / "study.json", str(tmp_path / name)))
    assert not (tmp_path / "study.json").exists()


def test_rows_without_a_label_are_left_out(start):
    data = frame()
    data.loc[3, "class"] = None
    with pytest.warns(UserWarning, match="column 'class' has 1 missing label; the other 59 rows are used"):
        keys, _, remarks = start(data)
    assert "missing" not in keys
    assert "1 of 60 rows have no label and are not used" in remarks


def test_other_separators(tmp_path):
    frame().to_csv(tmp_path / "a.csv", index=False, sep=";")
    write_starter(tmp_path / "study.jsonc", str(tmp_path / "a.csv"))
    (spec,) = load_config(tmp_path / "study.jsonc").datasets
    assert (spec.separator, spec.target) == (";", "class")


def test_nothing_is_overwritten(tmp_path):
    frame().to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "study.json").write_text("precious")
    with pytest.raises(ConfigError, match=r"study.json: already exists and is not overwritten"):
        write_starter(tmp_path / "study.json", str(tmp_path / "a.csv"))
    assert (tmp_path / "study.json").read_text() == "precious"
    with pytest.raises(ConfigError, match=r"cannot be written: No such file"):
        write_starter(tmp_path / "no folder" / "study.json", str(tmp_path / "a.csv"))


def test_an_unknown_target(tmp_path):
    frame().to_csv(tmp_path / "a.csv", index=False)
    for target in ("z", "2", "-3"):
        with pytest.raises(ConfigError, match=f"--target: '{target}' is not a column; columns are x, class"):
            starter_config(str(tmp_path / "a.csv"), target)


def test_comments_say_why(tmp_path):
    frame(n=60, id=range(60)).to_csv(tmp_path / "a.csv", index=False)
    text, _ = starter_config(str(tmp_path / "a.csv"))
    assert '"id"  // row number or ID' in text
    assert "// Guessed because of its name." in text
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)


def test_columns_that_may_be_groups(start):
    n = 60
    _, _, remarks = start(frame(n, patient_id=np.arange(n) // 3, humid=np.arange(n) // 2, id=range(n)))
    told = [remark for remark in remarks if "group" in remark]
    expected = (
        """several rows share a value of 'patient_id'; if they belong together, set "group": "patient_id\""""
    )
    assert told == [expected]


def test_thousands_and_a_file_without_names(tmp_path):
    rows = [f'{i / 7:.2f},"{1 + i % 3},{100 + i}",{"ab"[i % 2]}' for i in range(50)]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    text, remarks = starter_config(str(tmp_path / "a.csv"))
    assert '"decimal"' not in text
    assert remarks[1:] == [
        "names of columns are taken from the first line: '0.00', '1,100'; if that is a row of data, put a line of "
        "names before it",
        "column '1,100' is text, because its numbers have commas; remove them if they separate thousands, or set "
        '"decimal": ","',
        "dropped columns that are not features: '1,100'",
    ]


def test_columns_made_from_the_label_are_dropped(start):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 3))
    right = x.sum(axis=1) > 0
    first, second = (np.where(right ^ (rng.random(600) < rate), "yes", "no") for rate in (0.1, 0.05))
    keys, _, remarks = start(pd.DataFrame(x, columns=["a", "b", "c"]).assign(expert=second, label=first))
    assert keys["drop"] == ["expert"]
    assert remarks[1].startswith("column 'expert' was left out, as it is probably made from the label")


def test_a_messy_csv(tmp_path):
    rng = np.random.default_rng(0)
    n = 200
    label = np.where(rng.random(n) < 0.5, "ja", "nein")
    table = pd.DataFrame(
        {
            "Größe": [f"{value:.2f}".replace(".", ",") for value in rng.normal(size=n)],
            "Alter": [str(value) for value in rng.integers(18, 90, n)],
            "am": pd.date_range("2020-01-01", periods=n).strftime("%d.%m.%Y"),
            "Land": rng.choice(["NA", "DE", "FR"], n),
            "konstant": "x",
            "Ergebnis": np.where(label == "ja", "angenommen", "abgelehnt"),
            "y": label,
        }
    )
    table.loc[::40, "Alter"] = "?"
    table.loc[7, "y"] = "Ja "
    table.loc[9, "y"] = None
    table = pd.concat([table, table.iloc[[3]]])
    table.to_csv(tmp_path / "a.csv", index=False, sep=";", encoding="latin-1")
    text, remarks = starter_config(str(tmp_path / "a.csv"))
    (keys,) = parse_text(text)["datasets"]
    with pytest.warns(UserWarning, match="1 missing label"):
        data = load_dataset(DatasetSpec.model_validate(keys))
    assert keys == {
        "path": str(tmp_path / "a.csv"), "encoding": "latin-1", "separator": ";", "decimal": ",",
        "missing_values": ["?"], "target": "y", "drop": ["konstant"], "dates": ["am"], "date_format": "%d.%m.%Y",
        "categorical": "onehot", "missing": "impute",
    }  # fmt: skip
    assert remarks[1:] == [
        "dropped columns that are not features: 'konstant'",
        "1 of 201 rows have no label and are not used",
        "labels that differ in case or blanks only: 'ja', 'Ja '; correct the file, or list those of one class in "
        '"positive"'
        if label[0] == "ja"
        else remarks[3],
        "column 'Ergebnis' alone tells nearly all labels; drop it if it is not known before the label",
        "1 of 201 rows are copies of others; copies among the test rows make scores too good",
    ]
    assert '5 of 201 values of the column "Alter" are not numbers.' in text
    assert data.X["Land"].isin(["NA", "DE", "FR"]).all()
    assert data.X.dtypes.map(lambda dtype: dtype.kind).tolist() == ["f", "f", "M", "O", "O"]
    assert data.X["Alter"].isna().sum() == 5


@pytest.mark.parametrize("name", ["a.tsv", "a.csv.gz", "A.TSV.GZ"])
def test_suffixes(tmp_path, name):
    separator = "\t" if "tsv" in name.lower() else ","
    frame().to_csv(
        tmp_path / name, index=False, sep=separator, compression="gzip" if "z" in name.lower() else None
    )
    write_starter(tmp_path / "study.jsonc", str(tmp_path / name))
    (spec,) = load_config(tmp_path / "study.jsonc").datasets
    assert (spec.name, spec.target) == (name[0], "class")
    assert load_dataset(spec).X.shape == (60, 1)


def test_lines_may_be_removed(tmp_path):
    """A comment asks the user to remove a key; the comma before it may stay."""
    frame(50_001).to_csv(tmp_path / "a.csv", index=False)
    text, _ = starter_config(str(tmp_path / "a.csv"))
    assert '"max_rows": 20000\n' in text
    shorter = "\n".join(line for line in text.split("\n") if "max_rows" not in line)
    assert "max_rows" not in parse_text(shorter)["datasets"][0]
