import pytest

from boostnoise.eval.config.data_paths import (
    advice_on_format,
    format_of,
    is_folder,
    reading_record,
    stem_of,
    suffix_of,
)


@pytest.mark.parametrize(
    ("path", "file_format", "suffix", "stem"),
    [
        ("a/b.CSV.gz", "csv", ".csv.gz", "b"),
        ("b.tsv", "csv", ".tsv", "b"),
        ("v1.2.parquet", "parquet", ".parquet", "v1.2"),
        ("a9a.libsvm", "svmlight", ".libsvm", "a9a"),
        ("a9a.t", None, "", "a9a"),
    ],
)
def test_names_of_files(path, file_format, suffix, stem):
    assert (format_of(path), suffix_of(path), stem_of(path)) == (file_format, suffix, stem)


def test_advice():
    assert advice_on_format("a/b.XLSX") == "; save the sheet of the workbook as CSV"
    assert advice_on_format("a.txt") == ""


def test_folders(tmp_path):
    assert is_folder(str(tmp_path))
    assert not is_folder(str(tmp_path / "none"))
    assert not is_folder("a" * 10_000)
    with reading_record():
        assert not is_folder(str(tmp_path))
