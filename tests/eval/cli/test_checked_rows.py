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
        ("row,label\n1,\n", "column 'label' has 1 missing label"),
        ("row,label\n3,yes\n", "--checked: no checked row has a label in the data"),
        ("row,label\n1,maybe\n", "labels of the data ('no', 'yes'), got 'maybe'"),
        ("row,label\n", "has no rows"),
        ("key,label\nk999,yes\n", "key 'k999' is not a row of the data"),
        ("line,truth\n1,yes\n", "needs the columns 'row' or 'key' and 'label'; its columns are line, truth"),
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
