"""Every command and example of the README.

Its first two commands, which install the project, are run by `.ci/run`; they are compared with it here.
"""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def blocks(language):
    return [text for kind, text in BLOCKS if kind == language]


def test_no_block_is_left_out():
    assert [kind for kind, _ in BLOCKS] == ["bash", "bash", "json", "bash", *["python"] * 6]


def test_continuous_integration_runs_the_commands_that_install(root):
    script = (root / ".ci" / "run").read_text()
    assert [int(n) for n in re.findall(r"command_of_readme (\d)\)", script)] == [1, 2]
    assert all(command.startswith("python3 -m venv .venv && ") for command in blocks("bash")[:2])
    assert blocks("bash")[0].strip().endswith("noisyeval configs/quickstart.json")


def test_own_data(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    spam = np.where(X[:, 0] + X[:, 1] > 0, "spam", "ham")
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=spam).to_csv(tmp_path / "spam.csv", index=False)
    (tmp_path / "my_study.json").write_text(blocks("json")[0])
    command = blocks("bash")[2].split()
    command[0] = Path(sys.executable).with_name(command[0])
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results = tmp_path / "results"
    written = {path.name for path in [*(results / "my_study").iterdir(), *results.glob("*.*")]}
    named = re.findall(r"`(\w+\.(?:csv|parquet|png|svg|pdf|sqlite|html))`", README)
    assert written == set(named) - {"spam.csv"}


@pytest.mark.parametrize(
    "example", blocks("python"), ids=["forest", "criterion", "boosters", "hooks", "dask", "compare"]
)
def test_examples(example, tmp_path):
    (tmp_path / "example.py").write_text(example)
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # XGBoost's workers say that they are there, however quiet they are told to be.
    assert [line for line in done.stderr.splitlines() if line and "Task [xgboost.dask-" not in line] == []
    if "compare(" in example:
        assert "robust_forest" in done.stdout
        assert {"accuracy.png", "report.html", "results"} < {path.name for path in tmp_path.iterdir()}
    else:
        assert float(done.stdout.split()[-1]) > 0.9
