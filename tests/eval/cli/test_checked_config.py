import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.tree import DecisionTreeClassifier

from boostnoise.eval import run
from boostnoise.eval.cli.audit import main
from boostnoise.eval.config.reader import parse_text
from boostnoise.eval.config.run import parse_config

pytestmark = pytest.mark.usefixtures("fits_in_this_process")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Files of 300 rows, and of 80 of them with right labels."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"key": [f"k{i:03d}" for i in range(300)], "x": rng.normal(size=300).round(4)})
    frame["z"] = rng.normal(size=300).round(4)
    frame["given_label"] = rng.choice(["red", "blue"], 300)  # a feature of this name
    right = np.where(frame["x"] > 0, "yes", "no")
    wrong = rng.random(300) < 0.2
    frame["label"] = np.where(wrong, np.where(right == "yes", "no", "yes"), right)
    frame.loc[3, "z"] = None
    frame.to_csv("a.csv", index=False, sep=";")
    rows = np.sort(rng.choice(300, 80, replace=False))
    pd.DataFrame({"key": frame["key"][rows], "label": right[rows]}).to_csv("checked.csv", index=False, sep=";")
    return frame, right, rows


def audit(*arguments):
    options = ["a.csv", "--target", "label", "--id", "key", "--checked", "checked.csv", "-j", "1", *arguments]
    return CliRunner().invoke(main, options)


def test_the_config_tests_on_the_checked_rows(data, tmp_path):
    frame, right, rows = data
    done = audit("--config", "study.json", "--name", "mine")
    assert done.exit_code == 0, done.output
    assert "To test models on the 80 checked rows: noisyeval study.json" in done.stdout
    table = pd.read_parquet("results/mine_audit/rows.parquet")
    assert table["label"][rows].tolist() == right[rows].tolist()
    assert table["label"].notna().sum() == 80
    assert table["given_label_"].tolist() == frame["label"].tolist()
    assert table["given_label"].tolist() == frame["given_label"].tolist()
    text = (tmp_path / "study.json").read_text()
    assert "Right labels of the 80 checked rows, which are the test rows." in text
    assert "Repeats differ in the seeds of the models only." in text
    assert "own split" not in text
    config = parse_text(text) | {"models": ["decision_tree"], "repeats": 1}
    found = run(parse_config(config, "short"))
    assert found.scores["error"].isna().all()
    (rate,) = found.scores["noise_rate"].unique()
    assert rate == pytest.approx((right != frame["label"]).mean(), abs=0.1)
    assert found.scores["realised_rate"].isna().all()
    assert found.config.datasets[0].drop == ["key"]
    X = frame[["x", "z"]].assign(g=frame["given_label"] == "red").fillna(frame["z"].drop(rows).median())
    train = np.setdiff1d(np.arange(300), rows)
    tree = DecisionTreeClassifier(random_state=0).fit(X.loc[train], frame["label"][train])
    assert found.scores["accuracy"].item() == pytest.approx(tree.score(X.loc[rows], right[rows]), abs=0.05)


def test_rows_of_checked_groups_are_not_trained_on(data, tmp_path):
    frame, _, rows = data
    frame.assign(patient=np.arange(300) // 2).to_csv("a.csv", index=False, sep=";")
    done = audit("--group", "patient", "--config", "study.json", "--name", "mine")
    assert done.exit_code == 0, done.output
    table = pd.read_parquet("results/mine_audit/rows.parquet")
    is_checked = table["label"].notna()
    assert is_checked.sum() == 80
    assert not set(table["patient"][is_checked]) & set(table["patient"][~is_checked])
    n_left_out = 300 - len(table)
    assert n_left_out == len(set(rows // 2)) * 2 - 80
    text = (tmp_path / "study.json").read_text()
    assert f"; {n_left_out} rows that are not checked but in their groups are left out." in text
    found = run(parse_config(parse_text(text) | {"models": ["decision_tree"], "repeats": 1}, "short"))
    assert found.scores["error"].isna().all()


def test_what_noisyeval_will_show_is_not_shown(data):
    frame, _, rows = data
    unchecked = np.setdiff1d(np.arange(300), rows)
    frame["z"] = frame["z"].astype(str)
    frame.loc[unchecked[:8], "z"] = [f"n{i}k" for i in range(8)]
    frame.loc[unchecked[10], "label"] = None
    frame.to_csv("a.csv", index=False, sep=";")
    done = audit("--config", "study.json")  # a warning would be an error
    assert done.exit_code == 0, done.output
    assert "UserWarning" not in done.stderr


def test_errors(data, tmp_path):
    pd.read_csv("checked.csv", sep=";").head(2).to_csv("checked.csv", sep=";", index=False)
    done = audit("--config", "study.json")
    assert done.exit_code == 2
    assert "--config: requires at least 20 checked rows, got 2" in done.stderr
    assert not (tmp_path / "study.json").exists()
    assert (tmp_path / "results" / "a_audit" / "suspects.csv").exists()  # the audit itself is kept
    (tmp_path / "study.json").write_text("{}")
    done = audit("--config", "study.json")
    assert done.exit_code == 2
    assert "--config: study.json already exists and is not overwritten" in done.stderr
    done = CliRunner().invoke(main, ["a.csv", "--config", "new.json"])
    assert done.exit_code == 2
    assert "--config requires --checked" in done.stderr
    for name in ("../x", "a\\b", " ", "a\nb"):
        done = audit("--name", name)
        assert done.exit_code == 2
        assert "--name: must be printable, not blank and without / or \\" in done.stderr
