from boostnoise.eval._suggestions import nearest_first, suggest


def test_similar_names_are_suggested():
    assert suggest("XGBost", ["lightgbm", "xgboost", 3]) == " (did you mean 'xgboost'?)"
    assert suggest("svm", ["lightgbm", "xgboost"]) == ""
    assert suggest("", []) == suggest("x", []) == ""


def test_nearest_names_come_first_among_many():
    names = [f"column {i}" for i in range(30)]
    assert nearest_first("colum 17", names, limit=3).startswith("column 17, ")
    assert nearest_first("colum 17", names, limit=3).endswith(", ...")
    assert nearest_first("b", ["a", "c\x1b", 7]) == "a, 'c\\x1b', 7"
