import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer

from boostnoise import compare_annotators
from boostnoise.eval.errors import ConfigError
from boostnoise.label_noise import annotators

X, Y = load_breast_cancer(return_X_y=True)
NAMES = np.array(["ill", "well"])


def label(*rates, seed=0):
    """Labels of annotators, by their rates of wrong labels in each class."""
    rng = np.random.default_rng(seed)
    wrong = [rng.random(Y.size) < np.asarray(rate)[Y] for rate in rates]
    columns = [NAMES[np.where(one, 1 - Y, Y)] for one in wrong]
    return pd.DataFrame(dict(zip("abcdefgh", columns, strict=False)))


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(annotators, "RESAMPLES", 30)


@pytest.fixture(scope="module")
def worse():
    """The second annotator is worse in the first class only."""
    return label([0.05, 0.05], [0.3, 0.05])


def test_the_worse_annotator_is_named_by_class(worse):
    found = compare_annotators(X, worse)
    rates = found.error_rates.set_index(["annotator", "class"])
    assert len(rates) == 6
    truth = (worse.to_numpy() != NAMES[Y][:, np.newaxis]).mean(axis=0)
    for name, rate in zip("ab", truth, strict=True):
        row = rates.loc[(name, None)]
        assert row["low"] <= rate <= row["high"]
        assert row["wrong"] == pytest.approx(rate, abs=0.02)
    differences = found.differences.set_index("class")
    assert differences.loc["ill", "p_holm"] < 0.001
    assert differences.loc["well", "p_holm"] > 0.05
    assert differences.loc["ill", "high"] < 0 < differences.loc["well", "high"]
    text = str(found)
    assert text.startswith("'b' is wrong more often than 'a': about 1")
    assert "In class 'ill', 'b' is wrong more often than 'a'" in text
    assert "In class 'well'" not in text
    assert "err independently" in text
    assert (found.labels == NAMES[Y]).mean() > 0.97
    assert "<table" in found._repr_html_()


def test_equal_annotators_are_not_told_apart():
    found = [compare_annotators(X, label([0.1, 0.1], [0.1, 0.1], seed=seed)) for seed in (100, 101)]
    assert min(one.differences["p_value"][0] for one in found) > 0.05
    assert str(found[0]).startswith("Neither annotator is clearly wrong more often")


def test_annotators_without_errors_have_an_interval():
    found = compare_annotators(X, label([0, 0], [0, 0]))
    assert (found.error_rates["wrong"] < 0.01).all()
    assert (found.error_rates["high"] > 0.003).all()
    assert (found.differences["low"] < -0.001).all()
    assert (found.differences["p_value"] > 0.3).all()


def test_checked_rows_have_exact_intervals_and_test(worse):
    rows = range(0, 500, 5)
    found = compare_annotators(X, worse, checked={row: NAMES[Y[row]] for row in rows})
    wrong = (worse.to_numpy() != NAMES[Y][:, np.newaxis])[::5][:100]
    overall = found.error_rates[found.error_rates["class"].isna()]
    assert overall["checked"].tolist() == [100, 100]
    assert overall["checked_wrong"].tolist() == wrong.sum(axis=0).tolist()
    exact = binomtest(int(wrong[:, 1].sum()), 100).proportion_ci(0.95)
    assert overall[["checked_low", "checked_high"]].iloc[1].tolist() == pytest.approx(list(exact))
    only = [int((wrong[:, i] & ~wrong[:, 1 - i]).sum()) for i in (0, 1)]
    row = found.differences.iloc[0]
    assert [row["checked_only_first_wrong"], row["checked_only_second_wrong"]] == only
    assert row["checked_p_value"] == pytest.approx(binomtest(only[0], sum(only)).pvalue)
    assert "On 100 checked rows" in str(found)
    assert found.n_checked == 100


def test_checked_rows_contradict_annotators_who_err_together():
    one = label([0.3, 0.3])["a"]
    both = pd.DataFrame({"a": one, "b": one})
    found = compare_annotators(X, both, checked={row: NAMES[Y[row]] for row in range(0, 569, 3)})
    assert "The checked rows contradict the estimate for" in str(found)


def test_rows_without_labels_and_other_spellings(worse):
    labels = worse.copy()
    labels.loc[:3] = None
    labels.loc[4:100, "b"] = None
    labels.loc[101:200, "a"] = labels.loc[101:200, "a"].str.upper() + " "
    found = compare_annotators(pd.DataFrame(X), labels)
    assert found.classes.tolist() == ["ill", "well"]
    assert found.labels[:4].isna().all()
    assert found.labels[4:].notna().all()
    assert found.probabilities[:4].isna().all(axis=None)
    assert found.error_rates.loc[found.error_rates["class"].isna(), "labels"].tolist() == [565, 468]
    assert any("are one class" in remark for remark in found.remarks)


def test_a_column_made_from_the_labels_is_left_out(worse):
    features = pd.DataFrame(X).rename(columns=str).assign(final=worse["a"])
    found = compare_annotators(features, worse)
    assert "Column 'final' was left out" in str(found)
    assert "keep_label_columns" in str(found)
    pd.testing.assert_frame_equal(found.error_rates, compare_annotators(X, worse).error_rates)


