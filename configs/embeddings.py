"""Make the data files of the studies on embeddings: 20News and CIFAR-10.  README.md has the recipe.

A file has a column for each feature, the class number in ``target``, and ``train`` or ``test`` in ``split``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray

WORD = re.compile(r"\w+")
PARTS = ("train", "test")

Vector = NDArray[np.float32]


@click.group()
def main() -> None:
    """Make Parquet files of embeddings."""


@main.command()
@click.argument("vectors", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
def news(vectors: Path, path: Path) -> None:
    """Average the word vectors of each document of 20News.

    VECTORS is a text file of GloVe, such as glove.840B.300d.txt.  scikit-learn downloads the documents.
    """
    from sklearn.datasets import fetch_20newsgroups

    parts = [fetch_20newsgroups(subset=part) for part in PARTS]
    known = read_vectors(vectors, {word for part in parts for text in part.data for word in WORD.findall(text)})
    means = [average_vectors(part.data, known) for part in parts]
    write_embeddings(path, means, [part.target for part in parts])


@main.command()
@click.argument("arrays", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
def arrays(arrays: Path, path: Path) -> None:
    """Convert arrays that a network has computed.

    ARRAYS is a file of NumPy, .npz, with X_train, y_train, X_test and y_test.
    """
    with np.load(arrays) as saved:
        write_embeddings(path, [saved[f"X_{part}"] for part in PARTS], [saved[f"y_{part}"] for part in PARTS])


def read_vectors(path: Path, words: Iterable[str]) -> dict[str, Vector]:
    """Read the vectors of some words from a text file with a line for each word."""
    wanted = set(words)
    with path.open(encoding="utf-8") as lines:
        first = lines.readline()
        n_dimensions = len(first.split()) - 1
        lines.seek(0)
        # A few words of the large file contain blanks.
        split = (line.rstrip("\n").rsplit(" ", n_dimensions) for line in lines)
        return {word: np.array(numbers, dtype=np.float32) for word, *numbers in split if word in wanted}


def average_vectors(texts: Iterable[str], vectors: Mapping[str, Vector]) -> Vector:
    """Mean vector of the known words of each text; NaN if it has none."""
    n_dimensions = next(iter(vectors.values())).size
    means = []
    for text in texts:
        found = [vectors[word] for word in WORD.findall(text) if word in vectors]
        means.append(np.mean(found, axis=0) if found else np.full(n_dimensions, np.nan, dtype=np.float32))
    return np.array(means)


def write_embeddings(path: Path, features: list[Vector], targets: list[NDArray[np.int64]]) -> None:
    """Write training and test rows, except rows with NaN."""
    tables = []
    for part, X, y in zip(PARTS, features, targets, strict=True):
        columns = [f"f{i}" for i in range(X.shape[1])]
        tables.append(pd.DataFrame(X, columns=columns, dtype=np.float32).assign(target=y, split=part))
    table = pd.concat(tables, ignore_index=True).dropna()
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_parquet(path, index=False)
    click.echo(f"{path}: {len(table)} rows, {table.shape[1] - 2} features")


if __name__ == "__main__":
    main()
