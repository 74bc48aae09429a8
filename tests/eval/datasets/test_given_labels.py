import numpy as np
import pandas as pd
import pytest

from boostnoise.eval.config.dataset_spec import DatasetSpec
from boostnoise.eval.datasets.loader import load_dataset
from boostnoise.eval.errors import ConfigError

FRAME = pd.DataFrame(
    {
        "key": list("pqrstuvw"),
        "x": np.arange(8.0),
        "rule": list("nynnynyy"),
        "ann": ["n", None, "n", "y", "n", "y", None, "y"],
        "bob": ["y", "y", None, None, "n", "y", "n", None],
        "part": ["train"] * 6 + ["test"] * 2,
        "ill": list("nynynyny"),
    }
)
NOISY = {"noisy": {"heuristic": "rule"}, "drop": ["key", "ann", "bob", "part"]}
BOTH = {"annotators": ["ann", "bob"], "drop": ["key", "rule", "part"]}
LONG = {"row": "task", "annotator": "who", "label": "answer"}
ANSWERS = pd.DataFrame(
    {"task": [0, 0, 3, 5, 6], "who": ["ann", "bob", "bob", "cy", "cy"], "answer": ["n", "y", "y", "n", "y"]}
)


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(frame=FRAME, **keys):
        frame.to_csv("data.csv", index=False)
        return load_dataset(DatasetSpec.model_validate({"path": "data.csv", "target": "ill", **keys}))

    return read


def test_noisy_labels_are_class_numbers_and_no_features(load):
    dataset = load(**NOISY)
    assert dataset.columns == ("x",)
    assert dataset.noisy["heuristic"].tolist() == [0, 1, 0, 0, 1, 0, 1, 1]
    assert dataset.is_known is None
    assert dataset.take(np.array([4, 2])).noisy["heuristic"].tolist() == [1, 0]


def test_they_do_not_change_the_fingerprint(load):
    assert load(**NOISY).fingerprint == load(drop=["key", "ann", "bob", "part", "rule"]).fingerprint


def test_positive_labels_hold_for_noisy_ones_too(load):
    frame = FRAME.assign(rule=list("nynnynyz"), ill=list("nynynynz"))
    dataset = load(frame, **NOISY, positive=["y", "z"])
    assert dataset.classes.tolist() == ["negative", "positive"]
    assert dataset.noisy["heuristic"].tolist() == [0, 1, 0, 0, 1, 0, 1, 1]


def test_numbers_with_gaps_are_compared_as_numbers(load):
    frame = FRAME.assign(ill=[0, 1] * 4, ann=[0, None, 1, 1, 0, 1, None, 1], bob=[1, 1, None, None, 0, 0, 1, 0])
    assert load(frame, **BOTH).answers[:2].tolist() == [[0, 1], [-1, 1]]


def test_columns_of_annotators(load):
    dataset = load(**BOTH)
    assert dataset.columns == ("x",)
    assert dataset.answers.tolist() == [[0, 1], [-1, 1], [0, -1], [1, -1], [0, 0], [1, 1], [-1, 0], [1, -1]]


def test_checked_rows_of_noisy_labels(load):
    found = load(drop=["key", "rule", "bob", "part"], labels="noisy", checked="ann")
    assert found.columns == ("x",)
    assert found.checked.tolist() == [0, -1, 0, 1, 0, 1, -1, 1]
    assert found.take(np.array([1, 3])).checked.tolist() == [-1, 1]
    unchecked = load(drop=["key", "rule", "ann", "bob", "part"], labels="noisy")
    assert unchecked.checked.tolist() == [-1] * 8
    assert unchecked.fingerprint == found.fingerprint
    with pytest.raises(ConfigError, match="checked: 'u' in row 5 is not a label of the data set"):
        load(FRAME.assign(ann=list("nynynuny")), drop=["key"], labels="noisy", checked="ann")


