"""Test what noisyeval loses when it is killed, a disk is full or a store is damaged; see README.md here."""

from __future__ import annotations

import json
import math
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click
import pandas as pd

from boostnoise.eval import ConfigError, Run, load_run

COMMAND = Path(sys.executable).with_name("noisyeval")
TIMES = ["fit_seconds", "predict_seconds"]
CELLS_PER_REPEAT = 30

# A disk that is full at first, in a mount namespace of its own; the results are copied out of it at the end.
FULL_DISK = """
mkdir results && mount -t tmpfs -o size="$3k" none results || exit 99
"$1" study.json -q -j "$2" && exit 98
mount -o remount,size=64m results && "$1" study.json -q -j "$2" && cp -r results copied
"""


class Study:
    """A config and its results, in a folder of its own.

    Parameters
    ----------
    folder : Path
        A folder that does not exist yet.
    repeats : int
    jobs : int
        Cells fitted in parallel.
    """

    def __init__(self, folder: Path, repeats: int, jobs: int) -> None:
        self.folder, self.results, self.jobs = folder, folder / "results", jobs
        folder.mkdir()
        models = [
            {"name": f"{n} trees", "model": "robust_forest", "params": {"n_estimators": n, "passes": 1}}
            for n in (5, 10, 20, 40, 80)
        ]
        content = {
            "datasets": ["iris", "wine", "breast_cancer"],
            "models": models,
            "noise": [{"kind": "uniform", "rates": [0.0, 0.2]}],
            "repeats": repeats,
        }
        (folder / "study.json").write_text(json.dumps(content))

    def start(self) -> subprocess.Popen[str]:
        """Start the command."""
        line = [str(COMMAND), "study.json", "-j", str(self.jobs)]
        output = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(line, cwd=self.folder, **output)  # noqa: S603

    def run(self) -> int:
        """Run the command to its end; return its exit status."""
        process = self.start()
        process.communicate()
        return process.returncode

    def load(self) -> Run:
        """The run in the store."""
        return load_run(self.results)

    def scores(self) -> pd.DataFrame:
        """Scores without times."""
        return self.load().scores.drop(columns=TIMES)

    def cells(self) -> set[tuple[str, float]]:
        """Keys and accuracies of the finished cells."""
        if not (self.results / "store.sqlite").exists():
            return set()
        with closing(sqlite3.connect(self.results / "store.sqlite")) as connection:
            return set(connection.execute("SELECT key, accuracy FROM cells WHERE error IS NULL"))


