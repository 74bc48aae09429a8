"""Rows of Dask collections, in parts: their labels and weights, a sample, and arrays computed part by part."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.preprocessing import LabelEncoder

from robust_splits.label_noise.labels import as_numpy_labels, encode_labels

MAX_LOSSES = 3  # of workers in one training
FEWEST = 100  # rows of each class in a sample, if there are as many
logger = logging.getLogger(__name__)
T = TypeVar("T")


def is_dask_collection(data: Any) -> bool:
    """Whether data are a Dask array or data frame; Dask is not imported for that."""
    return "dask" in sys.modules and hasattr(data, "__dask_graph__") and hasattr(data, "to_delayed")


def find_client() -> Any:
    """The current client of Dask.

    Raises
    ------
    ValueError
        If there is none.
    """
    import distributed

    try:
        return distributed.get_client()
    except ValueError:
        raise ValueError("Dask collections need a Dask cluster: create a distributed.Client first") from None


def again_if_workers_are_lost(client: Any, train: Callable[[], T]) -> T:
    """Result of a training that fails if a worker is lost: then it begins again with the others.

    Dask computes the parts of the lost worker again.
    """
    for _ in range(MAX_LOSSES):
        before = _workers(client)
        try:
            return train()
        except Exception:
            if before <= _workers(client):
                raise
            logger.warning("a worker was lost while the booster was trained; training begins again")
            client.wait_for_workers(1)
    return train()


def _workers(client: Any) -> set[str]:
    """Addresses of the workers; what the client remembers may be out of date."""
    return set(client.sync(client.scheduler.identity)["workers"])


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows of all parts, in the order of the parts.

    Attributes
    ----------
    X : array or DataFrame of m rows
    codes : int array of shape (m,)
        Class numbers of their labels.
    weight : array of shape (m,) or None
        Their own weights.
    counts : float array of shape (m,) or None
        How many rows each stands for, up to a common factor; None if all stand for equally many.
    positions : list of int arrays
        Rows of each part.
    """

    X: Any
    codes: NDArray[np.int64]
    weight: NDArray[Any] | None
    counts: NDArray[np.float64] | None
    positions: list[NDArray[np.int64]]

    @property
    def counted_weight(self) -> NDArray[Any] | None:
        """Weights times counts, shape (m,); None if there are neither."""
        if self.weight is None or self.counts is None:
            return self.counts if self.weight is None else self.weight
        return self.weight * self.counts


