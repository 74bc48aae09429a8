import json
import re
import time

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from boostnoise import audit
from boostnoise.eval import _memory
from boostnoise.eval.cli import audit_run
from boostnoise.eval.cli.audit import main
from boostnoise.eval.cli.table_guesses import guess_keys


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A file in the working directory, and which of its labels are wrong."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame({"name": [f"n{i:03d}" for i in range(n)], "x": rng.normal(size=n).round(4)})
    frame["colour"] = np.where(rng.random(n) < 0.5, "red", "NA")
    right = (frame["x"] > 0) ^ (frame["colour"] == "red")
    wrong = rng.random(n) < 0.1
    frame["z"] = rng.normal(size=n).round(4).astype(str)
    frame.loc[:9, "z"] = "?"
    frame["label"] = np.where(right ^ wrong, "yes", "no")
    frame.loc[5, "label"] = None
    frame.to_csv("a.csv", index=False)
    return frame, wrong


def run(*arguments):
    return CliRunner().invoke(main, list(arguments))


def test_the_files(data, tmp_path):
    frame, wrong = data
    done = run("a.csv", "--id", "name", "-j", "1")
    assert done.exit_code == 0, done.output
    assert "% of 399 labels are wrong" in done.stdout
    assert "Results are in results/a_audit; open results/a_audit/audit.html to view them" in done.stdout
    assert "noisyaudit: warning: guessed the target: column 'label', because of its name" in done.stderr
    assert "1 of 400 rows have no label and are not used" in done.stderr
    assert sorted(path.name for path in (tmp_path / "results" / "a_audit").iterdir()) == [
        "audit.html", "audit.png", "noise.json", "suspects.csv",
    ]  # fmt: skip
    suspects = pd.read_csv("results/a_audit/suspects.csv")
    assert suspects.columns.tolist() == ["row", "id", "given", "suggested", "p_wrong", "rank"]
    assert len(suspects) == 399
    assert 5 not in suspects["row"].to_numpy()
    assert (suspects["id"] == "n" + suspects["row"].astype(str).str.zfill(3)).all()
    assert (suspects["given"].to_numpy() == frame["label"].to_numpy()[suspects["row"]]).all()
    assert wrong[suspects["row"][:20]].mean() > 0.9
    noise = json.loads((tmp_path / "results" / "a_audit" / "noise.json").read_text())
    assert noise["rows"] == 399
    assert noise["classes"] == ["no", "yes"]
    low, high = noise["noise_rate_interval"]
    assert low <= noise["noise_rate"] <= high
    assert '<td class="text">red</td>' in (tmp_path / "results" / "a_audit" / "audit.html").read_text()


def test_it_is_the_function_of_python(data):
    frame, _ = data
    noise = json.loads(run("a.csv", "--drop", "name", "--json", "-j", "1").stdout)
    used = frame.dropna(subset="label")
    X = used.drop(columns=["name", "label"]).assign(z=pd.to_numeric(used["z"], errors="coerce"))
    found = audit(X, used["label"])
    assert noise["noise_rate"] == pytest.approx(found.noise_rate, rel=1e-12)
    assert noise["folder"] == "results/a_audit"


@pytest.mark.usefixtures("data")
def test_limits(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 2**20)
    done = run("a.csv", "-j", "1")
    assert (done.exit_code, done.stderr) == (
        2,
        "noisyaudit: error: a.csv has 401 rows, for which forests need about 0.0 GiB of memory, and 0.0 GiB are "
        "available; use fewer rows\n",
    )
    monkeypatch.setattr(audit_run, "run", lambda _: time.sleep(20))
    done = run("a.csv", "--max-time", "0.1")
    assert (done.exit_code, done.stderr) == (124, "Stopped after 0.1 s\n")

    def fill_memory(_):
        raise MemoryError

    monkeypatch.setattr(audit_run, "run", fill_memory)
    limited = []
    monkeypatch.setattr("boostnoise.eval.cli.command.limit_memory", limited.append)
    done = run("a.csv", "--max-memory", "2")
    assert (done.exit_code, done.stderr) == (2, "noisyaudit: error: out of memory; --max-memory is 2 GiB\n")
    assert limited == [2]


def test_cleaned_files(data):
    _, wrong = data
    given = pd.read_csv("a.csv", dtype=str, keep_default_na=False)
    done = run("a.csv", "--drop", "name", "--clean", "clean.csv", "--clean-by", "drop", "-q", "-j", "1")
    assert (done.exit_code, done.output) == (0, "results/a_audit\n")
    clean = pd.read_csv("clean.csv", dtype=str, keep_default_na=False)
    kept = given["name"].isin(clean["name"]).to_numpy()
    pd.testing.assert_frame_equal(clean, given[kept].reset_index(drop=True))
    assert kept[5]
    assert wrong[~kept].mean() > 0.7
    assert (~kept).sum() > 20
    run("a.csv", "--drop", "name", "--clean", "other.csv", "--clean-by", "relabel", "-q", "-j", "1")
    other = pd.read_csv("other.csv", dtype=str, keep_default_na=False)
    changed = (other["label"] != given["label"]).to_numpy()
    np.testing.assert_array_equal(changed, ~kept)
    assert set(other["label"]) == {"yes", "no", ""}
    refused = run("a.csv", "--clean", "other.csv")
    assert refused.exit_code == 2
    assert "--clean: other.csv already exists and is not overwritten" in refused.stderr


