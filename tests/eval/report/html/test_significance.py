import base64

import numpy as np
import pytest

from boostnoise.eval.config.figures import FigureOptions
from boostnoise.eval.plotting.styles import line_styles
from boostnoise.eval.report.html.significance import tests_with_diagram as with_diagram

MODELS = ["best", "数 <b>", "worst"]


@pytest.fixture
def compared(made_scores):
    """Makes tests of three models, each 0.1 better than the next on all data sets."""

    def make(n_datasets, n_repeats=1):
        sets = [f"set {d}" for d in range(n_datasets)]
        scores = made_scores(MODELS, sets, rates=(0.3,), repeats=n_repeats)
        accuracy = 0.9 - 0.1 * scores["model"].map(MODELS.index) + 0.001 * scores["dataset"].map(sets.index)
        styles = line_styles(MODELS, FigureOptions())
        return with_diagram(scores.assign(accuracy=accuracy), "accuracy", 0.3, "uniform", styles, 0.2, ())

    return make


def test_few_data_sets_have_no_diagram(compared):
    found = compared(2)
    assert found.diagram == ""
    assert not found.tests.friedman_nemenyi.has_power
    assert np.isnan(found.tests.wilcoxon_holm.table["p_value"]).all()


def test_many_data_sets_have_a_description_and_a_reproducible_diagram(compared):
    found = compared(12)
    assert found.description == ("Mean ranks: best 1.00, 数 <b> 2.00, worst 3.00; critical difference 0.96.")
    media_type, _, content = found.diagram.partition(",")
    assert media_type == "data:image/svg+xml;base64"
    assert b"<svg" in base64.b64decode(content)
    assert b"<b>" not in base64.b64decode(content)
    assert compared(12).diagram == found.diagram
    assert found.tests.wilcoxon_holm.control == "best"


def test_wins_ties_and_losses_on_each_data_set(compared):
    assert not compared(4, 2).tests.paired_t.has_power
    assert compared(4, 3).tests.paired_t.matrix.loc["best"].tolist() == ["", "4/0/0", "4/0/0"]