@dataclass(frozen=True, eq=False)
class DaskRows:
    """Rows of Dask collections, in parts that the workers hold.

    Attributes
    ----------
    client : distributed.Client
    X : dask Array or DataFrame
        Each part has all columns.
    parts : list of tuples
        Features, class numbers and weights (or None) of each part, as futures.
    lengths : list of int
        Rows of each part.
    encoder : LabelEncoder
    """

    client: Any
    X: Any
    parts: list[tuple[Any, Any, Any]]
    lengths: list[int]
    encoder: LabelEncoder

    @classmethod
    def read(cls, client: Any, X: Any, y: Any, weight: Any = None, encoder: LabelEncoder | None = None) -> Self:
        """Start to compute the parts on the workers, and encode the labels.

        Parameters
        ----------
        client : distributed.Client
        X : dask Array or DataFrame
        y : dask Array or Series
        weight : dask Array, Series or None, default=None
        encoder : LabelEncoder or None, default=None
            The classes, if they are known.

        Raises
        ------
        ValueError
            If X, y and weights do not have the same rows in each part, or if a label is missing or unknown.
            If there are no rows.
        TypeError
            If y or weights are no Dask collections.
        """
        X = _with_all_columns(X)
        features = client.compute(_to_parts(X))
        X = _of_parts(features, X)
        labels = client.compute(_to_parts(_aligned(y, X, "y")))
        weights = [None] * len(features)
        if weight is not None:
            weights = client.compute(_to_parts(_aligned(weight, X, "sample_weight")))
        counted = {"X": features, "y": labels} | ({} if weight is None else {"sample_weight": weights})
        lengths = {name: client.gather(client.map(len, parts)) for name, parts in counted.items()}
        for name, n_rows in lengths.items():
            if n_rows != lengths["X"]:
                raise ValueError(
                    f"{name} must have as many rows as X in each part, got {n_rows[:5]} and {lengths['X'][:5]}"
                )
        filled = [part for part, n_rows in enumerate(lengths["X"]) if n_rows]
        if not filled:
            raise ValueError("X has no rows")
        if len(filled) < len(features):  # the libraries take no parts without rows
            X = X.partitions[filled]
            features, labels, weights = ([parts[i] for i in filled] for parts in (features, labels, weights))
        found = np.concatenate(client.gather(client.map(_unique, labels)))
        if encoder is None:
            encoder, _ = encode_labels(found)
        elif unknown := set(found.tolist()) - set(encoder.classes_.tolist()):
            raise ValueError(f"labels of eval_set must occur in the training data, got {sorted(unknown)[:5]}")
        codes = client.map(_encode, labels, encoder=encoder)
        parts = list(zip(features, codes, weights, strict=True))
        return cls(client, X, parts, [lengths["X"][part] for part in filled], encoder)

    @property
    def codes(self) -> list[Any]:
        """Futures of the class numbers of each part."""
        return [codes for _, codes, _ in self.parts]

    def sample(self, n_rows: int, seed: int) -> Sample:
        """About `n_rows` rows, drawn at random; all if there are fewer.

        Classes with few rows are drawn more often, but have as much less weight.
        """
        n_classes = len(self.encoder.classes_)
        totals = self.client.gather(self.client.map(np.bincount, self.codes, minlength=n_classes, pure=False))
        shares = shares_to_draw(np.sum(totals, axis=0), n_rows)
        seeds = [[seed, part] for part in range(len(self.parts))]
        drawn = self.client.map(draw, self.codes, seeds, shares=shares, pure=False)
        positions = self.client.gather(drawn)
        X, codes, weight = self.take(positions)
        return Sample(X, codes, weight, count(codes, shares), positions)

    def take(self, positions: list[NDArray[np.int64]]) -> tuple[Any, NDArray[np.int64], NDArray[Any] | None]:
        """Features, class numbers and weights of the rows at some positions of each part."""
        taken = self.client.gather(self.map(_take, positions))
        X, codes, weights = zip(*taken, strict=True)
        return _concatenate(X), np.concatenate(codes), None if weights[0] is None else np.concatenate(weights)

    def map(self, function: Callable[..., Any], *by_part: Sequence[Any], **shared: Any) -> list[Any]:
        """Futures of a function of features, class numbers and weights of each part, and of other arguments."""
        columns = [*zip(*self.parts, strict=True), *by_part]
        with _without_size_warning():
            futures: list[Any] = self.client.map(function, *columns, **shared, pure=False)
        return futures

    def share(self, value: Any) -> Any:
        """A future of a value for all workers.

        It is the result of a task, so that it can be computed again where scattered data would be lost with a
        worker.
        """
        with _without_size_warning():
            return self.client.submit(_itself, value, pure=False)

    def to_array(self, futures: list[Any], *columns: int, dtype: Any = np.float32) -> Any:
        """A Dask array of futures that are arrays of the rows of each part."""
        import dask.array as da
        from dask import delayed

        pairs = zip(futures, self.lengths, strict=True)
        shapes = [da.from_delayed(delayed(future), (length, *columns), dtype) for future, length in pairs]
        return da.concatenate(shapes)


def shares_to_draw(totals: NDArray[np.int64], n_rows: int) -> NDArray[np.float64]:
    """Share of the rows of each class to draw for about `n_rows` rows, but at least `FEWEST` of each class."""
    share = min(1.0, n_rows / totals.sum())
    return np.clip(FEWEST / np.maximum(totals, 1), share, 1.0)


