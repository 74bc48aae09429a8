import itertools

import numpy as np
import pandas as pd
import pytest

from boostnoise.eval.execution.run import Run
from boostnoise.eval.metrics.curves import mean_curve
from boostnoise.eval.metrics.outcome import NOT_FITTED
from boostnoise.eval.metrics.registry import RANGES
from boostnoise.eval.report.html.data import Results
from boostnoise.eval.report.html.styles import HEAT_STEPS
from boostnoise.eval.report.html.tables import (
    MAX_FAILURES,
    failures,
    heat_maps,
    number,
    tables_of_averages,
    tables_of_dataset,
    unbroken_percent,
)
from boostnoise.eval.statistics.intervals import best_and_overlapping


@pytest.fixture
def run(small_config):
    """Two models on three data sets: the second is better on all but the last, on which it fails under noise."""
    rows = []
    for d, rate, repeat, m in itertools.product(range(3), (0.0, 0.2, 0.4), range(3), range(2)):
        row = {"dataset": "abc"[d], "noise_kind": "uniform", "noise_rate": rate, "repeat": repeat}
        row |= {"model": ("one", "two")[m]} | dict.fromkeys([*RANGES, "error"])
        if (d, m) == (2, 1) and rate > 0:
            row["error"] = NOT_FITTED if repeat == 2 else f"Error: {repeat}"
        else:
            row["accuracy"] = 0.9 - 0.1 * d - rate * (1 - 0.5 * m) + 0.01 * repeat
        rows.append(row)
    scores = pd.DataFrame(rows).astype(dict.fromkeys(RANGES, "float64") | {"error": "string"})
    models = [{"name": name, "model": "decision_tree"} for name in ("one", "two")]
    return Run(small_config(models=models, noise=[{"kind": "uniform", "rates": [0.2, 0.4]}]), scores)


def test_averages(run):
    tables = tables_of_averages(Results(run))
    assert [table.caption for table in tables] == [
        "ELA, mean over 3 data sets, under uniform noise (lower is better)",
        "RLA, mean over 3 data sets, under uniform noise (lower is better)",
        "Accuracy, mean over 3 data sets, under uniform noise (higher is better)",
    ]
    ela = tables[0]
    assert [column.name for column in ela.columns] == [unbroken_percent(rate) for rate in (0, 0.2, 0.4)] + [
        "area"
    ]
    one, two = ela.rows
    expected = mean_curve(run.scores, "ela").query("model == 'one'")["ela"]
    np.testing.assert_allclose([cell.value for cell in one.cells[:3]], expected, rtol=1e-5)
    assert one.cells[3].value == pytest.approx(np.trapezoid(expected, [0, 0.2, 0.4]) / 0.4, rel=1e-5)
    # A data set is missing, so there is no average; what is alone is not the best.
    assert [cell.text for cell in two.cells] == [one.cells[0].text, "–", "–", "–"]
    assert [cell.value for cell in two.cells[1:]] == [None] * 3
    assert not any(cell.best for row in ela.rows for cell in row.cells)
    assert one.cells[1].band.count("–") == 1
    assert two.cells[1].band == ""


def test_the_best_of_a_data_set_is_bold(run):
    ela = tables_of_dataset(Results(run), 0)[0]
    assert ela.caption == "ELA, a, under uniform noise (lower is better)"
    assert [[cell.best for cell in row.cells] for row in ela.rows] == [[False] * 4, [False, True, True, True]]


def test_heat_maps(run):
    tables = heat_maps(Results(run))
    assert [(table.rate_index, table.caption.split()[0]) for table in tables] == [
        (rate, word) for rate in range(3) for word in ("Accuracy", "ELA,")
    ]
    accuracy = tables[2]
    assert [row.name for row in accuracy.rows] == ["a", "b", "c"]
    cells = [cell for row in accuracy.rows for cell in row.cells]
    assert [cell.model for cell in cells] == [0, 1] * 3
    assert [cell.best for cell in cells] == [False, True, False, True, False, False]
    assert max(cells, key=lambda cell: cell.step) == max(cells, key=lambda cell: cell.value or 0)
    assert cells[1].step == HEAT_STEPS - 1
    assert cells[5] == (number(np.nan), None, "", False, -1, 1)


def test_accuracies_near_the_best_are_marked(run):
    # On the first set far apart, on the second as near as repeats are.
    scores = run.scores.assign(error=pd.NA).astype({"error": "string"})
    noise = 0.01 * scores["repeat"] * np.where(scores["model"] == "one", 1, -1)
    worse = np.where(
        (scores["dataset"] == "a") & (scores["model"] == "two"), 0.4, 0.01 * (scores["model"] == "two")
    )
    tables = heat_maps(Results(Run(run.config, scores.assign(accuracy=0.9 - worse + noise))))
    assert "*: 97.5 % t interval of the mean over the repeats overlaps the best" in tables[0].caption
    marks = best_and_overlapping(
        scores.assign(accuracy=0.9 - worse + noise), noise_rate=0.0, noise_kind="uniform"
    ).table
    texts = [cell.text for row in tables[0].rows for cell in row.cells]
    assert (
        [text.endswith("*") for text in texts]
        == marks["overlaps"].tolist()
        == [False] * 3 + [True, False, True]
    )
    assert not any(cell.text.endswith("*") for row in tables[1].rows for cell in row.cells)


def test_failures_are_counted_by_their_errors(run):
    found = failures(Results(run))
    assert (found.n_cells, found.n_failed, found.n_not_fitted, found.more) == (54, 4, 2, 0)
    assert [(row.model, row.number, row.dataset, row.cells, row.error) for row in found.rows] == [
        ("two", 1, "c", 2, "Error: 0"),
        ("two", 1, "c", 2, "Error: 1"),
        ("two", 1, "c", 2, NOT_FITTED),
    ]
    assert found.rows[0].rates == f"{unbroken_percent(0.2)}, {unbroken_percent(0.4)}"


def test_long_lists_of_errors_are_cut(run):
    errors = [f"Error: {i}" for i in range(54)] * 20
    scores = pd.concat([run.scores] * 20, ignore_index=True).assign(
        error=[f"{error} {i}" for i, error in enumerate(errors)]
    )
    found = failures(Results(Run(run.config, scores.astype({"error": "string"}))))
    assert len(found.rows) == MAX_FAILURES
    assert found.more == 54 * 20 - MAX_FAILURES


def test_numbers_as_text():
    assert number(-0.12345) == "−0.123"
    assert number(np.nan) == "–"
    assert unbroken_percent(0.125) == "12.5\N{NO-BREAK SPACE}%"
