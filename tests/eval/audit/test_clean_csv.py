import gzip

import pytest

from boostnoise.eval.audit.clean_csv import clean_csv, extend_csv
from boostnoise.eval.datasets.files import CsvOptions
from boostnoise.eval.errors import ConfigError

TEXT = '\ufeffx,x,"label",\r\n1.50,"a, b",001,\r\n\r\n,"two\r\nlines",002,"é"\r\n"007",c,1,'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
@pytest.mark.parametrize("compressed", [False, True])
def test_other_rows_keep_their_bytes(tmp_path, encoding, compressed):
    text = TEXT if encoding == "utf-8" else TEXT[1:]
    path = tmp_path / ("a.csv.gz" if compressed else "a.csv")
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if compressed else content)
    options = CsvOptions(encoding=encoding)
    assert clean_csv(str(path), options, 2, {}, 3) == content
    dropped = clean_csv(str(path), options, 2, {1: None}, 3).decode(encoding)
    assert dropped == text.encode(encoding).decode(encoding).replace(',"two\r\nlines",002,"é"\r\n', "")
    changed = clean_csv(str(path), options, 2, {2: 0, 0: 1}, 3).decode(encoding)
    assert changed.endswith("007,c,001,")  # as the label is spelled in row 0, and without a line end as before
    assert '1.50,"a, b",002,\r\n\r\n,"two\r\nlines",002,"é"\r\n' in changed
    extended = extend_csv(str(path), options, {"w": ["0,5", "", "1"], "p, q": ["2", "", "3"]}, 3).decode(
        encoding
    )
    expected = text.encode(encoding).decode(encoding).replace('label",\r\n', 'label",,w,"p, q"\r\n')
    assert extended == expected.replace("001,\r\n", '001,,"0,5",2\r\n').replace('"é"', '"é",,') + ",1,3"


def test_other_separators(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("x\tlabel\n1.50\tNA\n\tyes\n007\tno\n", encoding="utf-8")
    assert clean_csv(str(path), CsvOptions(), 1, {1: None}, 3).decode() == "x\tlabel\n1.50\tNA\n007\tno\n"
    path.write_text("x;label\n1,5;a\n2;b\n", encoding="utf-8")
    assert clean_csv(str(path), CsvOptions(separator=";"), 1, {0: 1}, 2).decode() == "x;label\n1,5;b\n2;b\n"
    path.write_text("x;label;z\n1,5;a\n2;b;c\n", encoding="utf-8")  # a record that lacks fields
    extended = extend_csv(str(path), CsvOptions(separator=";"), {"w": ["0,5", ""]}, 2)
    assert extended.decode() == "x;label;z;w\n1,5;a;;0,5\n2;b;c;\n"


def test_errors(tmp_path):
    path = tmp_path / "a.csv"
    with pytest.raises(ConfigError, match="no such file"):
        clean_csv(str(path), CsvOptions(), 0, {}, 1)
    path.write_text("x\n1\n")
    with pytest.raises(ConfigError, match="cannot be written again: it has 1 record, not 2"):
        clean_csv(str(path), CsvOptions(), 0, {}, 2)
    # With names of rows, as R writes them, the label is not at its place in the head.
    path.write_text("x,label\nr1,1,a\nr2,2,b\n")
    with pytest.raises(ConfigError, match="cannot be written again: 3 fields in record 1, but 2 in the head"):
        clean_csv(str(path), CsvOptions(), 1, {0: 1}, 2)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"x\n1\n" * 50)[:20])
    with pytest.raises(ConfigError, match="cannot be read"):
        clean_csv(str(path), CsvOptions(), 0, {}, 1)
