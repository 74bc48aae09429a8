import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from boostnoise.eval.datasets.files import CsvOptions, read_files
from boostnoise.eval.errors import ConfigError

ARFF = """% a comment
@RELATION table
@ATTRIBUTE size NUMERIC
@ATTRIBUTE colour {red, green, 'dark blue'}
@ATTRIBUTE y {n, p}
@ATTRIBUTE 'who said so' STRING
@DATA
1.5, green, n, Åsa
?, ?, p, 'a, b'
-2, 'dark blue', p, ?
"""


def read(path, file_format):
    return read_files([str(path)], [file_format], "data set 'x'")[0]


def test_arff(tmp_path):
    path = tmp_path / "table.arff"
    path.write_text(ARFF, encoding="utf-8")
    table = read(path, "arff")
    assert table.columns.tolist() == ["size", "colour", "y", "who said so"]
    np.testing.assert_array_equal(table["size"], [1.5, np.nan, -2])
    assert table["colour"].cat.categories.tolist() == ["red", "green", "dark blue"]
    assert table["colour"].cat.codes.tolist() == [1, -1, 2]
    assert table["y"].tolist() == ["n", "p", "p"]
    assert table["who said so"].tolist()[:2] == ["Åsa", "a, b"]
    assert table["who said so"].isna().tolist() == [False, False, True]


def test_svmlight(tmp_path):
    path = tmp_path / "table.svm"
    X = np.random.default_rng(0).integers(0, 3, (20, 5)) / 4
    X[0, 4] = 1.0
    dump_svmlight_file(X, np.arange(20) % 3 - 1, str(path), zero_based=False)
    table = read(path, "svmlight")
    np.testing.assert_array_equal(table[range(5)], X)
    assert table["target"].tolist() == (np.arange(20) % 3 - 1).tolist()
    assert table["target"].dtype == np.int64


def test_the_last_features_of_an_svmlight_file_may_be_zero_in_the_other(tmp_path):
    first, second = tmp_path / "a", tmp_path / "a.t"
    first.write_text("1 1:2 4:1\n-1 2:3\n")
    second.write_text("1 1:5 # a comment\n")
    train, test = read_files([str(first), str(second)], ["svmlight"] * 2, "")
    np.testing.assert_array_equal(train[range(4)], [[2, 0, 0, 1], [0, 3, 0, 0]])
    np.testing.assert_array_equal(test[range(4)], [[5, 0, 0, 0]])


def test_two_files_are_matched_by_column_names(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    pd.DataFrame({"y": [4], "x": [3]}).to_parquet(tmp_path / "b.parquet")
    (tmp_path / "c.csv").write_text("x,z\n1,2\n")
    paths = [str(tmp_path / name) for name in ("a.csv", "b.parquet")]
    first, second = read_files(paths, ["csv", "parquet"], "")
    assert first.columns.tolist() == second.columns.tolist() == ["x", "y"]
    assert second.to_numpy().tolist() == [[3, 4]]
    with pytest.raises(ConfigError, match=r"a.csv and .*c.csv differ in column 'y'"):
        read_files([paths[0], str(tmp_path / "c.csv")], ["csv", "csv"], "")
    with pytest.raises(ConfigError, match=r"c.csv is an svmlight file, but .*a.csv is not"):
        read_files([paths[0], str(tmp_path / "c.csv")], ["csv", "svmlight"], "")


@pytest.mark.parametrize(
    ("file_format", "text"),
    [
        ("arff", ""),
        ("arff", ARFF.replace("green, n", "purple, n")),
        ("arff", ARFF.replace("1.5", "one")),
        ("arff", ARFF.replace("1.5, ", "")),
        ("arff", ARFF.replace("@DATA", "")),
        ("arff", ARFF.replace("NUMERIC", "RELATIONAL")),
        ("arff", ARFF.replace("1.5, green, n", "{0 1.5, 1 green}")),
        ("arff", "a,y\n1,2\n"),
        ("svmlight", "a,y\n1,2\n"),
        ("svmlight", "1 0:1 0:\n"),
        ("svmlight", "1,2 1:1\n"),
        ("svmlight", "1 -4:1\n"),
        ("svmlight", "1 99999999999999999999:1\n"),
        ("parquet", "PAR1" + 40 * "x" + "PAR1"),
    ],
)
def test_files_with_a_wrong_format(tmp_path, file_format, text):
    path = tmp_path / "table"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"^data set 'x': .*table cannot be read: .") as error:
        read(path, file_format)
    assert "\n" not in str(error.value)


