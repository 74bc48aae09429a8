"""Speed and memory of the forest, against its peers and against itself; README.md here says how to read it.

The command prepares data sets and prints tables.  Forests are timed in workers: processes of this same file,
one for each library and data set, that fit a forest on request.  The worker of a peer needs only the peer,
scikit-learn and NumPy, so everything else is imported where it is used.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product, repeat
from pathlib import Path
from statistics import geometric_mean, linear_regression
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from _workers import Record, say, serve, worker
from learner_data import (
    DATA_VARIABLE,
    N_COLUMNS,
    SETS,
    SYNTHETIC,
    parquet,
    read_real,
    save,
    save_synthetic,
)

if TYPE_CHECKING:
    import click
    from numpy.typing import NDArray

OURS, PEER, INTELEX = "robust_splits", "scikit-learn", "scikit-learn-intelex"
# Distribution, module and class.
FORESTS = {
    OURS: ("boostnoise", "robust_splits", "RobustForestClassifier"),
    PEER: ("scikit-learn", "sklearn.ensemble", "RandomForestClassifier"),
    INTELEX: ("scikit-learn-intelex", "sklearnex.ensemble", "RandomForestClassifier"),
}
# Said in full, so that all grow the same trees whatever the defaults are.
FULL_TREES = {"max_features": "sqrt", "max_leaf_nodes": None, "min_samples_split": 2, "min_samples_leaf": 1}
SMALL_TREES = FULL_TREES | {"max_depth": 8, "min_samples_leaf": 5}
PLAIN = FULL_TREES | {"criterion": "gini", "shrinkage": 0.0, "passes": 1}
CRITERIA = """
    gini entropy misclassification sqrt_gini gce negative_exponential(0.25) negative_exponential(0.5)
    twoing credal pairwise