def test_the_overall_rate_is_that_of_the_labels_an_annotator_gave():
    labels = label([0.05, 0.05], [0.05, 0.3])
    labels.loc[(Y == 0) & (np.arange(Y.size) % 5 > 0), "b"] = None  # b labels few of the class without errors
    found = compare_annotators(X, labels)
    overall = found.error_rates[found.error_rates["class"].isna()].set_index("annotator")
    given = labels["b"].notna()
    truth = (labels["b"] != NAMES[Y])[given].mean()
    assert truth > 0.2
    assert overall.loc["b", "wrong"] == pytest.approx(truth, abs=0.02)
    assert overall.loc["b", "low"] <= truth <= overall.loc["b", "high"]


def test_without_informative_features_only_checked_rows_count():
    labels = label([0.02, 0.02], [0.3, 0.3])
    noise = np.random.default_rng(0).normal(size=(Y.size, 3))
    found = compare_annotators(noise, labels, checked={row: NAMES[Y[row]] for row in range(60)})
    assert "only the checked rows are used" in found.remarks[0]
    rates = found.error_rates
    of_checked = rates["checked_wrong"] / rates["checked"]
    np.testing.assert_allclose(rates["wrong"], of_checked, atol=0.02)
    assert (rates["labels"] == rates["checked"]).all()
    assert (rates["low"] <= of_checked + 0.005).all()
    assert found.labels.notna().all()


def test_one_wrong_annotator_and_a_constant_one():
    """Ties of the majority do not hide that the features predict somebody's labels."""
    labels = label([0.05, 0.05], [1.0, 1.0])
    assert compare_annotators(X, labels).annotators == ("a", "b")
    constant = compare_annotators(X, label([0.05, 0.05]).assign(b=NAMES[0]))
    assert len(constant.error_rates) == 6


def test_annotators_who_agree_everywhere_may_have_copied():
    one = label([0.2, 0.2])["a"]
    found = compare_annotators(X, pd.DataFrame({"a": one, "b": one}))
    assert "'a' and 'b' agree in all 569 rows" in str(found)


def test_the_clearest_difference_is_named():
    labels = label([0.02, 0.02], [0.2, 0.2], [0.5, 0.5])
    labels.loc[8:, "c"] = None
    assert str(compare_annotators(X, labels)).startswith("'b' is wrong more often than 'a'")


def test_an_expert_may_spell_otherwise(worse):
    found = compare_annotators(X, worse, checked={0: NAMES[Y[0]].upper() + " "})
    assert found.n_checked == 1


def test_a_strong_feature_is_kept():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(Y.size, 2))
    y = (features[:, 0] + 0.5 * features[:, 1] > 0).astype(int)
    labels = pd.DataFrame({name: np.where(rng.random(y.size) < 0.1, 1 - y, y) for name in "ab"})
    assert compare_annotators(features, labels).remarks == ()


def test_several_annotators_and_groups():
    labels = label([0.02, 0.02], [0.1, 0.1], [0.1, 0.3]).mask(
        np.random.default_rng(0).random((Y.size, 3)) < 0.3
    )
    found = compare_annotators(X, labels, groups=np.arange(Y.size) // 2)
    assert len(found.differences) == 9
    assert " is wrong more often than 'a'" in str(found)
    assert ", corrected for the number of pairs" in str(found)
    same = compare_annotators(X, labels, groups=np.arange(Y.size) // 2)
    pd.testing.assert_frame_equal(found.differences, same.differences)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": label([0.1, 0.1])}, "labels: two or more annotators are needed, got 1"),
        ({"X": X[:5]}, "X has 5 rows, but labels has 569"),
        ({"X": X[:, :0]}, "X has no columns"),
        ({"X": pd.DataFrame(X[:, :2], columns=["x", "x"])}, "X: two columns are called 'x'"),
        ({"checked": {}}, "checked must have the right label of at least one row, or be None"),
        (
            {"labels": label([0.1, 0.1], [0.1, 0.1]).replace({"b": {"ill": "1", "well": "0"}})},
            r"labels: 'a' and 'b' have no label in common \('ill', 'well' / '0', '1'\)",
        ),
        ({"checked": {600: "ill"}}, "checked rows must be whole numbers from 0 to 568, got 600"),
        ({"checked": {0: "sick"}}, r"checked labels must be labels of the data \('ill', 'well'\), got 'sick'"),
        ({"X": np.random.default_rng(0).normal(size=(569, 3))}, "the features do not predict the labels"),
        ({"labels": label([0.1, 0.1], [0.1, 0.1]).assign(b=None)}, "annotator 'b' gave no label"),
        ({"labels": np.arange(1138).reshape(569, 2)}, "labels has 1138 different labels in 569 rows"),
        ({"labels": pd.DataFrame([["ill", "ill"]] * 569)}, "labels: "),
    ],
)
def test_bad_input(worse, arguments, message):
    with pytest.raises(ConfigError, match=message):
        compare_annotators(**{"X": X, "labels": worse} | arguments)


def test_checked_must_be_a_dict(worse):
    with pytest.raises(TypeError, match="checked must be a dict, Series or DataFrame of labels by row"):
        compare_annotators(X, worse, checked=[1])
