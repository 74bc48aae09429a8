import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from boostnoise import compare_annotators
from boostnoise.eval.cli.audit import main
from boostnoise.label_noise import annotators


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(annotators, "RESAMPLES", 30)


@pytest.fixture
def frame(tmp_path, monkeypatch):
    """A file in the working directory with labels of two annotators and their true values."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame({"name": [f"n{i:03d}" for i in range(n)], "x": rng.normal(size=n).round(4)})
    frame["day"] = pd.date_range("2020-01-01", periods=n).astype(str)
    right = np.where(frame["x"] > 0, "yes", "no")
    other = np.where(frame["x"] > 0, "no", "yes")
    for name, rate in (("ann", 0.05), ("bob", 0.25)):
        frame[name] = np.where(rng.random(n) < rate, other, right)
    frame.loc[:19, "bob"] = None
    frame.to_csv("a.csv", index=False)
    pd.DataFrame({"name": frame["name"][::6], "label": right[::6]}).to_csv("checked.csv", index=False)
    return frame.assign(right=right)


def run(*arguments):
    return CliRunner().invoke(main, list(arguments))


BOTH = ("--annotator", "ann", "--annotator", "bob")


def test_the_files(frame, tmp_path):
    done = run("a.csv", *BOTH, "--id", "name", "--checked", "checked.csv", "-j", "1")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("'bob' is wrong more often than 'ann'")
    assert "The most probable label of each row is in results/a_annotators/labels.csv" in done.stdout
    assert "no label" not in done.stderr
    folder = tmp_path / "results" / "a_annotators"
    labels = pd.read_csv(folder / "labels.csv")
    assert labels.columns.tolist() == ["row", "id", "label", "probability", "label of ann", "label of bob"]
    assert (labels["id"] == frame["name"]).all()
    assert (labels["label"] == frame["right"]).mean() > 0.97
    found = json.loads((folder / "annotators.json").read_text())
    features = frame[["x"]].assign(day=pd.to_datetime(frame["day"]))
    checked = {row: frame["right"][row] for row in range(0, 600, 6)}
    same = compare_annotators(features, frame[["ann", "bob"]], checked=checked)
    assert [row["wrong"] for row in found["error_rates"]] == pytest.approx(same.error_rates["wrong"].tolist())
    assert found["checked"] == 100
    assert found["differences"][0]["checked_p_value"] < 0.05
    np.testing.assert_allclose(found["transition_matrices"], same.transition_matrices)


def test_the_column_of_an_annotator_is_not_that_of_the_expert(frame):
    frame[["name", "ann"]].head(50).to_csv("copy.csv", index=False)
    done = run("a.csv", *BOTH, "--id", "name", "--checked", "copy.csv")
    assert done.exit_code == 2
    assert "copy.csv needs the columns 'name' or 'row' and 'label'" in done.stderr


def test_numbers_are_written_as_the_classes(frame):
    frame.assign(
        ann=(frame["ann"] == "yes") * 1, bob=(frame["bob"] == "yes").where(frame["bob"].notna()) * 1.0
    ).drop(columns="right").to_csv("numbers.csv", index=False)
    assert run("numbers.csv", *BOTH, "-q").exit_code == 0
    labels = pd.read_csv("results/numbers_annotators/labels.csv", dtype=str)
    assert (
        set(labels["label"])
        == set(labels["label of ann"])
        == set(labels["label of bob"].dropna())
        == {"0", "1"}
    )


def test_json_and_quiet(frame):
    found = json.loads(run("a.csv", *BOTH, "--json", "--drop", "name").stdout)
    assert found["annotators"] == ["ann", "bob"]
    assert found["folder"] == "results/a_annotators"
    assert run("a.csv", *BOTH, "-q").stdout == "results/a_annotators\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--annotator", "ann"], "--annotator: give it once for each of two or more columns"),
        (["--annotator", "ann", "--annotator", "ann"], "--annotator: names a column twice"),
        (
            ["--annotator", "ann", "--annotator", "bobb"],
            "--annotator: 'bobb' is not a column (did you mean 'bob'?)",
        ),
        (
            ["--annotator", "anna", "--annotator", "bob"],
            "--annotator: 'anna' is not a column (did you mean 'ann'?)",
        ),
        ([*BOTH, "--drop", "bob"], "--drop: 'bob' is an annotator"),
        ([*BOTH, "--group", "nam"], "data set 'a': group 'nam' is not a column"),
        ([*BOTH, "--target", "x"], "--target does not go with --annotator"),
        ([*BOTH, "--clean", "b.csv"], "--clean does not go with --annotator"),
        ([*BOTH, "--model", "lightgbm"], "--model does not go with --annotator"),
        ([*BOTH, "--id", "nam"], "--id: 'nam' is not a column (did you mean 'name'?)"),
    ],
)
def test_bad_usage(frame, arguments, message):
    done = run("a.csv", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