""".split()  # noqa: SIM905 - a list of words

SINGLE_ROWS = 20  # predicted one by one
SMALL = 1_000  # rows of a warm-up, and of a first fit
LIMITS = (2, 8, 32, 128, 512, 2048)  # of min_samples_split

Ask = Callable[..., Record]
Contenders = dict[str, tuple[str, Record]]  # by their label: a key of FORESTS, and parameters


def work(forest: str, path: str) -> None:
    """Fit a forest on the data in `path` for each request on standard input, and answer with what it took."""
    importlib.import_module("sklearn.ensemble")
    distribution, module, name = FORESTS[forest]
    package = importlib.import_module(module)
    begin = perf_counter()
    estimator = getattr(package, name)
    constant = {"import": perf_counter() - begin, "version": version(distribution)}
    with np.load(path) as data:
        X, y = data["X"], data["y"]

    def answer(request: Record) -> Record:
        some = slice(None, None, max(1, y.size // SMALL) if request["warm_up"] else 1)
        return constant | measure(estimator(**request["parameters"]), np.ascontiguousarray(X[some]), y[some])

    serve(answer)


def measure(model: Any, X: NDArray[np.float32], y: NDArray[np.int64]) -> Record:
    """Seconds of a fit and of predictions, by how much the fit raised the peak, and the size of the trees."""
    gc.collect()
    before, begin = peak_mb(), perf_counter()
    model.fit(X, y)
    taken = {"fit": perf_counter() - begin, "peak_mb": peak_mb() - before}
    is_ours = hasattr(model, "_stored_trees")
    trees = model._stored_trees() if is_ours else [estimator.tree_ for estimator in model.estimators_]
    taken["nodes"] = sum(tree.n_nodes if is_ours else tree.node_count for tree in trees)
    parts = [part for tree in trees for part in tree.__getstate__().values()]
    taken["trees_mb"] = sum(getattr(part, "nbytes", 0) for part in parts) / 1e6
    begin = perf_counter()
    model.predict_proba(X)
    taken["first_prediction"] = perf_counter() - begin
    begin = perf_counter()
    model.predict_proba(X)
    taken["predict_proba"] = perf_counter() - begin
    begin = perf_counter()
    for row in range(SINGLE_ROWS):
        model.predict_proba(X[row : row + 1])
    return taken | {"one_row": (perf_counter() - begin) / SINGLE_ROWS}


def peak_mb() -> float:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


@contextmanager
def forest_worker(
    path: Path, forest: str = OURS, python: str = sys.executable, **environment: str
) -> Iterator[Ask]:
    """Start a worker; what it gives is called with parameters of a forest and returns what `work` answers."""
    with worker(__file__, "worker", forest, str(path), python=python, **environment) as ask:

        def ask_for(*, warm_up: bool = False, **parameters: Any) -> Record:
            return ask(warm_up=warm_up, parameters=parameters)

        yield ask_for


@dataclass(frozen=True, kw_only=True)
class Study:
    """What the options say that the commands share."""

    rounds: int
    trees: int
    threads: int
    json_file: Path | None
    sets: str = ""
    synthetic: bool = False
    intelex_python: str | None = None
    max_bins: int | None = None

    @property
    def plain(self) -> Record:
        """The parameters of our plain forest."""
        return PLAIN | ({"max_bins": self.max_bins} if self.max_bins else {})

    @property
    def size(self) -> Record:
        """The parameters that all forests share."""
        return {"n_estimators": self.trees, "n_jobs": self.threads}

    def names(self) -> list[str]:
        """The names of the sets, of which each is known to be there."""
        import click

        if not self.synthetic and not os.environ.get(DATA_VARIABLE):
            raise click.UsageError(
                f"{DATA_VARIABLE} is not set: it names the folder with the data sets, data/NAME.parquet in it. "
                "Commands with --synthetic do without them."
            )
        names = self.sets.split(",") if self.sets else list(SYNTHETIC if self.synthetic else SETS)
        for name in names:
            if not (name in SYNTHETIC if self.synthetic else parquet(name).is_file()):
                raise click.UsageError(f"there is no data set {name if self.synthetic else parquet(name)}")
        return names

    def report(self, records: list[Record], columns: Sequence[str], **about: Any) -> None:
        """Print a table of some columns of the records, and write all to the file that was asked for."""
        import pandas as pd

        table = pd.DataFrame(records, columns=list(columns), dtype=object)
        say(table.to_string(index=False, na_rep="", float_format="{:.3g}".format))
        if self.json_file:
            versions = {name: version(name) for name in ("boostnoise", "numba", "numpy", "scikit-learn")}
            about |= {"rounds": self.rounds, **self.size, "cores": os.cpu_count(), "versions": versions}
            self.json_file.write_text(json.dumps(about | {"records": records}, indent=1) + "\n")


def spread(name: str, values: Sequence[float]) -> Record:
    """Median and quartiles."""
    low, middle, high = np.percentile(values, [25, 50, 75]).tolist()
    return {name: middle, f"{name}_q1": low, f"{name}_q3": high}


def column(several: Sequence[Record], name: str) -> list[float]:
    """What some records say under a name."""
    return [one[name] for one in several]


def contest(study: Study, contenders: Callable[[int], Contenders], base: str, *tasks: str) -> None:
    """Report the times of contenders, whom the number of classes decides, relative to those of one of them."""
    records: list[Record] = []
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    for name in study.names():
        with TemporaryDirectory() as folder:
            path = Path(folder, "data.npz")
            shape = save_synthetic(path, *SYNTHETIC[name]) if study.synthetic else save(path, *read_real(name))
            say(f"{name}: " + ", ".join(f"{number} {of}" for of, number in shape.items()))
            taken = take_turns(study, path, contenders(shape["classes"]))
        others = [label for label in taken if label != base]
        for task, label in product(tasks, others):
            record = compare(taken[label], taken[base], task)
            records.append({"set": name, **shape, "task": task, "forest": label, **record})
            ratios[task, label].append(record["ratio"])
    for (task, label), several in ratios.items():
        mean = geometric_mean(several)
        records.append({"set": "(geometric mean)", "task": task, "forest": label, "ratio": mean})
    say(f"ratio = seconds / seconds of {base}, within a round; median and quartiles of {study.rounds} rounds")
    columns = ("seconds", "base_seconds", "ratio", "ratio_q1", "ratio_q3", "nodes", "base_nodes")
    study.report(records, ("set", "task", "forest", *columns), base=base)


def take_turns(study: Study, path: Path, contenders: Contenders) -> dict[str, list[Record]]:
    """Warm all contenders up, then run one after the other, round after round."""
    taken: dict[str, list[Record]] = {label: [] for label in contenders}
    pythons = {INTELEX: study.intelex_python}
    with ExitStack() as stack:
        asks = {
            forest: stack.enter_context(forest_worker(path, forest, pythons.get(forest) or sys.executable))
            for forest in dict.fromkeys(forest for forest, _ in contenders.values())
        }
        for forest, parameters in contenders.values():
            asks[forest](warm_up=True, **study.size, **parameters)
        for seed in range(study.rounds):
            for label, (forest, parameters) in contenders.items():
                taken[label].append(asks[forest](random_state=seed, **study.size, **parameters))
    return taken


def compare(own: list[Record], base: list[Record], task: str) -> Record:
    """Times and sizes of a contender and of the base, and the ratios of the times."""
    ratios = np.divide(column(own, task), column(base, task)).tolist()
    return {
        "version": own[0]["version"],
        **spread("seconds", column(own, task)),
        **spread("base_seconds", column(base, task)),
        **spread("ratio", ratios),
        "ratios": ratios,
        "nodes": round(np.mean(column(own, "nodes"))),
        "base_nodes": round(np.mean(column(base, "nodes"))),
    }


def peers(**options: Any) -> None:
    """Time of peers relative to ours; above 1, ours is faster."""
    study = Study(**options)
    others = (PEER, INTELEX) if study.intelex_python else (PEER,)
    some = {forest: (forest, FULL_TREES) for forest in others} | {OURS: (OURS, study.plain)}
    contest(study, lambda _: some, OURS, "fit", "first_prediction", "predict_proba", "one_row")


def criteria(**options: Any) -> None:
    """Time of a fit with each criterion relative to gini, on small trees."""

    def some(n_classes: int) -> Contenders:
        names = [name for name in CRITERIA if n_classes == 2 or name != "pairwise"]
        return {name: (OURS, PLAIN | SMALL_TREES | {"criterion": name}) for name in names}

    contest(Study(**options), some, "gini", "fit")


def extras(**options: Any) -> None:
    """Time of a fit that chooses shrinkage, node size or criterion, or of the defaults; 1 is a plain one."""
    adapting = {
        "plain": {},
        "shrinkage=auto": {"shrinkage": "auto"},
        "one pass": {"shrinkage": "auto", "min_samples_split": "auto"},
        "defaults": {"shrinkage": "auto", "min_samples_split": "auto", "passes": "auto"},
        "criterion=ane": {"criterion": "ane"},
    }
    some = {label: (OURS, PLAIN | changed) for label, changed in adapting.items()}
    contest(Study(**options), lambda _: some, "plain", "fit")


def nodes(**options: Any) -> None:
    """Time of a fit that splits no node of less than 8, 32, ... rows, relative to ours that splits all."""
    study = Study(**options)
    some = {
        f"{forest} {limit}": (forest, parameters | {"min_samples_split": limit})
        for (forest, parameters), limit in product(((OURS, study.plain), (PEER, FULL_TREES)), LIMITS)
    }
    contest(study, lambda _: some, f"{OURS} {LIMITS[0]}", "fit")


def growth(rows: str, columns: int, **options: Any) -> None:
    """Time and memory of a fit as the number of rows grows."""
    study, sizes = Study(**options), [int(float(number)) for number in rows.split(",")]
    taken: dict[int, list[Record]] = {n: [] for n in sizes}
    with TemporaryDirectory() as folder:
        paths = {n: Path(folder, f"{n}.npz") for n in sizes}
        # Not in this process: the peak of a worker starts from that of the process that it comes from.
        with ProcessPoolExecutor(1) as pool:
            list(pool.map(save_synthetic, paths.values(), sizes, repeat(columns)))
        for seed in range(study.rounds):
            for n, path in paths.items():
                with forest_worker(path) as ask:
                    ask(warm_up=True, **study.size, **study.plain)
                    taken[n].append(ask(random_state=seed, **study.size, **study.plain))
    records: list[Record] = []
    for n, several in taken.items():
        record = {"rows": n, **spread("seconds", column(several, "fit"))}
        record["input_mb"] = n * (columns * np.float32().nbytes + np.int64().nbytes) / 1e6
        record |= {name: float(np.mean(column(several, name))) for name in ("peak_mb", "trees_mb")}
        record["peak/input"] = record["peak_mb"] / record["input_mb"]
        records.append(record | {"nodes": round(np.mean(column(several, "nodes")))})
    exponent = None
    if len(sizes) > 1:
        exponent = linear_regression(np.log(sizes), np.log(column(records, "seconds"))).slope
        say(f"seconds grow as rows to the power of {exponent:.3f}")
    study.report(records, tuple(records[0]), exponent=exponent)


def start(**options: Any) -> None:
    """Time of the first fit of a process, without compiled code on disk (empty) and with it (warm)."""
    study = Study(**options)
    taken: dict[str, list[Record]] = {"empty": [], "warm": []}
    with TemporaryDirectory() as folder:
        save_synthetic(path := Path(folder, "data.npz"), SMALL)
        for seed in range(study.rounds):
            with TemporaryDirectory() as cache:
                for several in taken.values():  # the first fills the cache for the second
                    with forest_worker(path, NUMBA_CACHE_DIR=cache) as ask:
                        several.append(ask(random_state=seed, **study.size, **PLAIN))
    records: list[Record] = []
    for state, several in taken.items():
        seconds = spread("seconds", np.add(column(several, "import"), column(several, "fit")).tolist())
        records.append({"cache": state, **seconds, "import": float(np.median(column(several, "import")))})
    study.report(records, tuple(records[0]))


def command_line() -> click.Group:
    """The commands and their options."""
    import click

    def count(name: str, default: int, text: str) -> click.Option:
        return click.Option([name], type=click.IntRange(min=1), default=default, show_default=True, help=text)

    file, new_file = click.Path(exists=True, dir_okay=False), click.Path(dir_okay=False, path_type=Path)
    common = [
        count("--rounds", 5, "How often everything is timed."),
        count("--trees", 20, "Trees of a forest."),
        count("--threads", 2, "Threads of a forest."),
        click.Option(["--json", "json_file"], type=new_file, help="File for all numbers."),
    ]
    on_sets = [
        click.Option(["--sets"], default="", metavar="NAME,...", help="Names of data sets.  [default: all]"),
        click.Option(["--synthetic"], is_flag=True, help=f"Synthetic sets, not those in {DATA_VARIABLE}."),
        *common,
    ]
    bins = click.Option(
        ["--max-bins"], type=click.IntRange(2, 255), help="Bins of our forest.  [default: exact]"
    )
    columns = count("--columns", N_COLUMNS, "Number of columns.")
    intelex = click.Option(["--intelex-python"], type=file, help="Interpreter that has scikit-learn-intelex.")
    rows = click.Option(["--rows"], default="1e4,3e4,1e5,3e5,1e6", show_default=True, help="Numbers of rows.")
    options: dict[Callable[..., None], list[click.Option]] = {
        peers: [intelex, bins, *on_sets], criteria: on_sets, extras: on_sets, nodes: [bins, *on_sets],
        growth: [rows, columns, bins, *common], start: common
    }  # fmt: skip
    group = click.Group(help="Speed and memory of the forest.", context_settings={"max_content_width": 120})
    for command, its in options.items():
        group.command(params=list[click.Parameter](its))(command)
    return group


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        work(*sys.argv[2:])
    else:
        command_line()()