def test_weights_are_written_and_the_effect_of_cleaning_is_shown(data):
    done = run("a.csv", "--drop", "name", "--clean", "clean.csv", "-j", "1")
    assert "\n\nExpected accuracy of a small LightGBM on right labels, by --clean-by\n" in done.stdout
    ways = ("as given", "weights", "soft-labels", "drop", "relabel")
    lines = [line for line in done.stdout.splitlines() if line.startswith(ways)]
    assert [re.split(r" +\d", line)[0] for line in lines] == list(ways)
    assert "clean.csv: the column label_weight is the probability that the label is right" in done.stdout
    clean = pd.read_csv("clean.csv", dtype=str, keep_default_na=False)
    weight = pd.to_numeric(clean.pop("label_weight"))
    pd.testing.assert_frame_equal(clean, pd.read_csv("a.csv", dtype=str, keep_default_na=False))
    suspects = pd.read_csv("results/a_audit/suspects.csv").set_index("row")
    np.testing.assert_allclose(weight.drop(index=5), 1 - suspects["p_wrong"].sort_index(), atol=2e-6)
    assert np.isnan(weight[5])
    refused = run("clean.csv", "--clean", "b.csv")
    assert "--clean: the data has a column 'label_weight' already" in refused.stderr


def test_soft_labels_are_written(data):
    frame, _ = data
    frame.to_csv("b.csv", index=False, sep=";", decimal=",")
    done = run("b.csv", "--drop", "name", "--clean", "soft.csv", "--clean-by", "soft-labels", "-q", "-j", "1")
    assert (done.exit_code, done.output) == (0, "results/b_audit\n")
    soft = pd.read_csv("soft.csv", sep=";", decimal=",").dropna(subset="label")
    np.testing.assert_allclose(soft["p_no"] + soft["p_yes"], 1, atol=2e-6)
    suspects = pd.read_csv("results/b_audit/suspects.csv").sort_values("row")
    of_label = np.where(soft["label"] == "yes", soft["p_yes"], soft["p_no"])
    np.testing.assert_allclose(of_label, 1 - suspects["p_wrong"], atol=2e-6)


