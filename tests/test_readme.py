"""The commands and examples of the README and of the guides in docs/ run as they stand.

The first two commands of the README, which install the project, are run by `.ci/run`; they are compared with it here.
Code cells of the guides are run by the build of the site.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

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
        super().__init__(n_workers=processes, threads_per_worker=cores, dashboard_address=None)

    def adapt(self, *, maximum):
        pass
"""
# XGBoost's workers report that they have started, Dask's nannies that a worker stops slowly on a busy machine.
EXPECTED = re.compile(r"Task \[xgboost\.dask-|distributed\.nanny - WARNING - Worker process still alive")


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
    assert kinds == ["bash", "bash", "python", "json", "bash", "python", "python"]
    assert len(EXAMPLES) > 7


def test_continuous_integration_runs_the_commands_that_install(root):
    script = (root / ".ci" / "run").read_text()
    assert [int(n) for n in re.findall(r"command_of_readme (\d)\)", script)] == [1, 2]
    commands = blocks(README, "bash")[:2]
    assert all(command.startswith("python3 -m venv .venv && ") for command in commands)
    assert commands[0].strip().endswith("noisyeval configs/quickstart.json")


def test_own_data(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    spam = np.where(X[:, 0] + X[:, 1] > 0, "spam", "ham")
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=spam).to_csv(tmp_path / "spam.csv", index=False)
    (tmp_path / "my_study.json").write_text(blocks(README, "json")[0])
    command = blocks(README, "bash")[2].split()
    command[0] = Path(sys.executable).with_name(command[0])
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results = tmp_path / "results"
    written = {path.name for path in [*(results / "my_study").iterdir(), *results.glob("*.*")]}
    guide = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    table = guide.split("\n## Results\n")[1].split("\n## ")[0]
    assert written == set(re.findall(r"`(\w+\.(?:csv|parquet|png|svg|pdf|sqlite|html))`", table))


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_examples(example, tmp_path):
    (tmp_path / "study.json").write_text(json.dumps(STUDY))
    (tmp_path / "dask_jobqueue.py").write_text(JOBQUEUE)
    (tmp_path / "example.py").write_text(example)
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if line and not EXPECTED.search(line)] == []
    files = {path.name for path in tmp_path.rglob("*")}
    if "compare(" in example:
        assert "robust_forest" in done.stdout
        assert {"accuracy.png", "report.html", "store.sqlite"} < files
    elif "study.json" in example:
        assert {"rla.png", "report.html", "store.sqlite"} < files
    else:
        assert float(done.stdout.split()[-1]) > 0.9
