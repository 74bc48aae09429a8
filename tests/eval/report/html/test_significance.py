import base64

import numpy as np
import pandas as pd

from boostnoise.eval.config.figures import FigureOptions
from boostnoise.eval.plotting.styles import line_styles
from boostnoise.eval.report.html.significance import tests_with_diagram as with_diagram

MODELS = ["best", "数 <b>", "worst"]


def compared(n_datasets, n_repeats=1):
    rows = [
        {
            "dataset": f"set {d}",
            "noise_kind": "uniform",
            "noise_rate": 0.3,
            "repeat": repeat,
            "model": model,
            "accuracy": 0.9 - 0.1 * m + 0.001 * d,
            "error": None,
        }
        for d in range(n_datasets)
        for repeat in range(n_repeats)
        for m, model in enumerate(MODELS)
    ]
    return with_diagram(
        pd.DataFrame(rows), "accuracy", 0.3, "uniform", line_styles(MODELS, FigureOptions()), 0.2, ()
    )


def test_few_data_sets_have_no_diagram():
    found = compared(2)
    assert found.diagram == ""
    assert not found.tests.friedman_nemenyi.has_power
    assert np.isnan(found.tests.wilcoxon_holm.table["p_value"]).all()


def test_many_data_sets_have_a_description_and_a_reproducible_diagram():
    found = compared(12)
    assert found.description == ("Mean ranks: best 1.00, 数 <b> 2.00, worst 3.00; critical difference 0.96.")
    media_type, _, content = found.diagram.partition(",")
    assert media_type == "data:image/svg+xml;base64"
    assert b"<svg" in base64.b64decode(content)
    assert b"<b>" not in base64.b64decode(content)
    assert compared(12).diagram == found.diagram
    assert found.tests.wilcoxon_holm.control == "best"


def test_wins_ties_and_losses_on_each_data_set():
    assert not compared(4, 2).tests.paired_t.has_power
    assert compared(4, 3).tests.paired_t.matrix.loc["best"].tolist() == ["", "4/0/0", "4/0/0"]
