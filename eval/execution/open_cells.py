"""Cells of a run that are left to fit, shared with other processes that use the same store."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from itertools import chain
from typing import Self

from .._wording import numbered
from ..errors import ConfigError
from ..metrics.outcome import Outcome
from .claims import Claims
from .jobs import Job
from .plan import Plan, Progress
from .run_record import Recorder
from .store import Store

WAIT_SECONDS = 0.5  # between looks at the cells that other processes are fitting


class OpenCells:
    """Cells of a run that are left to fit, and the outcomes of all others.  Use it as a context manager.

    A cell is claimed before it is fitted.  Cells that other processes have claimed are passed over; once these
    are finished, their outcomes are read from the store.

    Parameters
    ----------
    plan : Plan
    store : Store
    recorder : Recorder
    claims : Claims
    progress : callable or None
        Called at the start and after each cell with a `Progress`.

    Attributes
    ----------
    outcomes : dict of str to Outcome
        Outcomes by key: of earlier runs, of this one, and of other processes that ran at the same time.
    """

    def __init__(
        self,
        plan: Plan,
        store: Store,
        recorder: Recorder,
        claims: Claims,
        progress: Callable[[Progress], object] | None,
    ) -> None:
        self._plan, self._store, self._recorder, self._claims = plan, store, recorder, claims
        self._progress = progress
        self._open = dict(plan.pending)
        self._refused: set[str] = set()
        self._failed = 0
        self.outcomes = dict(plan.finished)
        if progress is not None:
            progress(Progress(plan, len(self.outcomes)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        # An error of this step must not hide another one.
        with nullcontext() if error_type is None else suppress(ConfigError):
            self._restore_store()

    def passes(self) -> Iterator[Iterator[tuple[str, Job]]]:
        """Yield passes over the open cells, until there are none: iterators of the keys and jobs to fit.

        If other processes have claimed all of them, this waits until a claim is released.

        Warns
        -----
        UserWarning
            When it begins to wait.
        """
        is_waiting = False
        while self._open:
            claimed = self._claim_each()
            first = next(claimed, None)
            if first is not None:
                is_waiting = False
                yield chain([first], claimed)
            elif self._open:
                if not is_waiting:
                    what = numbered(len(self._open), "cell")
                    warnings.warn(f"another process is fitting the last {what}; waiting for it", stacklevel=2)
                is_waiting = True
                time.sleep(WAIT_SECONDS)

    def put(self, key: str, outcome: Outcome) -> None:
        """Store the outcome of a cell that was fitted."""
        self._restore_store()
        self._store.put(self._open[key], outcome)
        if outcome.is_score:  # others could take an error for an earlier one, and try again
            self._claims.release(key)
        self._recorder.n_fitted += 1
        self._close(key, outcome)

    def _claim_each(self) -> Iterator[tuple[str, Job]]:
        """Claim the open cells, one by one as they are asked for, and yield those that are to be fitted."""
        for key, job in list(self._open.items()):
            if not self._claims.claim(key):
                self._refused.add(key)
                continue
            # Read after the claim, because another process may have finished the cell just before.
            outcome = self._store.outcomes([key]).get(key)
            is_earlier = key not in self._refused and outcome == self._plan.stored.get(key)
            if outcome is None or is_earlier:
                yield key, job
            else:
                self._claims.release(key)
                self._close(key, outcome)

    def _close(self, key: str, outcome: Outcome) -> None:
        del self._open[key]
        self.outcomes[key] = outcome
        self._failed += outcome.error is not None
        if self._progress is not None:
            self._progress(Progress(self._plan, len(self.outcomes), self._failed, key, outcome))

    def _restore_store(self) -> None:
        """If the store was moved or deleted, write all outcomes to a new one."""
        if not self._store.is_in_place():
            self._store.reopen()
            cells = self._plan.cells
            self._store.put_all((cells[key], outcome) for key, outcome in self.outcomes.items())
            self._recorder.save()
            finished = numbered(sum(outcome.is_score for outcome in self.outcomes.values()), "finished cell")
            warnings.warn(
                f"the store {self._store.path} was moved or deleted during the run; "
                f"the {finished} of this run are in a new one",
                stacklevel=2,
            )
        self._claims.keep_in_place()