def test_rows_without_a_noisy_label_are_removed_but_for_test_rows(load):
    frame = FRAME.assign(rule=["n", None, "n", "n", "y", "n", "y", None])
    with pytest.warns(UserWarning, match="2 rows without one of the noisy labels; the other 6 rows are used"):
        assert load(frame, **NOISY).rows.tolist() == [0, 2, 3, 4, 5, 6]
    keys = NOISY | {"split": "part", "drop": ["key", "ann", "bob"]}
    with pytest.warns(UserWarning, match="1 row without one of the noisy labels; the other 7 rows are used"):
        dataset = load(frame, **keys)
    assert dataset.rows.tolist() == [0, 2, 3, 4, 5, 6, 7]
    assert dataset.noisy["heuristic"].tolist()[-1] == -1


def test_unchecked_rows_are_the_training_rows(load):
    frame = FRAME.assign(ill=[None, "y", None, None, "n", None, "n", "y"], rule=list("nyynnyyy"))
    with pytest.warns(
        UserWarning, match='other 4 rows are used; set "unchecked": "train" to train on the noisy'
    ):
        assert load(frame, **NOISY).rows.tolist() == [1, 4, 6, 7]
    dataset = load(frame, **NOISY, unchecked="train")
    assert dataset.rows.tolist() == list(range(8))
    assert dataset.is_test.tolist() == frame["ill"].notna().tolist()
    assert dataset.is_known.tolist() == frame["ill"].notna().tolist()
    assert dataset.y.tolist() == [0, 1, 1, 0, 0, 1, 0, 1]  # true labels, elsewhere those of the rule
    assert dataset.fingerprint != load(FRAME.assign(ill=list("nyynnyny")), **NOISY).fingerprint


def test_unchecked_rows_without_noisy_labels_are_removed(load):
    ill = [None, "y", None, None, "n", None, "n", "y"]
    frame = FRAME.assign(ill=ill, rule=["n", "y", "y", None, "n", "y", None, "y"])
    with pytest.warns(UserWarning, match="1 row without one of the noisy labels; the other 7 rows are used"):
        assert load(frame, **NOISY, unchecked="train").rows.tolist() == [0, 1, 2, 4, 5, 6, 7]


def test_unchecked_rows_may_have_complete_features_only(load):
    ill = [None, "y", None, None, "n", None, "n", "y"]
    frame = FRAME.assign(ill=ill, rule=list("nyynnyyy"), x=[0, 1, None, 3, 4, 5, None, 7])
    dataset = load(frame, **NOISY, unchecked="train", missing="drop_rows")
    assert dataset.rows.tolist() == [0, 1, 3, 4, 5, 7]


def test_all_checked_rows_are_kept_when_rows_are_drawn(load):
    frame = pd.concat([FRAME.assign(ill=None)] * 20 + [FRAME], ignore_index=True)
    dataset = load(frame, **NOISY, unchecked="train", max_rows=30)
    assert dataset.y.size == 30
    assert dataset.is_test.sum() == 8
    assert load(frame, **NOISY, unchecked="train", max_rows=4).is_test.tolist() == [False] * 2 + [True] * 8


def test_noisy_labels_may_add_classes_if_true_ones_are_unknown(load):
    frame = FRAME.assign(ill=[None, "y", None, None, "n", None, "n", None], rule=list("nynnynyz"))
    assert load(frame, **NOISY, unchecked="train").classes.tolist() == ["n", "y", "z"]


def test_unchecked_rows_with_a_given_split(load):
    frame = FRAME.assign(ill=[None, "y", None, "y", "n", "y", "n", None])
    keys = NOISY | {"split": "part", "drop": ["key", "ann", "bob"], "unchecked": "train"}
    dataset = load(frame, **keys)
    assert dataset.rows.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert dataset.is_test.tolist() == [False] * 6 + [True]


