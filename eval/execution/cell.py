"""Run one cell: split, corrupt the labels, fit and test."""

from __future__ import annotations

import sys
import time
import traceback
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ..config.model_spec import ModelSpec
from ..datasets.dataset import Dataset, take_rows
from ..datasets.encoding import Features
from ..datasets.train_test import split
from ..errors import one_line
from ..extensions.own_objects import unpack
from ..metrics.correct_rows import pack_rows
from ..metrics.measures import Predictions
from ..metrics.outcome import Outcome
from ..metrics.registry import measure
from ..models.factory import build
from ..models.fit_arguments import fit_arguments
from ..models.input_form import Form, enable_categories, input_form
from ..models.resolved_model import resolve
from ..noise.annotators import SoftLabels
from ..noise.base import NoisyLabels
from .jobs import Job

# All models of a repeat share the split, and many groups take seconds.
_split = lru_cache(maxsize=16)(split)


@lru_cache(maxsize=2)  # models of a repeat follow each other, and few need more than two forms
def _encode(
    dataset: Dataset, form: Form, split_arguments: tuple[float | None, bool, int, tuple[int, int] | None]
) -> Features:
    """Features of all rows as a form, encoded by the training rows of a split."""
    train, _ = _split(dataset, *split_arguments)
    return dataset.encode(form, train)


def run_cell(job: Job, dataset: Dataset, begin: Callable[[], None] = lambda: None) -> Outcome:
    """Fit and test one cell.  Errors of the model are returned in the outcome.

    Parameters
    ----------
    job : Job
    dataset : Dataset
    begin : callable
        Called right before the fit, after all preparation and loading.

    Returns
    -------
    Outcome
    """
    unpack(job.own)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _fit_and_test(job, dataset, begin)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a model may raise anything
        message = f"{type(error).__name__}: {one_line(error)}"
        # The text may contain characters that cannot be encoded, such as half a surrogate pair.
        trace = traceback.format_exc().encode(errors="backslashreplace").decode()
        return Outcome(error=message, traceback=trace)


def _fit_and_test(job: Job, dataset: Dataset, begin: Callable[[], None]) -> Outcome:
    # Noise is drawn inside the limit too: the last digits of sums over features depend on the number of
    # threads.
    with _thread_pools(len(sys.modules)).limit(limits=job.threads):
        train, test, rows, labels, weights, groups, y_test, noisy = split_and_labels(job, dataset)
        # Some models require class numbers 0 to K-1 without gaps, but noise or chance may remove a class.
        classes, y_train = np.unique(labels, return_inverse=True)
        model = build(job.model, seed=job.seed, threads=job.threads)
        X = _encode(dataset, input_form(model), job.split)
        X_train, X_test = take_rows(X, rows), take_rows(X, test)
        if isinstance(X_train, pd.DataFrame):
            enable_categories(model)
        arguments = fit_arguments(model, weights, groups)
        _warm_up(job, X_train, y_train, X_test, weights)
        begin()
        start = time.perf_counter()
        model.fit(X_train, y_train, **arguments)
        fitted = time.perf_counter()
        predicted = model.predict(X_test)
        predict_seconds = time.perf_counter() - fitted
        clean_probabilities = _clean_probabilities(dataset, test)
        predictions = Predictions(model, X_test, y_test, predicted, classes, clean_probabilities)
        measured = measure(predictions) | {metric.name: metric.score(predictions) for metric in job.metrics}
    times = {"fit_seconds": fitted - start, "predict_seconds": predict_seconds}
    # The share of wrong labels is unknown if true labels are.
    realised = {"realised_rate": _realised_rate(job, dataset, train, noisy)} if dataset.is_known is None else {}
    rows_of_all_repeats = None
    if dataset.is_test is not None and clean_probabilities is None:
        rows_of_all_repeats = pack_rows(classes[np.asarray(predicted, dtype=np.int64)] == y_test)
    outcome = Outcome({**measured, **realised, **times}, correct_rows=rows_of_all_repeats)
    if not outcome.is_score:
        raise ValueError(f"the model has invalid scores: {measured}")
    return outcome