class Trials:
    """Trials of faults, and a table of what they cost.

    Parameters
    ----------
    folder : Path
    repeats, jobs : int
        See `Study`.
    seed : int
    """

    def __init__(self, folder: Path, repeats: int, jobs: int, seed: int) -> None:
        self.folder, self.repeats, self.jobs = folder, repeats, jobs
        self.draw = random.Random(seed)  # noqa: S311
        self.n_problems = 0
        whole = self.study("whole")
        start = time.monotonic()
        whole.run()
        self.seconds, self.whole = time.monotonic() - start, whole.scores()

    def study(self, name: str) -> Study:
        """Make a new study."""
        return Study(self.folder / name, self.repeats, self.jobs)

    def try_fault(self, name: str, fault: Callable[[Study], tuple[int, list[str]]]) -> None:
        """Try a fault, compare the scores with those of the undisturbed run, and print a line of the table.

        Parameters
        ----------
        name : str
        fault : callable
            Disturbs runs of a study, finishes them, and returns the number of faults and what went wrong.
        """
        start = time.monotonic()
        study = self.study(name.replace(" ", "_"))
        n_faults, problems = fault(study)
        if not study.scores().equals(self.whole):
            problems.append("scores differ from those of the undisturbed run")
        self.n_problems += len(problems)
        lost = "; ".join(dict.fromkeys(problems)) or "nothing"
        print(f"{name:28s} {n_faults:6d} {time.monotonic() - start:8.0f}  {lost}", flush=True)  # noqa: T201

    def stop_at_random(self, study: Study, n: int, stop: int, status: int) -> tuple[int, list[str]]:
        """Stop runs with a signal after random times."""
        problems = []
        for _ in range(n):
            before = study.cells()
            if len(before) == len(self.whole):  # all is done: from the start again
                shutil.rmtree(study.results)
                before = set()
            process = study.start()
            time.sleep(self.draw.uniform(0, self.seconds))
            process.send_signal(stop)
            process.communicate()
            if process.returncode not in (status, 0):
                problems.append(f"exit status {process.returncode}")
            if not before <= study.cells():
                problems.append("finished cells were lost")
        study.run()
        return n, problems

    def two_processes(self, study: Study, n: int) -> tuple[int, list[str]]:
        """Run two processes at once, each time with a new store."""
        problems = []
        for _ in range(n):
            shutil.rmtree(study.results, ignore_errors=True)
            processes = [study.start(), study.start()]
            for process in processes:
                process.communicate()
            if any(process.returncode for process in processes):
                problems.append("a process failed")
            fitted = [session.fitted for session in study.load().sessions]
            if sum(fitted) != len(self.whole):
                problems.append(f"fitted {' + '.join(map(str, fitted))} of {len(self.whole)} cells")
        return n, problems

    def one_of_two_killed(self, study: Study, n: int) -> tuple[int, list[str]]:
        """Kill one of two processes after a random time."""
        problems = []
        for _ in range(n):
            shutil.rmtree(study.results, ignore_errors=True)
            processes = [study.start(), study.start()]
            time.sleep(self.draw.uniform(0, self.seconds))
            processes[0].kill()
            processes[0].communicate()
            processes[1].communicate()
            if processes[1].returncode:
                problems.append("the other process failed")
        return n, problems

    def results_deleted(self, study: Study, n: int) -> tuple[int, list[str]]:
        """Delete the results folder in the middle of a run."""
        problems = []
        for _ in range(n):
            shutil.rmtree(study.results, ignore_errors=True)
            process = study.start()
            while len(study.cells()) < len(self.whole) // 3 and process.poll() is None:
                time.sleep(0.02)
            shutil.rmtree(study.results)
            _, said = process.communicate()
            if process.returncode or "was moved or deleted" not in said:
                problems.append(f"exit status {process.returncode}, said {said!r}")
        return n, problems

    def full_disk(self, study: Study, n: int) -> tuple[int, list[str]]:
        """Run on small disks, and again with more room."""
        problems = []
        for _ in range(n):
            size = self.draw.randrange(8, 200)  # KiB
            for name in ("results", "copied"):
                shutil.rmtree(study.folder / name, ignore_errors=True)
            script = ["sh", "-c", FULL_DISK, "sh", str(COMMAND), str(study.jobs), str(size)]
            line = ["unshare", "--map-root-user", "--mount", *script]
            done = subprocess.run(line, cwd=study.folder, capture_output=True, text=True)  # noqa: S603
            if done.returncode:
                problems.append(f"{size} KiB: exit status {done.returncode} {done.stderr.strip()[-200:]}")
            else:
                study.results.rmdir()
                (study.folder / "copied").rename(study.results)
        return n, problems

    def damaged_store(self, study: Study, n: int) -> tuple[int, list[str]]:
        """Cut off the store, or change bytes of it: it is refused and left alone, or what is read is right."""
        study.run()
        store = study.results / "store.sqlite"
        content = store.read_bytes()
        problems = []
        for i in range(n):
            damaged = bytearray(content)
            if i % 4:
                for _ in range(self.draw.choice([1, 10, 1000])):
                    damaged[self.draw.randrange(len(damaged))] = self.draw.randrange(256)
            else:
                damaged = damaged[: self.draw.choice([0, 1, self.draw.randrange(len(damaged))])]
            store.write_bytes(damaged)
            try:
                scores = study.scores()
                is_finished = scores["error"].isna()
                if not scores[is_finished].equals(self.whole[is_finished]):
                    problems.append("a wrong score was read")
            except ConfigError:
                if i < 4 and study.run() != 2:
                    problems.append("the run used a damaged store")
                if store.read_bytes() != damaged:
                    problems.append("a damaged store was changed")
        store.write_bytes(content)
        return n, problems


@click.command()
@click.option("--repeats", default=4, show_default=True, help=f"Repeats of {CELLS_PER_REPEAT} cells each.")
@click.option("--rounds", default=10, show_default=True, help="Kills with each signal; fewer of other faults.")
@click.option("--jobs", default=2, show_default=True, help="Cells side by side in each process.")
@click.option("--seed", default=0, show_default=True)
def main(repeats: int, rounds: int, jobs: int, seed: int) -> None:
    """Try faults on small runs, and print what was lost.  The exit status is 1 if anything was."""
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(Path(folder), repeats, jobs, seed)
        n_cells = len(trials.whole)
        print(f"{n_cells} cells, {trials.seconds:.1f} s undisturbed\n")  # noqa: T201
        print(f"{'fault':28s} {'faults':>6s} {'seconds':>8s}  lost or wrong")  # noqa: T201
        stop, few = trials.stop_at_random, math.ceil(rounds / 3)
        trials.try_fault("kill -9", lambda study: stop(study, rounds, signal.SIGKILL, -signal.SIGKILL))
        trials.try_fault("Ctrl-C", lambda study: stop(study, rounds, signal.SIGINT, 130))
        trials.try_fault("two processes", lambda study: trials.two_processes(study, few))
        trials.try_fault("one of two killed", lambda study: trials.one_of_two_killed(study, few))
        trials.try_fault("results folder deleted", lambda study: trials.results_deleted(study, few))
        if shutil.which("unshare"):
            trials.try_fault("full disk", lambda study: trials.full_disk(study, few))
        else:
            print("full disk: not tried, which needs the command unshare of Linux")  # noqa: T201
        trials.try_fault("damaged store", lambda study: trials.damaged_store(study, 20 * rounds))
    print(f"\n{trials.n_problems or 'no'} problems")  # noqa: T201
    sys.exit(bool(trials.n_problems))


if __name__ == "__main__":
    main()
