"""What tests of several modules share."""

import copy
import gc
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from robust_splits import plugins

# Threads that wait for one another do not take the cores from processes that share the tests.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Other work on the machine makes no test fail.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")

ROOT = Path(__file__).parent.parent


def pytest_make_parametrize_id(val, argname):
    """No addresses in the names of tests: processes that share the tests must call them the same."""
    return argname if " at 0x" in repr(val) else None


def pytest_collection_finish():
    """No look for garbage among what was imported: some libraries look at each call of theirs."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture(autouse=True)
def seeded():
    """Seeds NumPy's global generator, so that models without a seed are reproducible."""
    np.random.seed(0)


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    """Keeps what commands remember out of the user's cache."""
    os.environ["BOOSTNOISE_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def plugin_package(tmp_path, monkeypatch):
    """Installs a package: its name, its source, and the names that its entry points define, by group."""

    def install(name, source, **groups):
        (tmp_path / f"{name}.py").write_text(source)
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n")
        lines = []
        for group, objects in groups.items():
            lines += [f"[boostnoise.{group}]", *(f"{key} = {value}" for key, value in objects.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        if str(tmp_path) not in sys.path:
            monkeypatch.syspath_prepend(tmp_path)
        importlib.invalidate_caches()
        forget()

    def forget():
        plugins._points.cache_clear()

    yield install
    monkeypatch.undo()
    forget()


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder of real data sets, test vectors and published numbers, which not every checkout has."""
    path = os.environ.get("BOOSTNOISE_DATA")
    if not path:
        pytest.skip("BOOSTNOISE_DATA does not name the folder of data and test vectors")
    if not Path(path).is_dir():
        pytest.fail(f"the folder of data and test vectors is not there: BOOSTNOISE_DATA={path!r}")
    return Path(path)


@pytest.fixture(scope="session")
def draw_overlapping():
    """Draws clean labels of classes that overlap, noisy labels, and the probabilities of the noisy labels."""

    def draw(T, n=30_000, sharpness=6.0):
        rng = np.random.default_rng(0)
        logits = sharpness * rng.normal(size=(n, len(T)))
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        clean = (rng.random(n)[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
        y = (rng.random(n)[:, None] > np.cumsum(T, axis=1)[clean][:, :-1]).sum(axis=1)
        return clean, y, p @ T

    return draw


@pytest.fixture(scope="session")
def start_dask(tmp_path_factory):
    """A function that starts a Dask cluster and returns its client, in a context."""
    distributed = pytest.importorskip("distributed")

    @contextmanager
    def start(n_workers=2, *, processes=True):
        cluster = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=processes,
            host="127.0.0.1" if processes else None,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # else its port is that of any other cluster
            local_directory=tmp_path_factory.mktemp("dask"),
        )
        with cluster, distributed.Client(cluster, timeout=30) as client:
            yield client

    return start


@pytest.fixture(scope="module")
def dask_client(start_dask):
    """The client of a Dask cluster of two processes."""
    with start_dask() as client:
        yield client


@pytest.fixture(scope="session")
def command():
    """The path of the command."""
    return Path(sys.executable).with_name("noisyeval")


def _fit(cells, datasets, **_):
    from boostnoise.eval.execution.cell import run_cell

    for key, job in cells:
        yield key, run_cell(job, datasets[job.dataset])


def _refusal(function, *arguments, **options):
    from boostnoise.eval.errors import ConfigError

    with pytest.raises(ConfigError) as error:
        function(*arguments, **options)
    (line,) = str(error.value).splitlines()
    return line


@pytest.fixture(scope="session")
def refusal():
    """Calls a function, which must raise a ConfigError of one line, and returns that line."""
    return _refusal


@pytest.fixture
def fits_in_this_process(monkeypatch):
    """Runs start no worker, which takes seconds to load what this process has loaded already."""
    for module in ("execution.runner", "bundles.verification"):
        monkeypatch.setattr(f"boostnoise.eval.{module}.fit_locally", _fit)


@pytest.fixture
def trials_in_this_process(monkeypatch):
    """Trials of a forecast start no process either."""
    from boostnoise.eval.execution.cell import run_cell
    from boostnoise.eval.execution.shared_data import open_shared

    class WorkerHere:
        def __init__(self, shared, threads, limits):
            self.datasets = open_shared(shared.fileno(), shared.layout)

        def fit(self, key, job):
            return run_cell(job, self.datasets[job.dataset])

        def kill(self):
            pass

    monkeypatch.setattr("boostnoise.eval.execution.forecast.WorkerHandle", WorkerHere)


def _in_this_process(folder, *arguments, **options):
    # Imported here, so that modules which need no evaluation do not load it.
    from click.testing import CliRunner

    from boostnoise.eval.cli.main import main

    finders, on_sigterm = list(sys.meta_path), signal.getsignal(signal.SIGTERM)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("MPLBACKEND", "agg")  # set back to what it was
        patch.setattr("boostnoise.eval.execution.runner.fit_locally", _fit)
        patch.setattr("boostnoise.eval.bundles.verification.fit_locally", _fit)
        try:
            done = CliRunner(**options).invoke(main, [*map(str, arguments)])
        finally:
            sys.meta_path[:] = finders
            signal.signal(signal.SIGTERM, on_sigterm)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return done


@pytest.fixture(scope="session")
def noisyeval():
    """Runs the command in a folder, in this process, fits included; options are those of click's CliRunner."""
    return _in_this_process


@pytest.fixture(scope="session")
def process(command):
    """Runs the command in a folder, in a process of its own; options are those of subprocess.run."""

    def run(folder, *arguments, **options):
        options = {"capture_output": True, "text": True, "timeout": 300, **options}
        return subprocess.run([command, *map(str, arguments)], cwd=folder, **options)

    return run


SLOW_TO_IMPORT = [
    "numba", "xgboost", "lightgbm", "catboost", "cleanlab", "sklearn", "pandas", "pydantic", "scipy", "scipy.stats",
    "matplotlib", "matplotlib.pyplot", "seaborn", "statsmodels", "scikit_posthocs",
]  # fmt: skip


@pytest.fixture(scope="session")
def slow_imports():
    """Runs code in a new process, and returns the libraries it has loaded that take long to import."""

    def run(code, **options):
        code += f"\nimport sys; print(*set({SLOW_TO_IMPORT}) & set(sys.modules))"
        options = {"capture_output": True, "text": True, **options}
        done = subprocess.run([sys.executable, "-c", code], **options)
        assert (done.returncode, done.stderr) == (0, "")
        return set(done.stdout.split())

    return run


class Cluster:
    """A Dask scheduler, and workers that come and go, each in a process of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.workers = []
        options = ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", "s.json"]
        self.scheduler = self._start("scheduler", *options)
        path = folder / "s.json"
        while not path.exists():
            assert self.scheduler.poll() is None
            time.sleep(0.05)
        self.address = json.loads(path.read_text())["address"]

    def _start(self, kind, *arguments):
        path = [str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments, "--no-dashboard"],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
            stderr=subprocess.DEVNULL,
        )

    def add_worker(self):
        options = ["--nthreads", "1", "--no-nanny", "--local-directory", f"worker{len(self.workers)}"]
        self.workers.append(self._start("worker", self.address, *options))

    def lose_worker(self, i=-1):
        self.workers[i].kill()
        self.workers[i].wait()

    def stop(self):
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def start_cluster():
    """Starts a Dask cluster without workers, in a folder whose modules its workers know."""
    return Cluster


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A Dask cluster that has no worker yet; modules in the folder of the test are known to all."""
    monkeypatch.syspath_prepend(tmp_path)
    cluster = Cluster(tmp_path)
    yield cluster
    cluster.stop()


@pytest.fixture
def small_config(tmp_path):
    """Makes a config of one data set, one tree and two rates of noise; its arguments are keys of a config."""
    # Imported here, so that modules which need no evaluation do not load it.
    from boostnoise.eval.config.run import parse_config

    def make(name="run", **changes):
        content = {
            "datasets": ["iris"],
            "models": [{"name": "tree", "module": "sklearn.tree", "model": "DecisionTreeClassifier"}],
            "noise": [{"kind": "uniform", "rates": [0.2]}],
            "repeats": 2,
            "results_dir": str(tmp_path / "results"),
        }
        return parse_config(content | changes, name)

    return make


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium, the system's own."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        reason = "there is no Chromium to open pages with"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # root, which containers run as, has no sandbox
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="session")
def made_scores():
    """Makes scores of models on data sets, as a run returns them, from a seed: the first model is the best."""
    # Imported here, so that modules which need no evaluation do not load them.
    import numpy as np
    import pandas as pd

    def make(
        models=("a", "b"), datasets=("iris", "wine"), kinds=("uniform",), rates=(0.0, 0.1, 0.4), repeats=3
    ):
        rng = np.random.default_rng(0)
        rows = [
            {
                "dataset": dataset,
                "noise_kind": kind,
                "noise_rate": rate,
                "realised_rate": rate,
                "repeat": repeat,
                "model": model,
                "accuracy": 0.9
                - rate / 2
                - 0.3 * i / len(models)
                - 0.02 * j / len(datasets)
                - rng.uniform(0, 0.01),
                "macro_f1": 0.8 - rate / 2,
                "fit_seconds": 10.0 ** (i % 5 - 2) * rng.uniform(1, 1.5),
                "error": None,
            }
            for j, dataset in enumerate(datasets)
            for kind in kinds
            for rate in rates
            for repeat in range(repeats)
            for i, model in enumerate(models)
        ]
        return pd.DataFrame(rows)

    return make


def places(value, path=()):
    """The paths to all that is nested in a value, outermost first."""
    yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


@st.composite
def _mutated(draw, config, values, keys):
    config = copy.deepcopy(config)
    for _ in range(draw(st.integers(1, 3))):
        inner = list(places(config))[1:]
        if not inner:
            break
        *path, last = draw(st.sampled_from(inner))
        around = config
        for key in path:
            around = around[key]
        match draw(st.sampled_from(["drop", "retype", "nest", "rename", "add", "duplicate"])):
            case "drop":
                del around[last]
            case "retype":
                around[last] = copy.deepcopy(draw(values))
            case "nest":
                around[last] = draw(st.sampled_from([[around[last]], {"params": around[last]}]))
            case "rename" if isinstance(around, dict):
                around[draw(keys)] = around.pop(last)
            case "duplicate" if isinstance(around, list):
                around.append(copy.deepcopy(around[last]))
            case _:
                around = around[last] if isinstance(around[last], dict | list) else around
                if isinstance(around, dict):
                    around[draw(keys)] = copy.deepcopy(draw(values))
                else:
                    around.append(copy.deepcopy(draw(values)))
    return config


@pytest.fixture(scope="session")
def mutated():
    """Makes a strategy of a config, values and keys: the config after one to three changes of its structure."""
    return _mutated
