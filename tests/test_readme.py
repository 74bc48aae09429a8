"""The commands and examples of the README and of the guides in docs/ run as they stand.

The first two commands of the README, which install the project, are run by `.ci/run`; they are compared with it here.
Code cells of the guides are run by the build of the site. Only examples that start a cluster need a process of their
own; the others run in this one, fits included, with fewer repeats and candidates.
"""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from boostnoise import compare
from boostnoise.eval.cli.audit import main as noisyaudit

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
STUDY = {
    "datasets": ["iris"],
    "models": ["decision_tree"],
    "noise": [{"kind": "uniform", "rates": [0.2]}],
    "repeats": 1,
}
# Stands for dask-jobqueue, which needs a batch system.
JOBQUEUE = """\
from distributed import LocalCluster


class SLURMCluster(LocalCluster):
    def __init__(self, *, cores, processes, memory, walltime):
        super().__init__(n_workers=processes, threads_per_worker=cores, dashboard_address=None,
                         scheduler_kwargs={"dashboard_address": "127.0.0.1:0"})

    def adapt(self, *, maximum):
        pass
"""
# A cluster without a dashboard listens on this port all the same, and on another one if it is taken.  Workers log
# errors if their scheduler stops before them.
OTHER_CLUSTERS = {
    "PYTHONWARNINGS": "ignore:Port 8787 is already in use",
    "DASK_LOGGING__DISTRIBUTED": "critical",
}
# XGBoost's workers report that they have started.
EXPECTED = re.compile(r"Task \[xgboost\.dask-")


def blocks(page, language):
    """Return the code blocks of a page in one language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


EXAMPLES = {
    f"{page.stem}-{number}": example
    for page in (README, *sorted((ROOT / "docs").glob("*.md")))
    for number, example in enumerate(blocks(page, "python"), 1)
}


def test_no_block_is_left_out():
    kinds = re.findall(r"^```(\w+)$", README.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert kinds == ["bash", "bash", "bash", "python", "json", "bash", "python", "python"]
    assert len(EXAMPLES) > 7


def test_continuous_integration_runs_the_commands_that_install(root):
    script = (root / ".ci" / "run").read_text()
    assert [int(n) for n in re.findall(r"command_of_readme (\d)\)", script)] == [1, 2]
    commands = blocks(README, "bash")[:2]
    assert all(command.startswith("python3 -m venv .venv && ") for command in commands)
    assert commands[0].strip().endswith("noisyeval configs/quickstart.json")


@pytest.mark.release
def test_own_data(tmp_path, noisyeval):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    spam = np.where(X[:, 0] + X[:, 1] > 0, "spam", "ham")
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=spam).to_csv(tmp_path / "spam.csv", index=False)
    command, *arguments = blocks(README, "bash")[3].split()
    assert command == "noisyeval"
    study = json.loads(blocks(README, "json")[0])
    (tmp_path / arguments[0]).write_text(json.dumps(study | {"repeats": 1}))
    done = noisyeval(tmp_path, *arguments)
    assert done.exit_code == 0, done.output
    results = tmp_path / "results"
    written = {path.name for path in [*(results / "my_study").iterdir(), *results.glob("*.*")]}
    guide = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    table = guide.split("\n## Results\n")[1].split("\n## ")[0]
    assert written == set(
        re.findall(r"`(\w+\.(?:csv|parquet|png|svg|pdf|sqlite|sqlite-claims|tex|html))`", table)
    )


def test_the_audit(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    spam = np.where((X[:, 0] > 0) ^ (rng.random(200) < 0.1), "spam", "ham")
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=spam).to_csv(tmp_path / "spam.csv", index=False)
    command, *arguments = blocks(README, "bash")[2].split()
    assert command == "noisyaudit"
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(noisyaudit, arguments)
    assert done.exit_code == 0, done.output
    guide = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    written = {path.name for path in (tmp_path / "results" / "spam_audit").iterdir()}
    described = re.findall(r"^\| `(\w+\.\w+)` \| (with `--)?", guide, flags=re.MULTILINE)
    assert written == {name for name, needs_an_option in described if not needs_an_option}


@pytest.fixture
def printed(tmp_path, monkeypatch, capfd, fits_in_this_process):
    """Runs `example.py` and returns what it printed and the lines of its errors."""

    def alone():
        command = [sys.executable, "example.py"]
        done = subprocess.run(command, env=os.environ | OTHER_CLUSTERS, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    def here():
        runpy.run_path("example.py", run_name="__main__")
        return capfd.readouterr()

    def run():
        monkeypatch.chdir(tmp_path)
        monkeypatch.setitem(compare.__kwdefaults__, "repeats", 1)
        monkeypatch.setattr("boostnoise.boosting.loss_parameters.Q_CANDIDATES", (0.0, 0.7))
        # The processes of a cluster import the file, so those examples ask for their name.
        out, err = alone() if "__main__" in Path("example.py").read_text() else here()
        return out, [line for line in err.splitlines() if line and not EXPECTED.search(line)]

    return run


@pytest.mark.release
@pytest.mark.filterwarnings("ignore:reference was fitted with")
@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_examples(example, tmp_path, printed):
    (tmp_path / "study.json").write_text(json.dumps(STUDY))
    (tmp_path / "dask_jobqueue.py").write_text(JOBQUEUE)
    (tmp_path / "example.py").write_text(example)
    out, errors = printed()
    assert errors == []
    files = {path.name for path in tmp_path.rglob("*")}
    if 'savefig("accuracy.png")' in example:
        assert "robust_forest" in out
        assert {"accuracy.png", "report.html", "store.sqlite"} < files
    elif "study.json" in example:
        assert {"rla.png", "report.html", "store.sqlite"} < files
    else:
        assert float(out.split()[-1]) > 0.9
