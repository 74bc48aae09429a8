"""Record of a run in its store: its config, cells, data sets and sessions."""

from __future__ import annotations

import json
import os
import platform
import time
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Annotated, Any, Self

import numpy as np
from pydantic import AfterValidator, Field

from ..config.base import Name, Strict, validate
from ..config.dataset_spec import DatasetSpec
from ..config.noise_spec import GivenSpec, NoiseSpec
from ..config.run import Config
from ..errors import ConfigError, one_line
from ..extensions.versions import version_of
from ..noise.given import GivenNoise
from .jobs import SETTING_DIGITS
from .plan import Plan
from .store import Store

MAX_SESSIONS = 100  # in a record


def _check_printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be printable")
    return text


Text = Annotated[str, Field(max_length=200), AfterValidator(_check_printable)]
Count = Annotated[int, Field(ge=0, le=2**53)]


class Session(Strict):
    """One call of the command, or of `run`, that had cells to fit.

    Attributes
    ----------
    started : str
        Start time, ISO 8601, UTC.
    seconds : float or None
        Duration; None if the session was killed or is still running.
    fitted : int
        Number of cells that the session fitted.
    versions : dict of str to str
        Versions of the packages that affect the scores, and of this package.
    python, system, processor : str
    cores : int or None
    on_cluster : bool
        Whether the cells were fitted on a cluster.
    """

    started: Text
    seconds: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    fitted: Count = 0
    versions: dict[Text, Text]
    python: Text
    system: Text
    processor: Text
    cores: Count | None
    on_cluster: bool = False


class DatasetFacts(Strict):
    """The size of a data set.

    Attributes
    ----------
    rows, features, classes : int
    """

    rows: Count
    features: Count
    classes: Count


class CellRecord(Strict):
    """Identifying columns of a cell in the scores, its key in the store, and its setting."""

    key: str = Field(pattern="^[0-9a-f]{64}$")
    setting: str | None = Field(default=None, pattern=f"^[0-9a-f]{{{SETTING_DIGITS}}}$")  # None in old records
    dataset: Name
    noise_kind: Name
    noise_rate: float = Field(ge=0, le=1, allow_inf_nan=False)
    repeat: Count
    model: Name


class RunRecord(Strict):
    """What the store keeps about a run, in addition to the scores of its cells.

    Attributes
    ----------
    config : dict
        Content of the config file.
    datasets : dict of str to DatasetFacts
    cells : list of CellRecord
        In the order of the config.
    sessions : list of Session
        The oldest first.
    given_rates : dict of str to dict of str to float
        Noise rates of noisy labels that are one curve, by kind of noise and name of the labels.
    """

    config: dict[str, Any]
    datasets: dict[Name, DatasetFacts]
    cells: list[CellRecord]
    sessions: list[Session] = Field(default=[], max_length=MAX_SESSIONS)
    given_rates: dict[Name, dict[Name, Annotated[float, Field(ge=0, le=1)]]] = Field(default={})

    def dumps(self) -> str:
        """Serialise to JSON."""
        exclude = set() if self.given_rates else {"given_rates"}  # which earlier versions do not know
        return json.dumps(self.model_dump(exclude=exclude), separators=(",", ":"), allow_nan=False)

    @classmethod
    def loads(cls, text: str) -> RunRecord:
        """Read what `dumps` wrote.

        Raises
        ------
        ConfigError
            If the text is not such a record.
        """
        try:
            return validate(cls, json.loads(text))
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"the record of the run cannot be read: {one_line(error)}") from None

    def check_cells(self, config: Config) -> None:
        """Check that the cells are those of a config, each exactly once and in its order.

        Raises
        ------
        ConfigError
            If they are not.
        """
        rates = {(cell.dataset, cell.noise_kind): {cell.noise_rate} for cell in self.cells}
        for cell in self.cells:
            rates[cell.dataset, cell.noise_kind].add(cell.noise_rate)
        models = [model.name for model in config.models]
        expected = (
            (dataset.name, noise.name, noise_rate, repeat, model)
            for dataset in config.datasets
            for noise in config.noise
            for noise_rate in _rates(noise, dataset, rates.get((dataset.name, noise.name), set()))
            for repeat in range(config.repeats)
            for model in models
        )
        found = (
            (cell.dataset, cell.noise_kind, cell.noise_rate, cell.repeat, cell.model) for cell in self.cells
        )
        if set(self.datasets) != {dataset.name for dataset in config.datasets} or any(
            a != b for a, b in zip_longest(expected, found)
        ):
            raise ConfigError(f"the cells in the record of the run {config.name!r} do not match its config")


