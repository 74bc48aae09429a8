import numpy as np
import pandas as pd
import pytest

from boostnoise.eval import ConfigError
from boostnoise.eval.datasets.encoding import Encoding, FeatureEncoder, check_features
from boostnoise.eval.saved_models.table_form import TableForm

ROWS = pd.DataFrame(
    {
        "age": [30.0, np.nan, 50.0],
        "colour": ["red", "7", None],
        "day": pd.to_datetime(["2024-01-01", "2024-02-01", None]),
        "size": pd.Categorical(["S", "L", "S"], categories=["S", "L"]),
        "member": [True, False, True],
    }
)
FORM = TableForm.of(check_features(ROWS, "keep", "data"), others=("label",), date_format="%d.%m.%Y")


def test_rows_are_encoded_as_by_an_audit():
    frame = check_features(ROWS, "keep", "data")
    expected = (
        FeatureEncoder("numbers", Encoding(categorical="ordinal", missing="keep")).fit(frame).transform(frame)
    )
    restored = TableForm.model_validate_json(FORM.model_dump_json())
    assert restored == FORM
    shuffled = ROWS[["day", "member", "colour", "age", "size"]].assign(
        label="no", day=["01.01.2024", "01.02.2024", None]
    )
    X, remarks = restored.encode(shuffled, "new.csv")
    np.testing.assert_array_equal(X, expected)
    assert remarks == []
    np.testing.assert_array_equal(restored.encode(shuffled.iloc[[2]], "new.csv")[0], expected[[2]])


def test_what_the_training_data_lack():
    new = ROWS.assign(colour=["green", "red", "blue"], other=1, more=2)
    X, remarks = FORM.encode(new, "new.csv")
    assert remarks == [
        "columns that the training data lack are not used: 'other', 'more'",
        "column 'colour' has values that no training row has, in 2 rows: 'green', 'blue'",
    ]
    assert X[:, 1].tolist() == [-1, 1, -1]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"age": ["30", "old", None]},
            r"^new.csv: column 'age' must have numbers, as in the training data, got 'old'$",
        ),
        ({"colour": [1, 2, 3]}, "column 'colour' must have text, as in the training data, got '1'"),
        (
            {"day": ["01.01.2024", "2024-02-01", None]},
            "column 'day' has '2024-02-01', which is no date of the format",
        ),
        ({"age": [1, 2, np.inf]}, "new.csv: has infinite values"),
    ],
)
def test_other_types(changed, message):
    with pytest.raises(ConfigError, match=message):
        FORM.encode(ROWS.assign(**changed), "new.csv")


def test_missing_columns():
    with pytest.raises(
        ConfigError, match=r"columns of the training data are missing: 'age' \(did you mean 'Age'\?\), 'member'"
    ):
        FORM.encode(ROWS.rename(columns={"age": "Age"}).drop(columns="member"), "new.csv")


def test_files_are_read_as_the_training_data(tmp_path):
    form = FORM.model_copy(update={"separator": ";", "decimal": ",", "missing_values": ("?",)})
    path = tmp_path / "new.csv"
    path.write_text("colour;age;day;size;member\n7;30,5;01.01.2024;?;True\n07;-;;S;False\n")
    frame = form.read(str(path), missing_values=("-",))
    assert frame["colour"].tolist() == ["7", "07"]  # text, though all values are numbers
    X, _ = form.encode(frame, "new.csv")
    np.testing.assert_array_equal(X[:, [0, 1, 3, 4]], [[30.5, 0, np.nan, 1], [np.nan, -1, 0, 0]])
    with pytest.raises(ConfigError, match=r"must be a CSV, Parquet or ARFF file"):
        form.read(str(tmp_path / "new.svm"))
