"""Time and clean accuracy of forests of several libraries; README.md here has the results.

Each library fits in a process of its own, which runs this same file.  Those that this project does not need
have environments of their own, which `install` makes, so everything but NumPy is imported where it is used.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from _workers import Record, serve, worker
from learner import PLAIN, SMALL
from learner_data import read_real

if TYPE_CHECKING:
    import click
    import pandas as pd
    from numpy.typing import NDArray

# Packages of each environment.
ENVIRONMENTS = {
    "ydf": ["ydf"],
    "fastforest": ["fastforest"],
    "intelex": ["scikit-learn-intelex", "scikit-learn"],
}
SETS = ("letter", "usps", "covertype_92k", "ijcnn1", "cod_rna", "million")
MILLION = "million"  # synthetic, and read from no file
TEST_SHARE = 0.3
MAX_TEST_ROWS = 100_000
BASE = "scikit-learn"


@dataclass(frozen=True)
class Forest:
    """A class of a library, and how it calls what all forests share; other parameters are its defaults."""

    distribution: str
    module: str
    name: str
    parameters: Record = field(default_factory=dict)
    environment: str | None = None  # that of this project
    trees: str = "n_estimators"
    threads: str | None = "n_jobs"  # None if environment variables decide
    seed: str = "random_state"

    def make(self, trees: int, threads: int, seed: int) -> Any:
        """A model that is not fitted."""
        shared = {self.trees: trees, self.seed: seed} | ({self.threads: threads} if self.threads else {})
        return getattr(importlib.import_module(self.module), self.name)(**shared, **self.parameters)


def ours(name: str, **parameters: Any) -> Forest:
    """A forest of this project."""
    return Forest("boostnoise", "robust_splits", name, parameters)


class YDFForest:
    """YDF's random forest, which is fitted to a dictionary of arrays, as an estimator."""

    def __init__(self, num_trees: int, num_threads: int, random_seed: int) -> None:
        self._parameters = {"num_trees": num_trees, "num_threads": num_threads, "random_seed": random_seed}

    def fit(self, X: NDArray[np.float32], y: NDArray[np.int64]) -> YDFForest:
        """Fit the forest."""
        ydf = importlib.import_module("ydf")
        ydf.verbose(0)
        self._model = ydf.RandomForestLearner(label="y", **self._parameters).train({"X": X, "y": y})
        return self

    def predict(self, X: NDArray[np.float32]) -> NDArray[np.int64]:
        """Predicted classes."""
        p = self._model.predict({"X": X})
        codes = p.argmax(axis=1) if p.ndim == 2 else (p > 0.5).astype(int)
        return np.array(self._model.label_classes()).astype(int)[codes]


# The settings without which LightGBM has no random forest; its shares are the defaults of XGBoost's.
LIGHTGBM_RF = {
    "boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.8, "feature_fraction_bynode": 0.8,
    "verbose": -1,
}  # fmt: skip
FORESTS = {
    "robust forest": ours("RobustForestClassifier"),
    "robust forest, one pass": ours("RobustForestClassifier", passes=1),
    "robust forest, 255 bins": ours("RobustForestClassifier", max_bins=255),
    "robust extra-trees": ours("RobustExtraTreesClassifier"),
    "gini, full trees": ours("RobustForestClassifier", **PLAIN),
    BASE: Forest("scikit-learn", "sklearn.ensemble", "RandomForestClassifier"),
    "scikit-learn, extra-trees": Forest("scikit-learn", "sklearn.ensemble", "ExtraTreesClassifier"),
    "intelex": Forest(
        "scikit-learn-intelex", "sklearnex.ensemble", "RandomForestClassifier", environment="intelex"
    ),
    "YDF": Forest(
        "ydf", "__main__", "YDFForest", environment="ydf",
        trees="num_trees", threads="num_threads", seed="random_seed",
    ),
    "FastForest": Forest(
        "fastforest", "fastforest", "FastForestClassifier", environment="fastforest",
        trees="n_trees", threads=None, seed="seed",
    ),
    "LightGBM, rf": Forest("lightgbm", "lightgbm", "LGBMClassifier", LIGHTGBM_RF),
    "XGBoost, rf": Forest("xgboost", "xgboost", "XGBRFClassifier"),
}  # fmt: skip


