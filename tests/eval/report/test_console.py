import json
import sys
from functools import partial
from types import SimpleNamespace

import pytest

from boostnoise.eval.execution.plan import Progress, plan
from boostnoise.eval.execution.runner import run
from boostnoise.eval.metrics.outcome import Outcome
from boostnoise.eval.report import console as module
from boostnoise.eval.report.console import (
    Bar,
    Lines,
    Notebook,
    create_display,
    create_python_display,
)
from boostnoise.eval.report.display import Display
from boostnoise.eval.report.events import Events
from boostnoise.eval.report.files import write_report

TREE = {"name": "a [tree]", "model": "decision_tree", "params": {"max_depth": 2}}
BAD = {"name": "bad", "model": "decision_tree", "params": {"max_depth": -1}}


pytestmark = pytest.mark.usefixtures("fits_in_this_process")


@pytest.fixture
def make(small_config):
    return partial(small_config, "a [b]", models=[TREE], repeats=15)


def states(config, failed=0):
    """Progress of a run in which every cell has the same accuracy."""
    planned = plan(config)
    yield Progress(planned, 0)
    for done, key in enumerate(planned.pending, 1):
        yield Progress(planned, done, failed, key, Outcome({"accuracy": 0.8, "realised_rate": 0.1}))


def show(display, config, **options):
    with display:
        for state in states(config, **options):
            display(state)


def test_plain_lines_without_a_terminal(make, capsys):
    display = create_display("a [b]")
    assert type(display) is Lines
    show(display, make())
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert lines[0] == "a [b]: 0 of 30 cells done, 0 failed"
    assert lines[-1] == "a [b]: 30 of 30 cells done, 0 failed"
    assert len(lines) == 11
    assert out == ""


