import numpy as np
import pytest


def _fail(scores, error="E: no", **where):
    chosen = np.logical_and.reduce([scores[name] == value for name, value in where.items()])
    assert chosen.any()
    scores.loc[chosen, ["accuracy", "error"]] = [np.nan, error]


@pytest.fixture(scope="session")
def fail():
    """Makes cells fail: the rows of a table of scores that have these values lose their accuracy."""
    return _fail


def _with_measures(scores):
    # Imported here, so that tests which need no scores do not load it.
    from boostnoise.eval.metrics.registry import MEASURES

    return scores.reindex(columns=[*scores, *(name for name in MEASURES if name not in scores)])


@pytest.fixture(scope="session")
def with_measures():
    """Adds the columns, without values, that the scores of a run have besides those of a table."""
    return _with_measures


@pytest.fixture(scope="session")
def without_times():
    """Leaves out of a table of scores what differs from run to run."""
    return lambda scores: scores.drop(columns=["fit_seconds", "predict_seconds"])
