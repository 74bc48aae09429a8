import pickle
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from boostnoise import RobustClassifier, RobustLGBMClassifier, load_model
from boostnoise.eval import ConfigError
from boostnoise.eval.cli.audit import main
from boostnoise.eval.cli.train import _labels_to_learn, read_costs
from robust_splits import RobustForestClassifier


def small_candidates(n_rows, seed, n_jobs):
    return [RobustForestClassifier(5, random_state=seed), RobustLGBMClassifier(n_estimators=5, verbose=-1)]


def run(*arguments):
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a noisy file, new rows, right labels of all, and a small model trained with a cost."""
    folder = tmp_path_factory.mktemp("train")
    rng = np.random.default_rng(0)
    n = 250
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(n)], "x": rng.normal(size=n).round(3)})
    frame["colour"] = rng.choice(["red", "7b"], n)
    frame["day"] = pd.date_range("2024-01-01", periods=n).strftime("%d.%m.%Y")
    right = np.where((frame["x"] > 0) ^ (frame["colour"] == "red"), "spam", "ham")
    other = np.where(right == "ham", "spam", "ham")
    new = frame[200:]
    frame = frame[:200].assign(
        person=np.arange(200) // 2, label=np.where(rng.random(n) < 0.1, other, right)[:200]
    )
    frame = frame.assign(copy=frame["label"])
    checked = pd.DataFrame({"row": np.arange(0, 200, 2), "label": right[:200:2]})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        frame.to_csv("a.csv", sep=";", index=False)
        new.to_csv("new.csv", sep=";", index=False)
        checked.to_csv("checked.csv", index=False)
        patch.setattr("boostnoise.ensemble.robust_classifier.default_candidates", small_candidates)
        fit, fitted = RobustClassifier.fit, []
        patch.setattr(
            RobustClassifier,
            "fit",
            lambda *args, **groups: fitted.append((args[2], groups)) or fit(*args, **groups),
        )
        done = run(
            "a.csv", "--target", "label", "--id", "name", "--group", "person", "--checked", "checked.csv",
            "--train", "m.npz", "--cost", "ham", "spam", "4", "-j", "1",
        )  # fmt: skip
    return folder, right, done, fitted


@pytest.fixture
def data(folder, monkeypatch):
    """The same folder as the working directory, and the right labels."""
    monkeypatch.chdir(folder[0])
    return folder[1]


def test_from_a_noisy_file_to_predictions(folder, data, tmp_path):
    done = folder[2]
    assert done.exit_code == 0, done.output
    assert "m.npz: a mixture of 2 models of trees\n" in done.stdout
    assert "m.npz: predicts 'spam' where its probability is at least 0.8\n" in done.stdout
    assert "m.npz: expected cost of a prediction on right labels: 0." in done.stdout
    accuracy, low, high = map(
        float,
        re.search(
            r"accuracy on right labels: (\S+), 95 % interval from (\S+) to (\S+)\n", done.stdout
        ).groups(),
    )
    assert low <= accuracy <= high
    assert accuracy > 0.6
    assert "To predict new rows: noisyaudit predict m.npz NEW_DATA" in done.stdout
    out = tmp_path / "p.csv"
    done = run("predict", "m.npz", "new.csv", "--out", str(out))
    assert (done.exit_code, done.output) == (0, "")
    found = pd.read_csv(out)
    assert found.columns.tolist() == ["row", "id", "predicted", "p_ham", "p_spam"]
    assert found["id"].tolist() == [f"n{i}" for i in range(200, 250)]
    assert found["row"].tolist() == list(range(50))
    assert ((found["p_spam"] > 0.5) == (data[200:] == "spam")).mean() > 0.85
    np.testing.assert_array_equal(found["predicted"] == "spam", found["p_spam"] > 0.8)
    model, new = load_model("m.npz"), pd.read_csv("new.csv", sep=";")
    np.testing.assert_array_equal(model.predict(new), found["predicted"])
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], found["p_spam"], atol=1e-6)
    assert run("predict", "m.npz", "new.csv").stdout == out.read_text()


def test_the_training_rows(folder, data):
    ((p, groups),) = folder[3]
    frame = pd.read_csv("a.csv", sep=";")
    assert p.columns.tolist() == ["ham", "spam"]
    np.testing.assert_array_equal(p["spam"][::2], data[:200:2] == "spam")  # the checked rows
    assert p["spam"][1::2].between(0.001, 0.999).any()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(groups["groups"], frame["person"])
    form = load_model("m.npz").form
    assert form.names == ["x", "colour", "day"]
    assert form.others == ("name", "person", "label", "copy")  # a copy of the label is not used


def test_few_checked_rows_correct_the_labels():
    p = np.tile([0.2, 0.8], (200, 1))
    p[:100:2] = 1, 0
    found = SimpleNamespace(labels=np.repeat("b", 200), classes=np.array(["a", "b"]), clean_probabilities=p)
    labels = _labels_to_learn(found, np.arange(29))
    assert labels.tolist() == ["a" if i < 29 and i % 2 == 0 else "b" for i in range(200)]
    assert set(found.labels) == {"b"}
    learnt = _labels_to_learn(found, np.arange(30))
    assert learnt.columns.tolist() == ["a", "b"]
    np.testing.assert_array_equal(learnt, p)


def test_new_rows_of_another_form(data, tmp_path):
    new = pd.read_csv("new.csv", sep=";", dtype=str)
    path, out = str(tmp_path / "b.csv"), str(tmp_path / "p.csv")
    new.assign(extra=1, colour="green").to_csv(path, sep=";", index=False)
    done = run("predict", "m.npz", path, "--out", out)
    assert done.exit_code == 0
    assert done.stderr.splitlines() == [
        "noisyaudit: warning: columns that the training data lack are not used: 'extra'",
        "noisyaudit: warning: column 'colour' has values that no training row has, in 50 rows: 'green'",
    ]
    assert run("predict", "m.npz", path, "-q").stderr == ""
    done = run("predict", "m.npz", path, "--out", out)
    assert (done.exit_code, done.stderr) == (
        2,
        f"noisyaudit: error: --out: {out} already exists and is not overwritten\n",
    )
    new.assign(x="-").to_csv(path, sep=";", index=False)
    done = run("predict", "m.npz", path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "b.csv: column 'x' must have numbers, as in the training data, got '-'" in done.stderr
    assert run("predict", "m.npz", path, "--missing-value", "-").exit_code == 0
    new.drop(columns="day").to_csv(path, sep=";", index=False)
    assert "b.csv: columns of the training data are missing: 'day'" in run("predict", "m.npz", path).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.csv", "--cost", "ham", "spam", "2"], "--cost requires --train"),
        (["a.csv", "--train", "a.csv"], "--train: a.csv already exists and is not overwritten"),
        (["a.csv", "--train", "m.npz", "--cost", "ham", "spam", "-2"], "Invalid value for '--cost'"),
        (["a.csv", "--annotator", "x", "--annotator", "colour", "--train", "m.npz"], "--train does not go with --annotator"),
        (["predict", "a.csv", "new.csv"], "a.csv is not a model that noisyaudit has saved"),
        (["predict", "none.npz", "new.csv"], "no such file: none.npz"),
        (["predict"], "Usage: noisyaudit predict"),
        (["./predict"], "./predict: must end in .csv"),
    ],
)  # fmt: skip
def test_mistakes(data, arguments, message):
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_manipulated_model_runs_nothing(data, tmp_path):
    trap = tmp_path / "trap"

    class Trap:
        def __reduce__(self):
            return open, (str(trap), "w")

    np.savez(tmp_path / "bad.npz", model=np.array([Trap()], dtype=object))
    (tmp_path / "bad.pickle").write_bytes(pickle.dumps(Trap()))
    for name in ("bad.npz", "bad.pickle"):
        done = run("predict", str(tmp_path / name), "new.csv")
        assert done.exit_code == 2
        assert f"{name} is " in done.stderr
    assert not trap.exists()


def test_cost_matrix():
    classes = np.array([1, 2, 3])
    costs = read_costs([("1", "3", 5.0), ("3", "1", 0.5)], classes)
    np.testing.assert_array_equal(costs, [[0, 1, 5], [1, 0, 1], [0.5, 1, 0]])
    assert read_costs([], classes) is None
    for wrong, message in (
        ([("1", "4", 2.0)], "--cost: '4' is not a class; classes are 1, 2, 3"),
        ([("1", "1", 2.0)], "--cost: predicting '1' for '1' is right and costs nothing"),
        ([("1", "2", 2.0), ("1", "2", 3.0)], "--cost: predicting '2' for '1' has two costs"),
    ):
        with pytest.raises(ConfigError, match=message):
            read_costs(wrong, classes)
