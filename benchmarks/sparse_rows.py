"""Time, memory and accuracy of forests on sparse rows of word counts.  README.md has the results."""

from __future__ import annotations

import tracemalloc
from time import perf_counter
from typing import Any

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier

from boostnoise.eval import UniformNoise
from robust_splits import RobustForestClassifier

N_WORDS = 80  # of a document
TOPIC_EFFECT = 0.4  # standard deviation of the logarithm of a word's frequency in a topic
TEST_ROWS = 2000


def documents(rows: int, words: int, seed: int) -> tuple[csr_array, NDArray[np.int64]]:
    """Word counts of documents of two topics, which differ in how frequent the words are; and the topics."""
    topics = np.random.default_rng(0).normal(scale=TOPIC_EFFECT, size=(2, words))
    frequency = np.exp(topics) / np.arange(1, words + 1)  # by Zipf's law
    cumulative = np.cumsum(frequency / frequency.sum(axis=1, keepdims=True), axis=1)
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=rows)
    row = np.repeat(np.arange(rows), rng.poisson(N_WORDS, rows))
    word = np.empty(row.size, dtype=np.int64)
    for topic in (0, 1):
        of_topic = y[row] == topic
        word[of_topic] = np.searchsorted(cumulative[topic], rng.random(of_topic.sum())).clip(max=words - 1)
    counts = csr_array((np.ones(row.size, dtype=np.float32), (row.astype(np.int32), word.astype(np.int32))))
    counts.resize((rows, words))
    counts.sum_duplicates()
    return counts, y


def peak(model: Any, X: csr_array, y: NDArray[np.int64]) -> int:
    """Largest memory of a fit in bytes."""
    tracemalloc.start()
    try:
        model.fit(X, y)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@click.command(help=__doc__)
@click.option("--sizes", default="5000x2000,10000x20000", metavar="ROWSxWORDS,...", show_default=True)
@click.option("--trees", type=click.IntRange(min=1), default=50, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--noise", type=click.FloatRange(0, 0.5), default=0.2, show_default=True)
def main(sizes: str, trees: int, rounds: int, noise: float) -> None:
    """Print the median seconds of fits, in turn, the memory of a small forest, and the accuracy."""
    size: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
    for rows, words in (map(int, each.split("x")) for each in sizes.split(",")):
        X, clean = documents(rows, words, seed=1)
        unseen, topics = documents(TEST_ROWS, words, seed=2)
        y = UniformNoise(noise).corrupt(clean, random_state=0).labels
        models: dict[str, Any] = {
            "robust forest": RobustForestClassifier(trees, **size),
            "robust forest, one pass": RobustForestClassifier(trees, passes=1, **size),
            "scikit-learn": RandomForestClassifier(trees, **size),
        }
        for model in models.values():
            model.fit(X[:100], y[:100])  # compiles
        seconds: dict[str, list[float]] = {name: [] for name in models}
        for _ in range(rounds):
            for name, model in models.items():
                begin = perf_counter()
                model.fit(X, y)
                seconds[name].append(perf_counter() - begin)
        table = pd.DataFrame(
            {
                "forest": name,
                "fit, s": f"{np.median(seconds[name]):.1f} ({min(seconds[name]):.1f}–{max(seconds[name]):.1f})",
                "MB": round(peak(type(model)(2, max_depth=8, **size), X, y) / 1e6),
                "accuracy": round(float(np.mean(model.predict(unseen) == topics)), 3),
            }
            for name, model in models.items()
        )
        click.echo(f"{rows} rows, {words} words; {rows * words * X.dtype.itemsize / 1e6:.0f} MB if dense")
        click.echo(table.to_markdown(index=False))


if __name__ == "__main__":
    main()
