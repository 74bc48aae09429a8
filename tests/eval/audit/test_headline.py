import numpy as np
import pytest

from boostnoise import LabelAudit, LabelErrors
from boostnoise.eval.audit.expected_counts import expected_counts
from boostnoise.eval.audit.headline import headline, shorten
from boostnoise.eval.clean_labels.checked_sample import CheckedSample


def found(rows, names=("ham", "spam", "ad"), *, n_checked=0, possible=None):
    """An audit with whole numbers of rows by given and right label."""
    rows = np.asarray(rows)
    given, right = (np.repeat(index.ravel(), rows.ravel()) for index in np.indices(rows.shape))
    classes = np.sort(names[: len(rows)])
    p_wrong = (given != right).astype(float)
    rate = float(p_wrong.mean())
    eye = np.eye(len(rows))
    errors = LabelErrors(
        classes,
        p_wrong,
        eye[right],
        np.argsort(-p_wrong),
        classes[right],
        rate,
        (0.0, rate if possible is None else possible),
        rate,
        eye,
        eye,
        eye,
        eye[given],
    )
    rows = np.arange(n_checked)
    checked = CheckedSample(rows, right[rows], np.ones(n_checked), np.zeros(n_checked, dtype=int))
    return LabelAudit(errors, classes[given], np.arange(given.size), checked=checked)


def said(*arguments, **options):
    audit = found(*arguments, **options)
    return headline(audit, expected_counts(audit))


def test_the_counts():
    rows = [[50, 3, 0], [1, 40, 7], [0, 0, 60]]
    counts = expected_counts(found(rows, ("b\u202e", "$a$", "c")))
    np.testing.assert_array_equal(counts.rows, rows)
    np.testing.assert_array_equal(counts.wrong, [[0, 3, 0], [1, 0, 7], [0, 0, 0]])
    np.testing.assert_array_equal(counts.given, [53, 48, 60])
    np.testing.assert_array_equal(counts.right, [51, 43, 67])
    assert counts.names == ["$a$", "b\N{REPLACEMENT CHARACTER}", "c"]


@pytest.mark.parametrize(
    ("rows", "options", "sentence"),
    [
        ([[500, 0], [90, 410]], {}, "About 9 in 100 labels are wrong, most of them 'spam' that is 'ham'"),
        ([[500, 40], [50, 410]], {}, "About 9 in 100 labels are wrong"),
        ([[490, 10], [0, 500]], {}, "About 1 in 100 labels is wrong, most of them 'ham' that is 'spam'"),
        (
            [[300, 9, 20], [10, 300, 9], [9, 9, 334]],
            {"names": ("a", "b", "c")},
            "About 7 in 100 labels are wrong, most often 'a' that is 'c'",
        ),
        (
            [[996, 4], [0, 1000]],
            {"possible": 0.25},
            "Hardly any label is proven wrong, but up to 25 in 100 may be",
        ),
        (
            [[996, 4], [0, 1000]],
            {"possible": 0.004},
            "Hardly any label is proven wrong, but up to 4 in 1,000 may be",
        ),
        ([[500, 40], [50, 410]], {"possible": 0.14}, "About 9, perhaps up to 14 in 100 labels are wrong"),
        ([[50, 0], [0, 50]], {"possible": 0.0}, "Hardly any label is proven wrong"),
        ([[996, 4], [4, 996]], {"n_checked": 9}, "About 4 in 1,000 labels are wrong"),
        ([[50, 0], [0, 50]], {"n_checked": 9}, "Fewer than 1 in 1,000 labels are wrong"),
    ],
)
def test_sentences(rows, options, sentence):
    assert said(rows, **options) == sentence


def test_long_names_differ():
    names = [f"a complaint about something in the year {year}" for year in (2001, 2002)]
    sentence = said([[80, 20], [0, 100]], names)
    assert sentence.endswith(
        "'a complaint about someth…e year 2001' that is 'a complaint about someth…e year 2002'"
    )
    assert shorten("x" * 36, 36) == "x" * 36
    assert len(shorten("x" * 37, 36)) == 36