def test_options(data):
    frame, _ = data
    frame.assign(group=np.arange(400) // 4).to_csv("b.csv", index=False, sep=";", encoding="utf-16")
    done = run(
        "b.csv", "--target", "label", "--group", "group", "--drop", "name", "--separator", ";", "--encoding", "utf-16",
        "--missing-value", "?", "--model", "random_forest", "--results-dir", "out", "--seed", "3", "-q", "-j", "1",
    )  # fmt: skip
    assert (done.exit_code, done.output) == (0, "out/b_audit\n")


def test_warnings_name_options(data):
    frame, _ = data
    copies = frame.assign(patient=np.arange(400) // 4, copied=frame["x"] > 0).drop(columns=["name", "z"])
    copies.loc[::4, "label"] = copies["label"].str.upper()
    copies.to_csv("b.csv", index=False)
    done = run("b.csv", "-j", "1")
    assert "if they belong together, use --group patient\n" in done.stderr
    assert "case or blanks" not in done.stderr  # they are one class, which the summary says
    assert (
        "Labels that differ in case or blanks only are one class: 'NO' as 'no', 'YES' as 'yes'." in done.stdout
    )
    assert '"' not in done.stderr
    assert "--group" not in run("b.csv", "--group", "patient", "-j", "1").stderr


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("$(touch x) id", "'$(touch x) id'"),
        ("a;b id", "'a;b id'"),
        ("it's_id", "'it'\"'\"'s_id'"),
        ("-\u202e\nx_id", "'-\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}x_id'"),
    ],
)
def test_names_in_suggested_commands_are_quoted(data, name, shown):
    frame, _ = data
    frame.assign(**{name: np.arange(400) // 4}).to_csv("b.csv", index=False)
    remarks = []
    guess_keys("b.csv", "label", remarks, by_options=True)
    assert any(remark.endswith(f"if they belong together, use --group {shown}") for remark in remarks)


NESTED = {"lists": [["yes"], ["no"]], "objects": [{"is": "yes"}, {"is": "no"}]}


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize(
    ("options", "context"),
    [
        ([], "--target: "),
        (["--target", "label"], "--target: "),
        (["--target", "x", "--group", "label"], "data set 'b': "),
        (["--target", "x", "--id", "label"], "--id: "),
        (["--target", "x", "--prediction", "label"], "--prediction: "),
        (["--annotator", "x", "--annotator", "label"], "--annotator: "),
        (["--target", "x", "--checked", "b.parquet"], "--checked: b.parquet: "),
    ],
)
def test_columns_of_lists_and_objects(data, kind, options, context):
    table = pd.DataFrame({"x": list("ab") * 50, "row": range(100), "patient": NESTED[kind] * 50})
    table.assign(label=NESTED[kind] * 50).to_parquet("b.parquet")
    done = run("b.parquet", *options)
    *_, line = done.stderr.splitlines()  # after warnings
    assert line == f"noisyaudit: error: {context}column 'label' has {kind} in place of numbers, text or dates"
    assert done.exit_code == 2


def test_spellings_of_labels(data):
    frame, _ = data
    frame.loc[0:80:4, "label"] = frame.loc[0:80:4, "label"].str.title() + " "
    frame.to_csv("c.csv", index=False)
    cleaning = ("--clean", "other.csv", "--clean-by", "relabel")
    done = run("c.csv", "--drop", "name", *cleaning, "-j", "1", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["classes"] == ["no", "yes"]
    assert json.loads(done.stdout)["cleaning"]["as given"]["change"] == 0
    assert json.loads(done.stdout)["warnings"] == [
        "guessed the target: column 'label', because of its name; use --target COLUMN to change it",
        "1 of 400 rows have no label and are not used",
    ]
    given, other = (
        pd.read_csv(name, dtype=str, keep_default_na=False)["label"] for name in ("c.csv", "other.csv")
    )
    assert (given != other).sum() == json.loads(done.stdout)["changed"]
    assert set(other[given != other]) == {"no", "yes"}
    kept = run("c.csv", "--drop", "name", "--keep-spellings", "-j", "1", "--json", "--name", "kept")
    assert json.loads(kept.stdout)["classes"] == ["No ", "Yes ", "no", "yes"]


def test_relabelled_rows_keep_the_spelling_of_the_file(data):
    frame, _ = data
    frame.dropna().assign(label=np.where(frame["label"].dropna() == "yes", "001", "2.0")).to_csv(
        "b.csv", index=False
    )
    run("b.csv", "--drop", "name", "--clean", "other.csv", "--clean-by", "relabel", "-j", "1", "-q")
    assert set(pd.read_csv("other.csv", dtype=str)["label"]) == {"001", "2.0"}
    changed = pd.read_csv("other.csv", dtype=str)["label"] != pd.read_csv("b.csv", dtype=str)["label"]
    assert changed.sum() > 10


def test_files_with_other_separators(data):
    frame, _ = data
    frame.to_csv("b.csv", index=False, sep="\t")
    done = run("b.csv", "--drop", "name", "-j", "1", "--separator", r"\t", "-q")
    assert (done.exit_code, done.stderr) == (0, "")
    done = run("b.csv", "--separator", "tab")
    assert done.exit_code == 2
    assert r"'--separator': must be a single character, or \t for a tab, got 'tab'" in done.stderr
    frame["label"] = frame["label"].map({"yes": "yes, sure", "no": "no"})
    frame.to_csv("b.csv", index=False, sep=";")
    pd.DataFrame({"row": [1, 2], "label": "no"}).to_csv("checked.csv", index=False)
    done = run("b.csv", "--drop", "name", "-j", "1", "--checked", "checked.csv", "-q")
    assert (done.exit_code, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv"], "no such file: none.csv"),
        (["a.txt"], "a.txt: must end in .csv"),
        (["a.csv", "--target", "lable"], "'lable' is not a column (did you mean 'label'?)"),
        (["a.csv", "--id", "nam"], "--id: 'nam' is not a column (did you mean 'name'?)"),
        (["a.csv", "--drop", "why"], "drop 'why' is not a column"),
        (["a.csv", "--group", "why"], "group 'why' is not a column"),
        (["a.csv", "--target", "x"], "but labels must be classes"),
        (["a.csv", "--model", "svm_linear"], "--model: svm_linear has no probabilities"),
        (["a.csv", "--model", "xgbost"], "did you mean 'xgboost'?"),
        (["a.csv", "--encoding", "klingon"], "unknown encoding: klingon"),
        (["a.csv", "--clean-by", "drop"], "--clean-by requires --clean"),
        (["a.csv", "--precision", "0.5"], "--precision requires --clean"),
        (["a.csv", "--drop", "label"], "drop names the target 'label'"),
        (
            ["a.csv", "--precision", "1e-9", "--clean", "c.csv", "--clean-by", "drop", "--drop", "name"],
            "use a higher precision",
        ),
    ],
)
def test_mistakes(data, tmp_path, arguments, message):
    done = run(*arguments, "-j", "1")
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.output
    assert not (tmp_path / "results").exists()
    assert not (tmp_path / "c.csv").exists()
