from boostnoise.eval.errors import ConfigError, nearest_first, one_line, shell_word, shortened, shown, suggest


def test_one_line():
    assert one_line(ValueError("a\n  b\t\x1b[2Jc")) == "a b \N{REPLACEMENT CHARACTER}[2Jc"
    assert one_line(EOFError()) == "EOFError"
    error = "[18:42:35] /src/gbm.cc:24: Unknown gbm type gbtre\nStack trace:\n  [bt] (0) /lib/libxgboost.so(+0x2c1) [0x7f]"
    assert one_line(RuntimeError(error)) == "Unknown gbm type gbtre"
    assert one_line(ValueError("x" * 300)) == "x" * 300
    assert one_line(ValueError("x" * 301)) == "x" * 299 + "…"


def test_long_text_ends_after_a_word():
    assert shortened("one two", 7) == "one two"
    assert shortened("one two three", 10) == "one two …"
    assert shortened("one, two", 7) == "one …"
    assert shortened("onetwothree", 6) == "onetw…"
    assert len(one_line(ValueError("word " * 100))) <= 300
    assert one_line(ValueError("word " * 100)).endswith(" word …")


def test_words_and_lines_of_a_config_error_are_cut():
    path = "/folder" * 30
    assert str(ConfigError(f"{path}: one\ntwo {'x' * 301} three")) == f"{path}: one\ntwo {'x' * 299}… three"
    assert len(str(ConfigError("a " * 5_000))) <= 3_000


def test_values_are_shown_on_one_line():
    assert shown({"Größe": "ß"}) == '{"Größe": "ß"}'
    assert shown("a\u202eb\n") == '"a\N{REPLACEMENT CHARACTER}b\\n"'
    assert shown(list(range(100))) == f"{str(list(range(100)))[:57]}..."
    assert shown({1}) == "{1}"


def test_words_of_a_suggested_command():
    assert shell_word("results/study.json") == "results/study.json"
    assert shell_word("$(touch x) id") == "'$(touch x) id'"
    assert shell_word("a\n\u202eb") == "'a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}b'"


def test_similar_names_are_suggested():
    assert suggest("XGBost", ["lightgbm", "xgboost", 3]) == " (did you mean 'xgboost'?)"
    assert suggest("svm", ["lightgbm", "xgboost"]) == ""
    assert suggest("", []) == suggest("x", []) == ""


def test_nearest_names_come_first_among_many():
    names = [f"column {i}" for i in range(30)]
    assert nearest_first("colum 17", names, limit=3).startswith("column 17, ")
    assert nearest_first("colum 17", names, limit=3).endswith(", ...")
    assert nearest_first("b", ["a", "c\x1b", 7]) == "a, 'c\\x1b', 7"


def test_names_with_blanks_at_their_ends_are_quoted():
    assert nearest_first("x", ["x ", " y", "a b", "", "z"]) == "'x ', ' y', a b, '', z"