def test_a_file_with_a_column_for_each_annotator(load):
    wide = FRAME[["ann", "bob"]]
    wide.to_csv("wide.csv", index=False)
    keys = {"drop": ["key", "rule", "ann", "bob"]}
    expected = load(**BOTH).answers
    drop = {"drop": [*keys["drop"], "part"]}
    assert (load(annotators={"path": "wide.csv"}, **drop).answers == expected).all()
    wide[:6].to_parquet("train.parquet")
    found = load(annotators={"path": "train.parquet"}, split="part", **keys)
    assert found.answers.tolist() == [*expected[:6].tolist(), [-1, -1], [-1, -1]]


@pytest.mark.parametrize("by_id", [False, True])
def test_a_file_with_a_row_for_each_label(load, by_id):
    answers = ANSWERS.assign(task=FRAME["key"].loc[ANSWERS["task"]].tolist()) if by_id else ANSWERS
    answers.to_csv("answers.csv", index=False)
    source = {"path": "answers.csv", **LONG} | ({"id": "key"} if by_id else {})
    keys = {"drop": ["rule", "ann", "bob", "part", *([] if by_id else ["key"])]}
    with pytest.warns(UserWarning, match="4 rows without one of the noisy labels"):
        dataset = load(annotators=source, **keys)
    assert dataset.columns == ("x",)
    assert dataset.rows.tolist() == [0, 3, 5, 6]
    assert dataset.answers.tolist() == [[0, 1, -1], [-1, 1, -1], [-1, -1, 0], [-1, -1, 1]]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"noisy": {"heuristic": "rulee"}}, r"noisy \(heuristic\) 'rulee' is not a column \(did you mean 'rule'\?\)"),
        ({"noisy": {"a": "ill"}}, "noisy labels must not be those of the target 'ill'"),
        ({"noisy": {"a": "part"}}, "noisy labels 'a': 'train' in row 0 is not a label of the data set; its labels are"),
        ({"annotators": ["ann", "dan"]}, "annotators 'dan' is not a column"),
        ({"annotators": {"path": "short.csv"}}, "short.csv has 5 rows, but the data set has 8; both must have"),
        ({"annotators": {"path": "answers.csv", **LONG, "row": "tsk"}}, "file answers.csv: 'tsk' is not a column"),
        ({"annotators": ["ann", "ann"]}, "annotators: column 'ann' is named twice"),
        ({"annotators": {"path": "answers.csv", **LONG, "row": "who"}}, "answers.csv: column 'who' is named twice"),
        ({"annotators": {"path": "none.csv"}}, "no such file: none.csv"),
        ({"annotators": {"path": "far.csv", **LONG}}, "far.csv has a label for row 9, which is not in the data set"),
        ({"annotators": {"path": "twice.csv", **LONG}}, "twice.csv has two labels by annotator 'ann' for row 0"),
        ({"annotators": {"path": "answers.csv", **LONG, "id": "rule"}}, "column 'rule' has 'n' twice"),
    ],
)  # fmt: skip
def test_mistakes(load, keys, message):
    ANSWERS.to_csv("short.csv", index=False)
    ANSWERS.to_csv("answers.csv", index=False)
    ANSWERS.assign(task=[0, 0, 3, 5, 9]).to_csv("far.csv", index=False)
    ANSWERS.assign(who="ann").to_csv("twice.csv", index=False)
    with pytest.raises(ConfigError, match=message):
        load(**keys)


def test_too_few_labels(load):
    frame = FRAME.assign(ill=None)
    with pytest.raises(ConfigError, match="column 'ill' has no labels; test rows need true labels"):
        load(frame, **NOISY, unchecked="train")
    frame = FRAME.assign(ill=["y", "n", *[None] * 6], rule=[None, None, *"nynyny"])
    warns = pytest.warns(UserWarning, match="missing labels|without one of the noisy")
    with pytest.raises(ConfigError, match="no row has both a true and a noisy label"), warns:
        load(frame, **NOISY)