def test_a_bar_on_a_terminal(make, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    display = create_display("a [b]")
    assert type(display) is Bar
    show(display, make(), failed=2)
    text = capsys.readouterr().err
    assert "a [b]" in text
    assert "30/30" in text
    assert "2 failed" in text
    assert "0 cached" in text
    assert "lowest mean ELA so far: a [tree] 0.250" in text


def test_leaders_are_updated_from_time_to_time(make, monkeypatch, capsys):
    updates = []
    monkeypatch.setattr(module, "SECONDS_BETWEEN_LEADERS", 1000.0)
    monkeypatch.setattr("boostnoise.eval.report.leaders.Leaders.best", lambda self: updates.append(1) or [])
    show(Bar("run"), make())
    assert len(updates) == 2  # at the start and at the end


def location(config):
    return f"Results are in {config.output_dir}; open {config.output_dir}/report.html to view them"


def test_quiet_prints_only_the_location(make, capsys):
    display = create_display("run", quiet=True)
    assert type(display) is Display
    display.show_warning("look out")
    config = make(repeats=1)
    with display:
        done = run(config, n_jobs=1, progress=display)
    assert capsys.readouterr() == ("", "")
    display.show_results(done, [])
    assert capsys.readouterr() == (f"{location(config)}\n", "")


def test_quiet_prints_failures(make, capsys):
    config = make(models=[TREE, BAD], repeats=1)
    display = Display("run")
    display.show_results(run(config, n_jobs=1), [])
    display.show_error("one\ntwo")
    display.show_interruption("noisyeval run.json")
    assert capsys.readouterr().err.splitlines() == [
        "noisyeval: 2 of 4 cells failed; see the errors in scores.csv",
        "noisyeval: error: one",
        "noisyeval: error: two",
        "",
        "Interrupted. Finished cells are kept; resume with: noisyeval run.json",
    ]


def test_lines_end_with_the_tables(make, capsys):
    config = make(models=[TREE, BAD], repeats=1)
    Lines("run").show_results(run(config, n_jobs=1), [])
    out = capsys.readouterr().out
    assert out.startswith("Tested on the labels of the data, which may be wrong; noisyaudit estimates how many")
    assert "ELA, equalised loss of accuracy" in out
    assert "bad on iris, 2 cells: InvalidParameterError" in out
    assert out.endswith(f"{location(config)}\n")


def test_events(make, capsys):
    no_pictures = {"ela_fig": {"save_fig": False}, "rla_fig": {"save_fig": False}}
    config = make(models=[TREE, BAD], repeats=1, tables=["mean_ela", "accuracy"], **no_pictures)
    run(make(repeats=1), n_jobs=1)
    display = create_display("run", as_json=True)
    assert type(display) is Events
    display.show_warning("look out")
    with display:
        done = run(config, n_jobs=1, progress=display)
    display.show_results(done, write_report(done))
    display.show_error("one\ntwo")
    display.show_interruption("noisyeval run.json")
    out, err = capsys.readouterr()
    assert err == ""
    warning, start, *cells, end, one, two, interrupted = map(json.loads, out.splitlines())
    assert warning == {"event": "warning", "message": "look out"}
    assert start == {"event": "start", "run": "run", "cached": 2, "done": 2, "failed": 0, "total": 4}
    assert [cell["event"] for cell in cells] == ["cell", "cell"]
    assert {(cell["model"], cell["accuracy"], cell["noise_kind"]) for cell in cells} == {
        ("bad", None, "uniform")
    }
    assert all("max_depth" in cell["error"] for cell in cells)
    assert [(cell["done"], cell["failed"], cell["total"]) for cell in cells] == [(3, 1, 4), (4, 2, 4)]
    assert (end["event"], end["failed"], end["results_dir"]) == ("end", 2, str(config.output_dir))
    assert f"{config.output_dir}/scores.csv" in end["files"]
    assert end["report"] == f"{config.output_dir}/report.html" == end["files"][-1]
    rows = {(row["model"], row["noise_rate"]): row["ela"] for row in end["tables"]["mean_ela"]}
    assert rows["bad", 0.2] is None
    assert rows["a [tree]", 0.2] > 0
    assert len(end["tables"]["accuracy"]) == 4
    assert [one, two] == [{"event": "error", "message": "one"}, {"event": "error", "message": "two"}]
    assert interrupted == {"event": "interrupted", "resume_with": "noisyeval run.json"}


def test_nothing_to_do(capsys):
    Lines("run")(SimpleNamespace(done=0, total=0, failed=0))
    assert capsys.readouterr().err == "run: 0 of 0 cells done, 0 failed\n"


def test_a_bar_in_a_notebook(make, monkeypatch):
    display, outputs = Notebook("<b>"), []

    class Output:
        def update(self, content, raw):
            assert raw
            outputs.append(content)

    def show_first(content, raw, display_id):
        assert raw
        assert display_id
        outputs.append(content)
        return Output()

    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=show_first))
    monkeypatch.setattr(module, "SECONDS_BETWEEN_BARS", 0.0)
    config = make(repeats=1)
    with display:
        run(config, n_jobs=1, progress=display)
    first, *_, last = outputs
    assert first["text/plain"] == "<b>: 0 of 2 cells done, 0 failed"
    assert last["text/html"] == '<progress value="2" max="2"></progress> &lt;b&gt;: 2 of 2 cells done, 0 failed'
    assert len(outputs) == 3
    outputs.clear()
    again = Notebook("again")
    run(config, n_jobs=1, progress=again)
    assert outputs == []  # there was nothing to wait for


@pytest.mark.parametrize(
    ("is_jupyter", "is_terminal", "expected"),
    [(True, False, Notebook), (False, True, Bar), (False, False, Display)],
)
def test_displays_in_python(monkeypatch, is_jupyter, is_terminal, expected):
    console = SimpleNamespace(is_jupyter=is_jupyter, is_terminal=is_terminal)
    monkeypatch.setattr(module, "Console", lambda **_: console)
    monkeypatch.setattr(module, "Bar", lambda name: Bar.__new__(Bar))
    assert type(create_python_display("run")) is expected
