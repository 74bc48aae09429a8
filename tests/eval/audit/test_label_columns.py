import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from boostnoise import audit
from boostnoise.eval.audit import label_columns
from boostnoise.eval.audit.label_columns import find_label_columns

X, Y = load_breast_cancer(return_X_y=True)
WRONG = np.random.default_rng(0).random(Y.size) < 0.1
GIVEN = Y ^ WRONG


def copy_of(labels, agreement, seed=0):
    """A column that agrees with labels in a share of the rows."""
    return np.where(np.random.default_rng(seed).random(labels.size) < agreement, labels, 1 - labels)


@pytest.mark.parametrize("agreement", [0.9, 0.985, 0.999])
def test_a_column_that_was_made_from_the_label_is_left_out(agreement):
    features = pd.DataFrame(X[:, :20]).assign(churn_score=copy_of(GIVEN, agreement) + 0.5)
    found = audit(features, GIVEN)
    remark, with_all = found.remarks
    assert remark.startswith("column 'churn_score' was left out, as it is probably made from the label")
    assert with_all.startswith("with all columns, about")
    plain = audit(features.drop(columns="churn_score"), GIVEN)
    np.testing.assert_array_equal(found.errors.p_wrong, plain.errors.p_wrong)
    assert found.noise_rate_interval[0] > 0.02
    kept = audit(features, GIVEN, keep_label_columns=True)
    assert kept.noise_rate < found.noise_rate - 0.01
    assert kept.remarks == ()


def test_wide_data_are_judged_by_fewer_rows(monkeypatch):
    rows = []

    def count(column, y, n_classes):
        rows.append(y.size)
        return predict_alone(column, y, n_classes)

    predict_alone = label_columns._predict_alone
    monkeypatch.setattr(label_columns, "_predict_alone", count)
    monkeypatch.setattr(label_columns, "MIN_ROWS", 300)
    monkeypatch.setattr(label_columns, "MAX_VALUES", 20 * 400)
    features = pd.DataFrame(X[:, :19]).assign(churn_score=copy_of(GIVEN, 0.98) + 0.5)
    assert audit(features, GIVEN).remarks[0].startswith("column 'churn_score' was left out")
    assert set(rows) == {400}


@pytest.mark.parametrize("labels", [Y, GIVEN], ids=["clean", "noisy"])
def test_good_features_are_not_left_out(labels):
    assert audit(X, labels).remarks == ()


def test_columns_of_arrays_and_of_other_annotators():
    as_array = np.column_stack([X[:, :20], copy_of(GIVEN, 0.95)])
    assert audit(as_array, GIVEN).remarks[0].startswith("column 20 was left out, as it is probably")
    names = np.array(["benign", "malignant"])
    expert = pd.DataFrame(X).assign(expert=names[Y])
    assert audit(expert, names[GIVEN]).remarks[0].startswith("column 'expert' was left out, as it is probably")
    expert.loc[::5, "expert"] = None
    assert audit(expert, names[GIVEN]).remarks[0].startswith("column 'expert' was left out, as it is probably")


def test_a_good_feature_with_the_numbers_of_the_labels_is_kept():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1_000, 4))
    y = (x[:, :3].sum(axis=1) + rng.normal(size=1_000) > 0).astype(int)
    features = pd.DataFrame(x).assign(
        flag=(x[:, :3].sum(axis=1) + 0.3 * rng.normal(size=1_000) > 0).astype(int)
    )
    assert (features["flag"] == y).mean() > 0.75
    assert audit(features, y).remarks == ()


def test_a_category_of_many_values():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    good = pd.DataFrame(rng.normal(size=(600, 4)) + 2.0 * np.eye(4)[y], columns=list("abcd"))
    text = pd.Series(y * 10 + rng.integers(10, size=600)).astype(str).astype("category")
    p = np.full((600, 3), 0.05) + 0.85 * np.eye(3)[y]
    assert find_label_columns(good.assign(code=text), good.assign(code=text), y, np.arange(3), p) == ["code"]
    assert find_label_columns(good, good, y, np.arange(3), p) == []


def test_the_only_column_that_predicts_the_labels_is_kept():
    rng = np.random.default_rng(0)
    labels = GIVEN[:400]
    features = pd.DataFrame(rng.normal(size=(400, 5))).assign(copy=copy_of(labels, 0.95) * 2.0)
    found = audit(features, labels)
    assert found.remarks == (
        "only column 'copy' predicts the labels; if it was made from the label, wrong labels are not found",
    )
    np.testing.assert_array_equal(
        found.errors.p_wrong, audit(features, labels, keep_label_columns=True).errors.p_wrong
    )
