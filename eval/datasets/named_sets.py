"""Load data sets by name or number: from scikit-learn, synthetic, and from OpenML."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ..config.dataset_spec import BUNDLED, DOWNLOADED, SYNTHETIC, Column
from ..errors import ConfigError, one_line
from ..extensions.references import load
from .synthetic import make_synthetic

TARGET = "target"


def load_set(name: str, context: str) -> tuple[pd.DataFrame, str]:
    """Load a data set of `dataset_spec.set_names`; also return its target column.

    Downloads are cached in scikit-learn's data home: ``SCIKIT_LEARN_DATA``, or ``~/scikit_learn_data``.

    Parameters
    ----------
    name : str
    context : str
        Prefix of error messages.

    Raises
    ------
    ConfigError
        If the data set is not in the cache and cannot be downloaded, or an installed package cannot make it.
    """
    from sklearn import datasets

    if name in BUNDLED:
        return getattr(datasets, f"load_{name}")(as_frame=True).frame, TARGET
    if name in SYNTHETIC:
        X, y = make_synthetic(name)
        return pd.DataFrame(X, columns=["x1", "x2"]).assign(**{TARGET: y}), TARGET
    if name not in DOWNLOADED:
        return _load_plugin(name, context)
    bunch = _download(getattr(datasets, f"fetch_{name}"), context)
    frame = pd.DataFrame(bunch.data, columns=bunch.get("feature_names"))
    frame[TARGET] = bunch.target
    return _decode_bytes(frame.infer_objects()), TARGET


def load_openml(source: str | int, target: Column | None, context: str) -> tuple[pd.DataFrame, Column]:
    """Load a data set from OpenML; also return its target column.

    For a name with several versions, scikit-learn chooses the oldest active one.  Downloads are cached as in
    `load_set`.

    Parameters
    ----------
    source : str or int
        Name or number.
    target : str, int or None
        Target column; None for the default target on OpenML.
    context : str
        Prefix of error messages.

    Raises
    ------
    ConfigError
        If the data set cannot be downloaded, or `target` is None and OpenML has no or several default targets.
    """
    from sklearn.datasets import fetch_openml

    identifier = {"name": source} if isinstance(source, str) else {"data_id": source}
    bunch = _download(lambda: fetch_openml(**identifier, as_frame=True), context)
    if target is None:
        names = list(bunch.target_names)
        if len(names) != 1:
            raise ConfigError(
                f"{context}: OpenML has {len(names)} default targets; set 'target' to the column of labels"
            )
        target = names[0]
    return bunch.frame, target


def _load_plugin(name: str, context: str) -> tuple[pd.DataFrame, str]:
    """Data set of an installed package: a function that returns features and labels, (X, y)."""
    make = load(name, "datasets")
    try:
        X, y = make()
        frame = pd.DataFrame(X).reset_index(drop=True)
        labels = pd.Series(np.asarray(y), name=TARGET)
    except Exception as error:  # noqa: BLE001 - the code of a package may raise anything
        reason = f"{type(error).__name__}: {one_line(error)}"
        raise ConfigError(f"{context}: must be a function that returns (X, y), but {reason}") from None
    frame.columns = [f"x{column}" if isinstance(column, int) else str(column) for column in frame.columns]
    if len(frame) != len(labels):
        raise ConfigError(f"{context}: X has {len(frame)} rows, but y has {len(labels)}")
    if TARGET in frame:
        raise ConfigError(f"{context}: a feature must not be named {TARGET!r}")
    return pd.concat([frame, labels], axis=1), TARGET


def _download(fetch: Callable[[], Any], context: str) -> Any:
    try:
        with warnings.catch_warnings():
            # The error below reports the same.
            warnings.filterwarnings("ignore", "A network error occurred|Retry downloading")
            return fetch()
    except Exception as error:  # noqa: BLE001 - no network, no space, a damaged copy, an unknown name
        raise ConfigError(
            f"{context}: not in scikit-learn's data home, and cannot be downloaded: {one_line(error)}"
        ) from None


def _decode_bytes(frame: pd.DataFrame) -> pd.DataFrame:
    """Decode bytes in columns of objects, in place."""
    for column in frame.columns:
        if pd.api.types.is_object_dtype(frame[column]):
            frame[column] = frame[column].map(lambda v: v.decode() if isinstance(v, bytes) else v)
    return frame