def measure(forest: Forest, path: str, trees: int, threads: int, seed: int, warm_up: bool) -> Record:
    """Seconds of a fit and of the prediction of the test rows, and the accuracy on their clean labels."""
    with np.load(path) as data:
        X, y, X_test, y_test = (data[name] for name in ("X", "y", "X_test", "y_test"))
    if warm_up:
        step = max(1, y.size // SMALL)
        X, y = np.ascontiguousarray(X[::step]), y[::step]
    model = forest.make(trees, threads, seed)
    begin = perf_counter()
    model.fit(X, y)
    fitted = perf_counter()
    predicted = model.predict(X_test)
    return {
        "version": version(forest.distribution),
        "fit": fitted - begin,
        "predict": perf_counter() - fitted,
        "accuracy": float(np.mean(predicted == y_test)),
    }


def read_set(name: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Features and class codes of a set."""
    if name != MILLION:
        return read_real(name)
    from sklearn.datasets import make_classification

    X, y = make_classification(1_000_000, 10, n_informative=5, flip_y=0.0, class_sep=0.7, random_state=0)
    return X.astype(np.float32), y


def save_split(path: Path, X: NDArray[np.float32], y: NDArray[np.int64], noise: float, seed: int) -> None:
    """Write training rows with noisy labels, and test rows with clean ones."""
    from sklearn.model_selection import train_test_split

    from boostnoise.eval import UniformNoise

    train, test = train_test_split(np.arange(y.size), test_size=TEST_SHARE, stratify=y, random_state=seed)
    test = test[:MAX_TEST_ROWS]
    labels = UniformNoise(noise).corrupt(y[train], random_state=seed).labels
    np.savez(path, X=X[train], y=labels, X_test=X[test], y_test=y[test])


def draw(table: pd.DataFrame, path: Path) -> None:
    """Draw the mean accuracy of each forest against its time, for each noise rate."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    rates, names = table.index.unique("noise"), list(table.index.unique("forest"))
    fig, axes = plt.subplots(
        1, len(rates), figsize=(5 * len(rates) + 2, 5), layout="constrained", squeeze=False
    )
    for ax, rate in zip(axes[0], rates, strict=True):
        found = table.loc[rate].sort_values("time")
        best = found[found["accuracy"] >= found["accuracy"].cummax()]
        ax.step(best["time"], best["accuracy"], where="post", color="0.7", zorder=0)
        for number, name in enumerate(names, start=1):
            color = "tab:blue" if FORESTS[name].distribution == "boostnoise" else "tab:orange"
            point = found.loc[name, ["time", "accuracy"]]
            ax.plot(*point, "o", color=color, markersize=13, label=f"{number}  {name}")
            ax.annotate(str(number), point, ha="center", va="center_baseline", color="white", size=8)
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.margins(0.1)
        ax.set_title(f"{rate:.0%} wrong training labels")
        ax.set_xlabel(f"time of a fit relative to {BASE}'s")
        ax.set_ylabel("mean accuracy on clean labels")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    fig.savefig(path, dpi=150)


def summary(records: pd.DataFrame, base: str, by: Sequence[str]) -> pd.DataFrame:
    """Mean accuracy, and geometric mean of the time of a fit relative to that of `base` in the same round."""
    keys = ["set", "noise", "round"]
    seconds = records[records["forest"] == base].set_index(keys)["fit"]
    time = np.log(records["fit"] / seconds.reindex(records[keys]).to_numpy())
    means = records.assign(time=time).groupby(list(by), sort=False)[["time", "accuracy"]].mean()
    return means.assign(time=np.exp(means["time"]))


def python_of(folder: Path | None, environment: str | None) -> str | None:
    """Interpreter of an environment; None if it is not installed."""
    if environment is None:
        return sys.executable
    if folder is None:
        return None
    python = folder / environment / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    return str(python) if python.exists() else None


def fit_all(
    asks: dict[str, Callable[..., Record]],
    sets: Sequence[str],
    rates: Sequence[float],
    rounds: int,
    **size: int,
) -> Iterator[Record]:
    """Fit all forests, one after the other; on each set, all warm up first."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "data.npz")
        for name in sets:
            X, y = read_set(name)
            for count, (rate, seed) in enumerate(product(rates, range(rounds))):
                save_split(path, X, y, rate, seed)
                for forest, ask in asks.items():
                    if count == 0:
                        ask(path=str(path), warm_up=True, seed=seed, **size)
                    taken = ask(path=str(path), warm_up=False, seed=seed, **size)
                    yield {"set": name, "noise": rate, "round": seed, "forest": forest} | taken


def command_line() -> click.Group:
    """The commands and their options."""
    import click
    import pandas as pd

    group = click.Group(help=__doc__.partition("\n")[0])
    new_file = click.Path(dir_okay=False, path_type=Path)

    @group.command()
    @click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
    def install(folder: Path) -> None:
        """Make an environment for each peer in FOLDER."""
        for name, packages in ENVIRONMENTS.items():
            venv.create(folder / name, with_pip=True)
            python = python_of(folder, name)
            subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)  # noqa: S603

    @group.command()
    @click.option("--environments", type=click.Path(exists=True, file_okay=False, path_type=Path))
    @click.option("--sets", default=",".join(SETS), show_default=True, metavar="NAME,...")
    @click.option("--noise", default="0,0.3", show_default=True, metavar="RATE,...")
    @click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
    @click.option("--trees", type=click.IntRange(min=1), default=100, show_default=True)
    @click.option("--threads", type=click.IntRange(min=1), default=2, show_default=True)
    @click.option("--csv", type=new_file, help="File for all numbers.")
    @click.option("--picture", type=new_file, help="File for a picture of accuracy against time.")
    def run(
        environments: Path | None, sets: str, noise: str, rounds: int, trees: int, threads: int,
        csv: Path | None, picture: Path | None,
    ) -> None:  # fmt: skip
        """Fit all forests whose libraries are installed, and print times and accuracies."""
        pythons = {name: python_of(environments, forest.environment) for name, forest in FORESTS.items()}
        records: list[Record] = []
        with ExitStack() as stack:
            asks = {
                name: stack.enter_context(
                    worker(__file__, "worker", name, python=python, RAYON_NUM_THREADS=str(threads))
                )
                for name, python in pythons.items()
                if python
            }
            rates = [float(rate) for rate in noise.split(",")]
            for record in fit_all(asks, sets.split(","), rates, rounds, trees=trees, threads=threads):
                records.append(record)
                click.echo("{set}, {noise:.0%}, {forest}: {fit:.2f} s".format_map(record), err=True)
                if csv:  # after each fit, since all take long
                    pd.DataFrame(records).to_csv(csv, index=False)
        table = pd.DataFrame(records)
        for measured, digits in ("fit", 2), ("predict", 2), ("accuracy", 4):
            pivot = table.pivot_table(measured, ["noise", "forest"], "set", "median", sort=False)
            click.echo(f"{measured}, median of {rounds} rounds\n{pivot.round(digits).to_string()}\n")
        means = summary(table, BASE, ["noise", "forest"])
        click.echo(f"time of a fit relative to {BASE}'s, and mean accuracy\n{means.round(4).to_string()}")
        if picture:
            draw(means, picture)

    return group


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        serve(lambda request: measure(FORESTS[sys.argv[2]], **request))
    else:
        command_line()()
