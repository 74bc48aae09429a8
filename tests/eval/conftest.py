import sys

import numpy as np
import pytest


def _fail(scores, error="E: no", **where):
    chosen = np.logical_and.reduce([scores[name] == value for name, value in where.items()])
    assert chosen.any()
    scores.loc[chosen, ["accuracy", "error"]] = [np.nan, error]


@pytest.fixture(scope="session")
def fail():
    """Marks cells as failed: clears the accuracy of the rows that have these values, and sets their error."""
    return _fail


def _with_measures(scores):
    # Imported here, so that tests which need no measures do not load them.
    from boostnoise.eval.metrics.registry import MEASURES

    return scores.reindex(columns=[*scores, *(name for name in MEASURES if name not in scores)])


@pytest.fixture(scope="session")
def with_measures():
    """Adds the measures that a table of scores lacks, as empty columns."""
    return _with_measures


@pytest.fixture(autouse=True)
def forget_metrics():
    """Removes metrics of users that a test registered."""
    yield
    registry = sys.modules.get("boostnoise.eval.metrics.registry")
    for names in () if registry is None else (registry.OF_CELLS, registry.REGISTRY):
        for name in names.keys() - set(registry.BUILT_IN):
            del names[name]


@pytest.fixture(scope="session")
def without_times():
    """Removes the times, which differ from run to run, from a table of scores."""
    return lambda scores: scores.drop(columns=["fit_seconds", "predict_seconds"])
