import pytest
from matplotlib.figure import Figure

from boostnoise.eval.metrics.robustness import METRICS
from boostnoise.eval.plotting.mathtext import label_of, short_label_of, text_of


def test_labels_say_what_a_metric_was_computed_from():
    assert label_of("ela") == "ELA, equalised loss of accuracy"
    assert label_of("ela", "roc_auc") == "ELA, equalised loss of ROC AUC"
    assert short_label_of("ela") == "ELA"
    assert short_label_of("retention", "macro_f1") == "retention of macro F1"
    assert short_label_of("leaves", "macro_f1") == "leaves of a tree"
    for metric in METRICS:
        assert "{" not in label_of(metric, "balanced_accuracy")
        assert "{" not in short_label_of(metric, "balanced_accuracy")


def test_names_wrap():
    assert text_of("word " * 4, wrap_at=10) == "word word\nword word"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain", "plain"),
        ("$\\gamma = 1$", "$\\gamma = 1$"),
        ("5 $", "5 \\$"),
        ("$\\nonsense{$", "\\$\\nonsense{\\$"),
        ("cost $5 and $6", "cost $5 and $6"),
    ],
)
def test_latex_in_names(name, shown):
    assert text_of(name) == shown
    figure = Figure()
    figure.text(0, 0, text_of(name))
    figure.draw_without_rendering()