def _clean_probabilities(dataset: Dataset, test: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Probabilities of the right labels of the test rows; None if their labels are those of the data set."""
    if dataset.checked is None:
        return None
    assert dataset.clean_probabilities is not None  # noqa: S101 - a plan estimates them before any fit
    return dataset.clean_probabilities[test]


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> ThreadpoolController:  # new modules may load libraries
    """Thread pools of the compiled libraries of this process; looking for them takes milliseconds."""
    return ThreadpoolController()


class SplitAndLabels(NamedTuple):
    """Rows of a cell, and the labels that its models are trained and tested on.

    Attributes
    ----------
    train, test : int64 arrays
        Rows of the data set.
    rows, labels, weights, groups : ndarray, the last two or None
        The rows that models are fitted to, with class numbers; soft labels have several copies of a row.
    y_test : int64 array
        Class numbers of the test rows.
    noisy : NoisyLabels
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    rows: NDArray[np.int64]
    labels: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    groups: NDArray[np.int64] | None
    y_test: NDArray[np.int64]
    noisy: NoisyLabels


def split_and_labels(job: Job, dataset: Dataset) -> SplitAndLabels:
    """Split the data set and draw the noise of a cell.  They are the same for every model."""
    train, test = _split(dataset, *job.split)
    noisy, y_test = _corrupt(job, dataset, train, test)
    return SplitAndLabels(train, test, *_training_rows(job, dataset, train, noisy.labels), y_test, noisy)


def _training_rows(
    job: Job, dataset: Dataset, train: NDArray[np.int64], labels: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None, NDArray[np.int64] | None]:
    """Rows that the model is fitted to, and their labels, weights and groups."""
    rows, weights = train, None if dataset.weights is None else dataset.weights[train]
    groups = None if dataset.groups is None else dataset.groups[train]
    if isinstance(job.noise, SoftLabels):
        rows, labels, shares = job.noise.copies(train)
        weights = shares if dataset.weights is None else shares * dataset.weights[rows]
        groups = rows if dataset.groups is None else dataset.groups[rows]  # copies of a row stay together
    return rows, labels, weights, groups


def _realised_rate(job: Job, dataset: Dataset, train: NDArray[np.int64], noisy: NoisyLabels) -> float:
    """Share of wrong training labels."""
    if isinstance(job.noise, SoftLabels):
        return job.noise.wrong_share(dataset.y, train)
    return noisy.realised_rate


def _corrupt(
    job: Job, dataset: Dataset, train: NDArray[np.int64], test: NDArray[np.int64]
) -> tuple[NoisyLabels, NDArray[np.int64]]:
    """Noisy training labels, and test labels."""
    seed: int | list[int] = job.seed
    if job.noise.kind == "annotators":  # their rate is a mean over data sets
        seed = [job.seed, int(job.fingerprint[:16], 16), int.from_bytes(job.noise.kind.encode())]
    elif job.noise.kind != "label":  # seeded as in the 2020 study
        setting = [int.from_bytes(job.noise.kind.encode()), round(job.noise_rate * 1e9)]
        seed = [job.seed, int(job.fingerprint[:16], 16), *setting]
    X = None
    if job.noise.needs_features:
        X = _encode(dataset, "numbers", job.split)
    return job.noise.corrupt_split(
        dataset.y,
        train,
        test,
        X,
        classes=np.arange(dataset.classes.size),
        noise_on=job.noise_on,
        random_state=seed,
    )


_warmed_up: set[str] = set()  # fingerprints of data sets


def _warm_up(
    job: Job,
    X_train: Features,
    y_train: NDArray[np.int64],
    X_test: Features,
    weights: NDArray[np.float64] | None,
) -> None:
    """Load the compiled code of `robust_splits`, so that timed fits do not include it.

    The code that is needed depends on the data, so every process does this once per data set.
    """
    if "robust_splits" not in job.model.packages or job.fingerprint in _warmed_up:
        return
    if isinstance(X_train, pd.DataFrame):  # for a pipeline, which turns it into numbers like these
        X_train, X_test = (np.zeros((len(X), 1)) for X in (X_train, X_test))
    for name, params in (
        ("robust_tree", {"max_depth": 1}),
        ("robust_forest", {"max_depth": 1, "n_estimators": 1}),
    ):
        spec = ModelSpec.model_validate({"model": name, "params": params})
        build(resolve(spec), seed=0, threads=1).fit(X_train, y_train, sample_weight=weights).predict(X_test)
    _warmed_up.add(job.fingerprint)