@given(
    st.sampled_from(["csv", "arff", "svmlight", "parquet"]),
    st.one_of(
        st.binary(max_size=60),
        st.lists(st.sampled_from([*ARFF.split(" "), "{", "'", "%", "\n", "1:2", "\0", "\x1b", "é"])).map(
            lambda words: " ".join(words).encode()
        ),
    ),
)
def test_invalid_files_raise_config_errors_only(tmp_path_factory, file_format, content):
    path = tmp_path_factory.getbasetemp() / "any_table"
    path.write_bytes(content)
    try:
        read(path, file_format)
    except ConfigError as error:
        assert str(error).isprintable()  # noqa: PT017 - some files are valid


def test_an_svmlight_file_that_is_too_large(tmp_path, monkeypatch):
    path = tmp_path / "table.svm"
    path.write_text("1 2000000000:1\n0 1:1\n")
    with pytest.raises(ConfigError, match="2 rows of 2000000000 features are more than 1073741824 numbers"):
        read(path, "svmlight")


def test_other_separators(tmp_path):
    (tmp_path / "a.csv").write_text("x;y\n1,5;0\n")
    (table,) = read_files([str(tmp_path / "a.csv")], ["csv"], "", CsvOptions(separator=";"))
    assert table.to_dict("list") == {"x": ["1,5"], "y": [0]}
    (table,) = read_files([str(tmp_path / "a.csv")], ["csv"], "", CsvOptions(separator=";", decimal=","))
    assert table.to_dict("list") == {"x": [1.5], "y": [0]}


def test_names_such_as_na_are_missing_only_among_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("country,age,none\nNA,30,None\nDE,NA,\n,n/a,-\n")
    table = read(path, "csv")
    assert table["country"].tolist()[:2] == ["NA", "DE"]
    assert table["none"].tolist()[::2] == ["None", "-"]
    assert table["age"].tolist()[0] == 30
    assert table.isna().to_numpy().tolist() == [[False, False, False], [False, True, True], [True, True, False]]
    (table,) = read_files([str(path)], ["csv"], "", CsvOptions(missing_values=["-", "None"]))
    assert table["none"].isna().all()


def test_other_encodings(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("größe,y\n1,0\n".encode("latin-1"))
    with pytest.raises(
        ConfigError, match=r'a.csv cannot be read: it is not UTF-8; set "encoding", for example to'
    ):
        read(path, "csv")
    (table,) = read_files([str(path)], ["csv"], "", CsvOptions(encoding="latin-1"))
    assert table.columns.tolist() == ["größe", "y"]


def test_text_of_columns_with_the_same_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,a\nx,1,NA\n,2,y\nNA,3,\n")
    with pytest.warns(UserWarning, match=r"several columns are named 'a'; the second is read as 'a\.1'"):
        table = read(path, "csv")
    assert table.columns.tolist() == ["a", "b", "a.1"]
    assert table["a"].fillna("missing").tolist() == ["x", "missing", "NA"]
    assert table["a.1"].fillna("missing").tolist() == ["NA", "y", "missing"]


def test_rows_with_names(tmp_path):
    """R writes no name for the column of the names of rows."""
    plain = "a,b,y\n1,x,p\n2,,q\n3,NA,p\n"
    (tmp_path / "plain.csv").write_text(plain)
    (expected,) = read_files([str(tmp_path / "plain.csv")], ["csv"], "set")
    assert expected["b"].tolist()[::2] == ["x", "NA"]
    for names in (["0", "1", "2"], ["r", "s", "t"], ["r,0", "s,1", "t,2"]):
        head, *rows = plain.split()
        text = "\n".join([head, *(f"{name},{row}" for name, row in zip(names, rows, strict=True))])
        (tmp_path / "named.csv").write_text(text)
        n = names[0].count(",") + 1
        with pytest.warns(
            UserWarning, match=rf"rows have {3 + n} fields, but .* 3 names of columns; the first"
        ):
            (found,) = read_files([str(tmp_path / "named.csv")], ["csv"], "set")
        pd.testing.assert_frame_equal(found, expected)


def test_a_separator_at_the_end_of_each_row(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,y\n1,x,p,\n2,,q,\n3,NA,p,\n")
    (found,) = read_files([str(tmp_path / "a.csv")], ["csv"], "set")
    assert found.fillna("").to_dict("list") == {"a": [1, 2, 3], "b": ["x", "", "NA"], "y": ["p", "q", "p"]}
