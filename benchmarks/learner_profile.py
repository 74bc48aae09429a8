"""Where the first fit, predictions and extra-trees spend their time; README.md here says how to read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from time import perf_counter
from typing import Any

import click
import numpy as np
import pandas as pd
from learner import FULL_TREES, PLAIN, SMALL, Study
from learner_data import N_COLUMNS, NOISE_RATE, SEED, SETS, read_real
from numba.core import event
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier

from boostnoise.eval import UniformNoise
from robust_splits import RobustExtraTreesClassifier, RobustForestClassifier, _helper_process
from robust_splits._kernels.coding import encode
from robust_splits._kernels.walk import add_leaf_values, leaves_of
from robust_splits._packed_trees import pack, pack_leaf_values

PARTS = {
    "growing": "children criterion_codes gain gini_scan grower inputs listed_rows node_search nodes partition"
    " random root scan search sorting waiting",
    "coding": "binning coding ranking",
    "prediction": "walk smoothing leaf_values",
}
PART_OF = {module: part for part, modules in PARTS.items() for module in modules.split()}


class CompileTimes(event.Listener):
    """Seconds that each kernel took to compile, without those of the kernels that it calls."""

    def __init__(self) -> None:
        self.seconds: Counter[tuple[str, str]] = Counter()  # by part and name
        self.n_compiled: Counter[tuple[str, str]] = Counter()
        self._running: list[list[float]] = []  # begin, and seconds of callees

    def on_start(self, _: event.Event) -> None:
        """A kernel is being compiled."""
        self._running.append([perf_counter(), 0.0])

    def on_end(self, ended: event.Event) -> None:
        """A kernel has been compiled."""
        begin, of_callees = self._running.pop()
        seconds = perf_counter() - begin
        function = ended.data["dispatcher"].py_func
        is_ours = function.__module__.startswith("robust_splits.")
        part = PART_OF[function.__module__.rpartition(".")[2]] if is_ours else "Numba's own"
        self.seconds[part, function.__name__] += seconds - of_callees
        self.n_compiled[part, function.__name__] += 1
        if self._running:
            self._running[-1][1] += seconds


@click.group(context_settings={"max_content_width": 120})
def profile() -> None:
    """Where the first fit, predictions and extra-trees spend their time."""


@profile.command()
@click.option("--kernels", type=click.IntRange(min=1), default=10, show_default=True, help="Kernels to list.")
def first_fit(kernels: int) -> None:
    """Seconds to compile each part of the learner in one process; give it an empty NUMBA_CACHE_DIR."""
    _helper_process._first_call.acquire()  # no second process, so that this one compiles all kernels
    X, y = make_classification(SMALL, N_COLUMNS, n_informative=N_COLUMNS // 2, random_state=SEED)
    listener = CompileTimes()
    begin = perf_counter()
    with event.install_listener("numba:compile", listener):
        model = RobustForestClassifier(20, n_jobs=1, random_state=SEED, **PLAIN).fit(X.astype(np.float32), y)
        model.predict_proba(X.astype(np.float32))
    total = perf_counter() - begin
    names = pd.MultiIndex.from_tuples(listener.seconds, names=["part", "kernel"])
    table = pd.DataFrame(
        {"seconds": [*listener.seconds.values()], "compiled": [*listener.n_compiled.values()]}, index=names
    )
    click.echo(
        f"The first fit and prediction took {total:.2f} s, {table['seconds'].sum():.2f} s of it to compile."
    )
    for by, most in ("part", None), (["part", "kernel"], kernels):
        show(table.groupby(by).sum().sort_values("seconds", ascending=False)[:most].reset_index())


@profile.command()
@click.option(
    "--sets", default=",".join(SETS), show_default=True, metavar="NAME,...", help="Names of data sets."
)
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True)
def prediction(sets: str, rounds: int) -> None:
    """Milliseconds of each part of predict_proba, with one thread; medians."""
    rows = []
    for name in Study(rounds=rounds, trees=20, threads=1, json_file=None, sets=sets).names():
        X, codes = read_real(name)
        y = UniformNoise(NOISE_RATE).corrupt(codes, random_state=SEED).labels
        model = RobustForestClassifier(20, n_jobs=1, random_state=SEED, **PLAIN).fit(X, y)
        model.predict_proba(X)
        times = pd.DataFrame([parts_of_prediction(model, X) for _ in range(rounds)])
        depth = np.mean([e.tree_.node_depth[e.tree_.apply(X)].mean() for e in model.estimators_])
        steps = X.shape[0] * len(model) * depth
        rows.append(
            {
                "set": name,
                **times.median(),
                "depth": depth,
                "ns_per_step": times["walks"].median() / steps * 1e6,
            }
        )
    show(pd.DataFrame(rows))


@profile.command()
@click.option(
    "--sets", default="letter,ijcnn1,covertype_92k,usps", show_default=True, metavar="NAME,...",
    help="Names of data sets.",
)  # fmt: skip
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--rows", type=click.IntRange(min=10), default=20_000, show_default=True, help="At most.")
def extra_trees(sets: str, rounds: int, rows: int) -> None:
    """Milliseconds of a fit of full extra-trees by features tried, ours and scikit-learn's; medians."""
    found = []
    for name in Study(rounds=rounds, trees=20, threads=1, json_file=None, sets=sets).names():
        X, codes = read_real(name)
        X, y = X[:rows], UniformNoise(NOISE_RATE).corrupt(codes[:rows], random_state=SEED).labels
        ranking = np.median([milliseconds(lambda: encode(X, 1))[0] for _ in range(rounds)])  # noqa: B023
        for features in (1, 2, 4, 8):
            shared = FULL_TREES | {"max_features": min(features, X.shape[1]), "bootstrap": True}
            models = {
                "ours": RobustExtraTreesClassifier(20, n_jobs=1, random_state=SEED, **PLAIN | shared),
                "scikit-learn": ExtraTreesClassifier(20, n_jobs=1, random_state=SEED, **shared),
            }
            times = [
                {label: milliseconds(lambda: model.fit(X, y))[0] for label, model in models.items()}  # noqa: B023
                for _ in range(rounds)
            ]
            medians = pd.DataFrame(times).median()
            found.append({"set": name, "features": features, **medians, "ranking": ranking})
    show(pd.DataFrame(found))


def parts_of_prediction(model: RobustForestClassifier, X: np.ndarray) -> dict[str, float]:
    """Milliseconds of a prediction and of its parts, each on its own."""
    trees = model._stored_trees()
    total, _ = milliseconds(lambda: model.predict_proba(X))
    packing, steps = milliseconds(lambda: pack(trees, X.dtype))
    listing, leaf_values = milliseconds(lambda: pack_leaf_values(trees))
    walks, leaves = milliseconds(lambda: leaves_of(X, steps))
    out = np.zeros((X.shape[0], model.n_classes_))
    adding, _ = milliseconds(lambda: add_leaf_values(leaf_values, leaves, out))
    return {"packing": packing + listing, "warm": total, "walks": walks, "adding": adding}


def milliseconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """Time of a call, and its result."""
    begin = perf_counter()
    result = function()
    return 1000 * (perf_counter() - begin), result


def show(table: pd.DataFrame) -> None:
    """Print a table."""
    click.echo("\n" + table.to_string(index=False, float_format="{:.3g}".format))


if __name__ == "__main__":
    profile()
