"""Data sets that are known by name or number: scikit-learn's, the synthetic ones, and OpenML's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd

from ..config.dataset_spec import BUNDLED, SYNTHETIC, Column
from ..errors import ConfigError, one_line
from .synthetic import make_synthetic

TARGET = "target"


def load_set(name: str, where: str) -> tuple[pd.DataFrame, str]:
    """A set of `dataset_spec.SETS` and the name of its column of labels.

    What is downloaded is kept in scikit-learn's data home (``SCIKIT_LEARN_DATA``, by default
    ``~/scikit_learn_data``) and read from there the next time.

    Raises
    ------
    ConfigError
        If it has to be downloaded and cannot be; it begins with `where`.
    """
    from sklearn import datasets

    if name in BUNDLED:
        return getattr(datasets, f"load_{name}")(as_frame=True).frame, TARGET
    if name in SYNTHETIC:
        X, y = make_synthetic(name)
        return pd.DataFrame(X, columns=["x1", "x2"]).assign(**{TARGET: y}), TARGET
    bunch = _download(getattr(datasets, f"fetch_{name}"), where)
    frame = pd.DataFrame(bunch.data, columns=bunch.get("feature_names"))
    frame[TARGET] = bunch.target
    return _as_text(frame.infer_objects()), TARGET


def load_openml(source: str | int, target: Column | None, where: str) -> tuple[pd.DataFrame, Column]:
    """A set of OpenML and its column of labels: `target` or, if that is None, the one that OpenML names.

    Of several sets of one name it is scikit-learn's choice, the oldest that is active.  The set is kept as
    those of `load_set` are.

    Raises
    ------
    ConfigError
        If it cannot be downloaded, or OpenML names no target or several; it begins with `where`.
    """
    from sklearn.datasets import fetch_openml

    which = {"name": source} if isinstance(source, str) else {"data_id": source}
    bunch = _download(lambda: fetch_openml(**which, as_frame=True), where)
    if target is None:
        names = list(bunch.target_names)
        if len(names) != 1:
            raise ConfigError(
                f"{where}: OpenML names {len(names)} targets; say by 'target' which column holds the labels"
            )
        target = names[0]
    return bunch.frame, target


def _download(fetch: Callable[[], Any], where: str) -> Any:
    try:
        with warnings.catch_warnings():
            # What becomes of it is said below.
            warnings.filterwarnings("ignore", "A network error occurred|Retry downloading")
            return fetch()
    except Exception as error:  # noqa: BLE001 - no network, no space, a damaged copy, an unknown name
        raise ConfigError(
            f"{where}: is neither in scikit-learn's data home nor can it be downloaded: {one_line(error)}"
        ) from None


def _as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Decode columns of bytes."""
    for column in frame.columns:
        if pd.api.types.is_object_dtype(frame[column]):
            frame[column] = frame[column].map(lambda v: v.decode() if isinstance(v, bytes) else v)
    return frame
