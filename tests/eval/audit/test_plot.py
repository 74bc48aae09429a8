import matplotlib.pyplot as plt
import numpy as np
import pytest

from boostnoise import LabelAudit, find_label_errors, use_checked_labels
from boostnoise.eval.audit.plot import as_png
from boostnoise.eval.clean_labels.checked_sample import CheckedSample


def found(names, n=300, *, checked=0):
    """An audit of labels, a fifth of which are those of the next class."""
    rng = np.random.default_rng(0)
    names = np.sort(names)
    right = rng.integers(names.size, size=n)
    y = np.where(rng.random(n) < 0.2, (right + 1) % names.size, right)
    p = np.exp(6 * np.eye(names.size)[right] + rng.normal(size=(n, names.size)))
    errors = find_label_errors(names[y], p / p.sum(axis=1, keepdims=True))
    if checked:
        errors = use_checked_labels(errors, names[y], np.arange(checked), names[right[:checked]])
    rows = np.arange(checked)
    sample = CheckedSample(rows, y[rows], np.ones(checked), np.zeros(checked, dtype=int))
    return LabelAudit(errors, names[y], np.arange(n), checked=sample)


@pytest.fixture(scope="module")
def audit():
    return found(["a", "b", "c"])


@pytest.fixture(scope="module")
def expected(audit):
    """Rows by given and right label."""
    return np.array([audit.clean_probabilities[audit.labels == name].sum(axis=0) for name in "abc"])


@pytest.fixture
def ax():
    yield plt.figure().subplots()
    plt.close("all")


def texts(ax):
    return [text.get_text() for text in ax.texts]


def names_of(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def widths(ax):
    return np.array([bar.get_width() for bar in ax.patches])


def test_wrong_labels_are_those_of_the_tables(audit, ax):
    audit.plot("wrong_labels", ax=ax)
    table = audit.by_label.sort_values("share", ascending=False)
    assert names_of(ax) == ["all labels", *table["label"]]
    np.testing.assert_allclose(widths(ax), [audit.noise_rate, *table["share"]])
    low, high = (line.get_xdata() for line in ax.lines)
    np.testing.assert_allclose([low[0], high[0]], audit.noise_rate_interval)
    assert np.isnan([*low[1:], *high[1:]]).all()
    assert texts(ax)[1] == f"{100 * table['share'].iloc[0]:.0f} % of {table['rows'].iloc[0]}"


def test_the_curve_marks_the_list_of_clean_mask(audit, ax):
    audit.plot("precision", ax=ax)
    n = int((~audit.clean_mask()).sum())
    assert ax.lines[1].get_xdata() == [n]
    assert texts(ax)[0].endswith(f" of the first {n}")


def test_confusions(audit, expected, ax):
    audit.plot("confusions", ax=ax)
    cells = {(int(text.get_position()[1]), int(text.get_position()[0])): text.get_text() for text in ax.texts}
    assert cells == {place: f"{n:.0f}" for place, n in np.ndenumerate(expected) if round(n)}


def test_class_sizes(audit, expected, ax):
    audit.plot("class_sizes", ax=ax)
    given, right = expected.sum(axis=1), expected.sum(axis=0)
    np.testing.assert_allclose(widths(ax), [*given, *right])
    assert texts(ax) == [f"{n:+.0f}".replace("-", "−") if round(n) else "0" for n in right - given]


def test_checked_rows_give_intervals_of_labels_and_leave_the_list(ax):
    audit = found(["a", "b"], checked=60)
    axes = audit.plot()
    assert axes[0].figure is plt.gcf()
    table = audit.by_label.sort_values("share", ascending=False)
    for line, end in zip(axes[0].lines, ("low", "high"), strict=True):
        np.testing.assert_allclose(line.get_xdata()[1:], table[end])
    assert "300 labels, 60 of them checked" in axes[0].figure.get_supxlabel()
    curve, unchecked = axes[2].lines[0], audit.errors.p_wrong[60:]
    assert curve.get_xdata()[-1] == 240
    assert curve.get_ydata()[[0, -1]] == pytest.approx([unchecked.max(), unchecked.mean()])


def test_many_classes_show_the_largest(ax):
    audit = found([f"c{i:02d}" for i in range(14)])
    axes = audit.plot()
    assert [len(panel.patches) for panel in axes] == [13, 12, 0, 24]
    assert axes[0].get_title(loc="left") == "Share of wrong labels: 12 of 14 labels"
    p, given = audit.clean_probabilities, np.searchsorted(audit.classes, audit.labels)
    pairs = [(int(name[2:4]), int(name[-3:-1])) for name in names_of(axes[1])]
    assert names_of(axes[1])[0] == "'c{:02d}' that is 'c{:02d}'".format(*pairs[0])
    np.testing.assert_allclose(widths(axes[1]), [p[given == i, j].sum() for i, j in pairs])
    assert (np.diff(widths(axes[1])) <= 0).all()


@pytest.mark.parametrize("n_classes", [2, 13])
def test_without_noise(n_classes, ax):
    labels = np.repeat(np.arange(n_classes), 40)
    audit = LabelAudit(find_label_errors(labels, np.eye(n_classes)[labels]), labels, np.arange(labels.size))
    audit.plot("wrong_labels", ax=ax)
    assert (widths(ax) == 0).all()
    ax.clear()
    audit.plot("precision", ax=ax)
    assert len(ax.lines) == 1  # no list has many wrong labels
    ax.clear()
    audit.plot("confusions", ax=ax)
    assert ("No label is expected to be mistaken for another" in texts(ax)) == (n_classes == 13)


def test_names_are_text_and_fit(ax):
    audit = found(["$5-$10", "a\\$b$ <i>", "x_1" * 40, "long name " * 9, "b\u202e"])
    assert as_png(audit).startswith(b"\x89PNG")
    shown = names_of(audit.plot("class_sizes", ax=ax))
    assert "\\$5-\\$10" in shown
    assert "a\\\\$b\\$ <i>" in shown
    assert max(len(line) for name in shown for line in name.split("\n")) == 20
    assert max(name.count("\n") for name in shown) == 1


def test_mistakes(audit, ax):
    assert audit.plot("confusions").figure is plt.gcf()
    with pytest.raises(ValueError, match=r"plot must be one of summary, wrong_labels, .*, got 'pie'"):
        audit.plot("pie")
    with pytest.raises(ValueError, match="ax must be None for a plot with several panels"):
        audit.plot(ax=ax)
    with pytest.raises(TypeError, match="ax must be a Matplotlib Axes or None, got 3"):
        audit.plot("precision", ax=3)
