import numpy as np
import pandas as pd
import pytest
from boostnoise.eval.config import parse_config
from boostnoise.eval.datasets import Dataset
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.noise_levels import levels

TRUE = list("abcabcab")
SET = Dataset("letters", np.zeros((8, 1)), np.array([0, 1, 2] * 2 + [0, 1]), np.array(["a", "b", "c"]))


@pytest.fixture
def given(tmp_path):
    def given(labels, column="expert", suffix="csv", dataset=SET):
        path = tmp_path / f"labels.{suffix}"
        frame = pd.DataFrame({"expert": labels, "row": range(len(labels))})
        frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
        return levels(spec({"kind": "given", "path": str(path), "column": column}), dataset)

    return given


def spec(noise):
    return parse_config({"datasets": ["iris"], "models": ["gbm"], "noise": [noise]}, "run").noise[0]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_given_labels_become_class_numbers(given, suffix):
    (clean, _), (rate, noise) = given([*"abcabc", "c", "a"], suffix=suffix)
    assert (clean, rate) == (0, 0.25)
    assert noise.labels.tolist() == [0, 1, 2, 0, 1, 2, 2, 0]
    assert noise.corrupt(SET.y, classes=range(3)).realised_rate == 0.25


def test_numbers_are_compared_as_numbers(given):
    ones = Dataset("ones", SET.X, SET.y, np.array([1, 2, 3]))
    assert given([1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 1.0], dataset=ones)[1][1].labels[-1] == 0


@pytest.mark.parametrize(
    ("labels", "column", "message"),
    [
        (TRUE, "crowd", "has no column 'crowd'; columns are expert, row"),
        (TRUE[1:], "expert", "holds 7 rows, data set 'letters' 8; each row"),
        (
            [*TRUE[:-1], "d"],
            "expert",
            "column 'expert' holds 'd' in row 7, which is no label of data set 'letters'",
        ),
        ([None, *TRUE[1:]], "expert", "column 'expert' holds nan in row 0, which is no label"),
        (TRUE, "row", "column 'row' holds 0 in row 0, which is no label"),
        (TRUE, "expert", "column 'expert' holds the labels of data set 'letters' themselves"),
    ],
)
def test_labels_that_do_not_fit(given, labels, column, message):
    with pytest.raises(ConfigError, match=rf"^noise 'given \({column}\)': ") as error:
        given(labels, column)
    assert message in str(error.value)


def test_a_file_that_is_not_there():
    with pytest.raises(ConfigError, match=r"no such file: nowhere\.csv"):
        levels(spec({"kind": "given", "path": "nowhere.csv", "column": "expert"}), SET)


def test_a_matrix_for_another_number_of_classes():
    noise = spec({"kind": "class_conditional", "rates": [[0.1, 0.3]]})
    with pytest.raises(
        ConfigError,
        match="noise 'class_conditional': T is for 2 classes, but there are 3 in data set 'letters'",
    ):
        levels(noise, SET)
