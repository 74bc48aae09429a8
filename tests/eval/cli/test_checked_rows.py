import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from boostnoise.eval.cli.audit import main


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A file with wrong labels, and the right ones."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=300).round(4)
    right = np.where(x > 0, "yes", "no")
    given = np.where(rng.random(300) < 0.15, np.where(right == "yes", "no", "yes"), right)
    frame = pd.DataFrame({"key": [f"k{i}" for i in range(300)], "x": x, "label": given})
    frame.loc[3, "label"] = None
    frame.to_csv("a.csv", index=False)
    return right


def run(*arguments):
    return CliRunner().invoke(main, ["a.csv", "--id", "key", "-j", "1", *arguments])


@pytest.mark.parametrize("by", ["row", "key"])
def test_checked_rows_by_number_or_name(data, by):
    assert run("-q").exit_code == 0
    suspects = pd.read_csv("results/a_audit/suspects.csv").head(20)
    rows = suspects["row"].to_numpy()
    columns = {"row": rows} if by == "row" else {"key": suspects["id"]}
    pd.DataFrame({**columns, "label": data[rows]}).to_csv("checked.csv", index=False)
    done = run("--checked", "checked.csv", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["checked"] == 20
    after = pd.read_csv("results/a_audit/suspects.csv")
    assert not set(after["row"].head(100)) & set(rows)
    assert set(after["p_wrong"].tail(20)) <= {0.0, 1.0}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("row,label\n999,yes\n", "--checked: row 999 is not a row of the data"),
        ("row,label\n1,yes\n1,no\n", "--checked: row 1 is checked more than once"),
        ("row,label\n5,yes\nx7,no\n", "--checked: row 'x7' is not a row of the data"),
        ("row,label\n1,\n", "--checked: column 'label' is empty in all rows of checked.csv"),
        ("row,label,probability\n1,yes,0\n", "each probability must be above 0 and at most 1, got 0"),
        ("row,label,probability\n1,yes,often\n", "column 'probability' must have numbers only"),
        (
            "row,label,probability,round\n1,yes,.5,0\n",
            "each round must be a whole number from 1 to 1000, got 0",
        ),
        ("row,label\n3,yes\n", "--checked: no checked row has a label in the data"),
        ("row,label\n1,maybe\n", "--checked: 'maybe' in row k1 is no label of the data; labels are no, yes"),
        ("key,label\nk7,yess\n", "'yess' in row k7 is no label of the data (did you mean 'yes'?)"),
        ("row,key,label\n1,k2,yes\n2,k2,no\n", "row 2 is checked more than once"),
        ("row,label\n", "has no rows"),
        ("key,label\nk999,yes\n", "key 'k999' is not a row of the data"),
        ("line,truth\n1,yes\n", "needs the columns 'key' or 'row' and 'label'; its columns are line, truth"),
    ],
)
def test_mistakes(data, tmp_path, content, message):
    (tmp_path / "checked.csv").write_text(content)
    done = run("--checked", "checked.csv")
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (tmp_path / "results").exists()


def test_checked_rows_without_a_label_are_left_out(data):
    Path("checked.csv").write_text("row,label\n1,yes\n3,yes\n")
    done = run("--checked", "checked.csv")
    assert done.exit_code == 0, done.output
    assert "1 of them was checked" in done.stdout
    assert "1 checked row without a label in the data is not used." in done.stdout


def test_other_files(data):
    assert "--checked: none.txt: must be a CSV" in run("--checked", "none.txt").stderr
    assert "no such file: none.csv" in run("--checked", "none.csv").stderr


def test_a_loop_of_checks(data):
    table = pd.read_csv("a.csv")
    table["model"] = np.where(table["x"] > 0.3, "yes", "no")
    table["p"] = 1 / (1 + np.exp(-3 * table["x"]))
    table["round"] = 7  # a column with a name of the file of checked rows
    table.to_csv("a.csv", index=False)
    models = ["--prediction", "model", "--prediction", "p"]
    done = run(*models, "--next", "30", "--out", "first.csv")
    assert done.exit_code == 0, done.output
    assert "first.csv: fill in the column label, and give the file with --checked first.csv" in done.stdout
    first = pd.read_csv("first.csv")
    assert [*first.columns[:3]] == ["row", "key", "label"]
    assert "round in the data" in first
    assert first["label"].isna().all()
    first["label"] = data[first["row"]]
    first.loc[0, "label"] = None
    first.to_csv("first.csv", index=False)
    left_empty = first["row"][0]
    done = run(*models, "--checked", "first.csv", "--next", "10", "--out", "second.csv")
    assert "1 row of --checked without a label is skipped" in done.stderr
    assert "95 % intervals, estimated from 299 rows and 29 checked ones" in done.stdout
    second = pd.read_csv("second.csv")
    assert set(second["round"]) == {2}
    assert not set(first["row"][1:]) & set(second["row"])
    second.loc[0, "row"], second.loc[0, "key"] = left_empty, f"k{left_empty}"  # drawn again
    second["label"] = data[second["row"]]
    second.to_csv("second.csv", index=False)
    done = run(*models, "--checked", "first.csv", "--checked", "second.csv", "--json")
    found = json.loads(done.stdout)
    assert found["checked"] == 39
    scores = pd.DataFrame(found["clean_scores"]).set_index(["model", "measure"])
    truth = (np.where(table["x"] > 0.3, "yes", "no") == data).mean()
    assert scores["low"]["model", "accuracy"] <= truth <= scores["high"]["model", "accuracy"]
    assert ("p", "roc_auc") in scores.index
    assert len(found["differences"]) == 1
    rounds = pd.DataFrame(found["rounds"])
    assert rounds["checked"].tolist() == [29, 39]
    wrong = (table["label"] != data)[table["label"].notna()].mean()
    assert ((rounds["low"] < wrong) & (wrong < rounds["high"])).all()
    assert (rounds["noise_rate"] - rounds["low"] > rounds["half_width"] / 2).all()
    page = Path("results/a_audit/audit.html").read_text()
    assert "Scores on clean labels" in page
    assert "p is better than model on clean labels" in page
    written = pd.read_csv("results/a_audit/clean_scores.csv")
    assert set(written["measure"]) == {
        "accuracy",
        "balanced_accuracy",
        "roc_auc",
        "log_loss",
        "recall",
        "precision",
    }
    assert "Rounds of checked rows" in page
    assert "the share of wrong labels would be known to ± " in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--next", "9"], "--next requires --out"),
        (["--out", "n.csv"], "--out requires --next"),
        (
            ["--next", "999", "--out", "n.csv"],
            "--next: n must be a whole number from 1 to 299, the number of unchecked rows",
        ),
        (
            ["--prediction", "z"],
            "--prediction: predictions: z has 2, which is no label of the data (no, yes)",
        ),
        (["--prediction", "y"], "--prediction: 'y' is not a column"),
        (["--next", "9", "--out", "a.csv"], "--out: a.csv already exists and is not overwritten"),
    ],
)
def test_mistakes_of_the_loop(data, arguments, message):
    pd.read_csv("a.csv").assign(z=2).to_csv("a.csv", index=False)
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