def draw(codes: NDArray[np.int64], seed: Sequence[int], shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Positions of rows, each drawn with the share of its class."""
    return np.flatnonzero(np.random.default_rng(seed).random(codes.size) < shares[codes])


def count(codes: NDArray[np.int64], shares: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """How many rows each drawn one stands for, up to a common factor; None if all stand for equally many."""
    return None if np.all(shares == shares[0]) else shares.min() / shares[codes]


def map_rows(function: Callable[[Any], NDArray[Any]], X: Any, dtype: Any, *columns: int) -> Any:
    r"""A Dask array with the results of a function for each part of the rows of a Dask collection.

    Parameters
    ----------
    function : callable
        From features to an array of shape (n, \*columns).
    X : dask Array or DataFrame
    dtype : dtype
        That of the results.
    """
    import dask.array as da
    from dask import delayed

    X = _with_all_columns(X)
    lengths = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * X.npartitions
    shared = delayed(function, pure=True)
    parts = zip(_to_parts(X), lengths, strict=True)
    results = [da.from_delayed(shared(part), (length, *columns), dtype) for part, length in parts]
    return da.concatenate(results, allow_unknown_chunksizes=True)


def _with_all_columns(X: Any) -> Any:
    """A collection whose parts have all columns."""
    return X.rechunk({1: -1}) if getattr(X, "ndim", 2) == 2 and hasattr(X, "rechunk") else X


def _aligned(column: Any, X: Any, name: str) -> Any:
    """A column in the parts of X."""
    if not is_dask_collection(column):
        raise TypeError(f"{name} must be a Dask collection, as X is, got {type(column).__name__}")
    if getattr(column, "ndim", 1) != 1:
        raise ValueError(f"{name} must have one dimension, got {column.ndim}")
    if hasattr(column, "rechunk") and hasattr(X, "chunks") and sum(column.chunks[0]) == sum(X.chunks[0]):
        return column.rechunk((X.chunks[0],))
    if len(_to_parts(column)) != len(_to_parts(X)):
        raise ValueError(
            f"{name} must have as many parts as X, {len(_to_parts(X))}, got {len(_to_parts(column))}"
        )
    return column


def _to_parts(collection: Any) -> list[Any]:
    """The parts of a collection along its rows.

    Dask joins parts of Parquet files where few columns are read, so that labels would have fewer than features;
    hence without its optimisation.
    """
    return list(np.ravel(collection.to_delayed(optimize_graph=False)))


def _of_parts(futures: list[Any], like: Any) -> Any:
    """A collection of parts that are computed once."""
    if hasattr(like, "chunks"):
        import dask.array as da
        from dask import delayed

        shapes = [(length, *like.shape[1:]) for length in like.chunks[0]]
        parts = zip(futures, shapes, strict=True)
        arrays = [da.from_delayed(delayed(future), shape, meta=like._meta) for future, shape in parts]
        return da.concatenate(arrays, allow_unknown_chunksizes=True)
    import dask.dataframe as dd

    return dd.from_delayed(futures, meta=like._meta, verify_meta=False)


@contextmanager
def _without_size_warning() -> Iterator[None]:
    """Ignore Dask's advice to scatter what tasks contain."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        yield


def _itself(value: Any) -> Any:
    return value


def _unique(labels: Any) -> NDArray[Any]:
    return np.asarray(pd.unique(pd.Series(as_numpy_labels(labels))))


def _encode(labels: Any, encoder: LabelEncoder) -> NDArray[np.int64]:
    codes: NDArray[np.int64] = encoder.transform(as_numpy_labels(labels))
    return codes


def _take(X: Any, codes: Any, weight: Any, rows: NDArray[np.int64]) -> tuple[Any, Any, Any]:
    some = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    return some, codes[rows], None if weight is None else np.asarray(weight)[rows]


def _concatenate(parts: Sequence[Any]) -> Any:
    if hasattr(parts[0], "iloc"):
        return pd.concat(parts, ignore_index=True)
    return np.concatenate(parts)