def _rates(noise: NoiseSpec, dataset: DatasetSpec, found: set[float]) -> list[float]:
    """Noise rates of a data set under a kind of noise.  That of given noise depends on the labels."""
    if not isinstance(noise, GivenSpec):
        return [noise_rate for noise_rate, _ in noise.noise_by_rate]
    if noise.labels[0] not in dataset.noisy_names:
        return []
    # Without true labels of the training rows, there is no rate 0.
    rates = sorted(noise_rate for noise_rate in found if not np.isclose(noise_rate, 0.0))
    return [*([0.0] if 0.0 in found else []), *rates] if len(rates) == len(noise.labels) else []


def make_record(plan: Plan, previous: RunRecord | None) -> RunRecord:
    """Make the record of a planned run.  It keeps the sessions of a previous record of the same name."""
    sessions = previous.sessions if previous is not None and plan.config.resume else []
    return RunRecord(
        config=plan.config.model_dump(),
        datasets={
            name: DatasetFacts(rows=len(data.y), features=data.X.shape[1], classes=len(data.classes))
            for name, data in plan.datasets.items()
        },
        cells=[
            CellRecord(
                key=key,
                setting=job.setting,
                dataset=job.dataset,
                noise_kind=job.noise_kind,
                noise_rate=float(job.noise_rate),
                repeat=job.repeat,
                model=job.model.name,
            )
            for key, job in zip(plan.keys, plan.jobs, strict=True)
        ],
        sessions=sessions,
        given_rates=_given_rates(plan),
    )


def _given_rates(plan: Plan) -> dict[str, dict[str, float]]:
    several = {
        noise.name for noise in plan.config.noise if isinstance(noise, GivenSpec) and len(noise.labels) > 1
    }
    rates: dict[str, dict[str, float]] = {}
    for job in plan.jobs:
        if isinstance(job.noise, GivenNoise) and job.noise_kind in several:
            rates.setdefault(job.noise_kind, {})[job.noise.name] = float(job.noise_rate)
    return rates


class Recorder:
    """Saves the record of a run to its store while cells are fitted.  Use it as a context manager.

    Parameters
    ----------
    store : Store
    plan : Plan
    on_cluster : bool
        Whether the cells are fitted on a cluster.

    Attributes
    ----------
    record : RunRecord
    n_fitted : int
        Number of cells fitted so far, updated by the caller.
    """

    def __init__(self, store: Store, plan: Plan, *, on_cluster: bool) -> None:
        text = store.run_record(plan.config.name)
        previous = None if text is None else RunRecord.loads(text)
        self.record = make_record(plan, previous)
        self.n_fitted = 0
        self._store, self._name = store, plan.config.name
        self._is_saved = self.record == previous
        self._keeps_earlier = plan.config.resume
        self._session = _new_session(plan, on_cluster) if plan.pending else None
        self._saved_session: Session | None = None
        self._start = time.monotonic()

    def __enter__(self) -> Self:
        # Saved before the first fit, so that a killed run can be loaded.
        if self._session is not None or not self._is_saved:
            self.save()
        return self

    def save(self) -> None:
        """Save the record, with the sessions that other processes have added in the meantime."""
        self._store.change_run(self._name, self._with_sessions)

    def _with_sessions(self, saved: str | None) -> str:
        sessions = self.record.sessions
        if saved is not None and self._keeps_earlier:
            sessions = RunRecord.loads(saved).sessions
        self._keeps_earlier = True
        if self._session is not None:
            # Sessions of several processes may be equal; then each replaces one of them.
            i = sessions.index(self._saved_session) if self._saved_session in sessions else len(sessions)
            sessions = [*sessions[:i], self._session, *sessions[i + 1 :]]
            self._saved_session = self._session
        self.record = self.record.model_copy(update={"sessions": sessions[-MAX_SESSIONS:]})
        return self.record.dumps()

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        if self._session is None:
            return
        seconds = round(time.monotonic() - self._start, 3)
        self._session = self._session.model_copy(update={"seconds": seconds, "fitted": self.n_fitted})
        # After an error, such as a full disk, an error of this step must not hide it.
        with nullcontext() if error_type is None else suppress(ConfigError):
            self.save()


def _new_session(plan: Plan, on_cluster: bool) -> Session:
    versions = dict(version for job in plan.pending.values() for version in job.model.versions)
    return Session(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=versions | {"boostnoise": version_of("boostnoise")},
        python=platform.python_version(),
        system=platform.system(),
        processor=platform.machine(),
        cores=os.cpu_count(),
        on_cluster=on_cluster,
    )
