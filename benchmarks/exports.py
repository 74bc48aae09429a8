"""Size of a saved forest and time of its predictions, by format, beside scikit-learn and YDF.

README.md has the results.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np
import onnxruntime
import pandas as pd
import treelite
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from boostnoise.eval import UniformNoise
from robust_splits import RobustForestClassifier, to_onnx, to_sklearn, to_treelite

N_FEATURES, NOISE_RATE = 20, 0.2
Predict = Callable[[NDArray[np.float32]], Any]
Form = tuple[str, str, int, Predict]  # model, format, bytes, prediction


def forms(model: str, forest: Any) -> Iterator[Form]:
    """Formats of one of our forests."""
    saved = pickle.dumps(forest)
    yield model, "pickle", len(saved), forest.predict_proba
    graph = to_onnx(forest).SerializeToString()
    session = onnxruntime.InferenceSession(graph, threads(), providers=["CPUExecutionProvider"])
    yield model, "ONNX", len(graph), lambda X: session.run(["probabilities"], {"X": X})
    converted = to_treelite(forest)
    size = len(converted.serialize_bytes())
    yield model, "treelite", size, lambda X: treelite.gtil.predict(converted, X.astype(np.float64), nthread=1)
    as_sklearn = to_sklearn(forest)
    yield model, "scikit-learn's form", len(pickle.dumps(as_sklearn)), as_sklearn.predict_proba


def compiled_form(model: str, forest: Any, folder: Path) -> Iterator[Form]:
    """Form of treelite, compiled by TL2cgen and a C compiler, if TL2cgen is installed."""
    try:
        import tl2cgen
    except ImportError:
        return
    library = folder / f"{model}.so".replace(" ", "_")
    # In parts, as compilers take much longer for one long file.
    tl2cgen.export_lib(to_treelite(forest), "gcc", library, params={"parallel_comp": len(forest.estimators_)})
    predictor = tl2cgen.Predictor(library, nthread=1)

    def predict(X: NDArray[np.float32]) -> Any:
        return predictor.predict(tl2cgen.DMatrix(X.astype(np.float64), dtype="float64"))

    yield model, "treelite, compiled by TL2cgen", library.stat().st_size, predict


def threads() -> onnxruntime.SessionOptions:
    """Options of one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return options


def ydf_form(X: NDArray[np.float32], y: NDArray[Any], trees: int) -> Iterator[Form]:
    """A forest of YDF, if that is installed."""
    try:
        import ydf
    except ImportError:
        return
    names = [f"x{i}" for i in range(X.shape[1])]

    def columns(rows: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        return {name: rows[:, i] for i, name in enumerate(names)}

    learner = ydf.RandomForestLearner(label="y", num_trees=trees, compute_oob_performances=False, num_threads=1)
    model = learner.train(columns(X) | {"y": y}, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    yield "YDF", "its own", size, lambda rows: model.predict(columns(rows), num_threads=1)


def seconds(call: Callable[[], Any], rounds: int) -> float:
    """Median time of a call, after one that warms up."""
    call()
    times = []
    for _ in range(rounds):
        begin = perf_counter()
        call()
        times.append(perf_counter() - begin)
    return float(np.median(times))


@click.command(help=__doc__)
@click.option("--rows", default=20_000, help="Training rows.")
@click.option("--trees", default=100)
@click.option("--batch", default=100_000, help="Rows of the large prediction.")
@click.option("--rounds", default=5)
def main(rows: int, trees: int, batch: int, rounds: int) -> None:
    """Fit the forests, and print a row for each format."""
    X, clean = make_classification(rows + batch, N_FEATURES, n_informative=8, random_state=0)
    X = X.astype(np.float32)
    y = UniformNoise(NOISE_RATE).corrupt(clean[:rows], random_state=0).labels
    ours = RobustForestClassifier(trees, random_state=0, n_jobs=1).fit(X[:rows], y)
    full = RobustForestClassifier(
        trees, passes=1, shrinkage=0.0, min_samples_split=2, random_state=0, n_jobs=1
    ).fit(X[:rows], y)
    peer = RandomForestClassifier(trees, random_state=0, n_jobs=1).fit(X[:rows], y)
    folder = tempfile.TemporaryDirectory()
    found = [
        *forms("robust forest", ours),
        *compiled_form("robust forest", ours, Path(folder.name)),
        *forms("robust forest, full trees", full),
        *compiled_form("robust forest, full trees", full, Path(folder.name)),
        ("scikit-learn", "pickle", len(pickle.dumps(peer)), peer.predict_proba),
        *ydf_form(X[:rows], y, trees),
    ]
    table = pd.DataFrame(
        {
            "model": model,
            "format": form,
            "MiB": round(size / 2**20, 1),
            "one row, ms": round(1e3 * seconds(lambda p=predict: p(X[:1]), 50 * rounds), 2),  # type: ignore[misc]
            f"{batch:,} rows, s": round(seconds(lambda p=predict: p(X[-batch:]), rounds), 2),  # type: ignore[misc]
        }
        for model, form, size, predict in found
    )
    click.echo(table.to_markdown(index=False))


if __name__ == "__main__":
    main()
