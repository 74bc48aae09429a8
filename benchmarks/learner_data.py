"""The data sets of the learner's benchmarks.

Workers of peers import this module, so everything but NumPy is imported where it is used.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _workers import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

DATA_VARIABLE = "BOOSTNOISE_DATA"
SETS = ("letter", "usps", "covertype_92k", "cod_rna", "ijcnn1", "mnist")
# Rows, columns and classes.
SYNTHETIC = {"long": (100_000, 10, 2), "wide": (5_000, 400, 2), "many_classes": (20_000, 20, 26)}
NOISE_RATE = 0.3
SEED = 0
N_COLUMNS = 10  # of what start fits, and growth by default


def parquet(name: str) -> Path:
    """The Parquet file of a set."""
    return Path(os.environ[DATA_VARIABLE], "data", f"{name}.parquet")


def read_real(name: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Features and class codes of a set that is in a Parquet file."""
    import pandas as pd

    table = pd.read_parquet(parquet(name)).drop(columns="split", errors="ignore")
    X = np.ascontiguousarray(table.drop(columns="target"), dtype=np.float32)
    return X, np.unique(table["target"], return_inverse=True)[1]


def save(path: Path, X: NDArray[Any], y: NDArray[np.int64]) -> Record:
    """Write the file that workers read, with `NOISE_RATE` of the class codes `y` wrong; return its shape."""
    from boostnoise.eval import UniformNoise

    labels = UniformNoise(NOISE_RATE).corrupt(y, random_state=SEED).labels
    np.savez(path, X=X.astype(np.float32, copy=False), y=labels)
    return {"rows": X.shape[0], "columns": X.shape[1], "classes": np.unique(y).size}


def save_synthetic(path: Path, rows: int, columns: int = N_COLUMNS, classes: int = 2) -> Record:
    """Save a synthetic set."""
    from sklearn.datasets import make_classification

    kind = {"n_informative": columns // 2, "n_clusters_per_class": 1, "n_classes": classes}
    return save(path, *make_classification(rows, columns, **kind, random_state=SEED))
