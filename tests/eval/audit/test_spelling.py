import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from boostnoise import audit
from boostnoise.eval.audit.spelling import most_frequent_spellings, remark_on_spellings

X, Y = load_breast_cancer(return_X_y=True)


def test_the_most_frequent_spelling_is_kept():
    labels = np.array(["yes"] * 3 + ["Yes "] * 2 + ["NO", "no", "no", "maybe"])
    found = most_frequent_spellings(labels)
    assert found == {"Yes ": "yes", "NO": "no"}
    assert "'Yes ' as 'yes'" in remark_on_spellings(found)
    assert most_frequent_spellings(np.array([0, 1])) == {}


def test_spellings_are_one_class_unless_they_are_to_be_kept():
    wrong = np.random.default_rng(0).random(Y.size) < 0.1
    given = np.where(Y ^ wrong, "benign", "malignant").astype(object)
    variants = given.copy()
    variants[::7] = [f"{label.upper()} " for label in variants[::7]]
    plain, found = audit(X, given), audit(X, variants, checked={7: variants[7]})
    assert found.classes.tolist() == ["benign", "malignant"]
    assert found.remarks[0].startswith("labels that differ in case or blanks only are one class: ")
    assert found.noise_rate == pytest.approx(plain.noise_rate, abs=0.01)
    assert audit(X, variants, merge_spellings=False).classes.size == 4
