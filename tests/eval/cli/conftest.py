import json
import sqlite3
from contextlib import closing

import pandas as pd
import pytest


@pytest.fixture
def study(noisyeval, tmp_path):
    """Writes a config, and runs the command on it in this process."""

    def run_study(config, *options, name="study.json", **settings):
        if config is not None:
            (tmp_path / name).write_text(json.dumps(config))
        return noisyeval(tmp_path, name, *options, **settings)

    return run_study


@pytest.fixture
def scores(without_times):
    """Reads the scores in a folder, without the times."""
    return lambda folder: without_times(pd.read_parquet(folder / "results" / "study" / "scores.parquet"))


def _stored(folder):
    with closing(sqlite3.connect(folder / "results" / "store.sqlite")) as connection:
        return dict(connection.execute("SELECT key, fit_seconds FROM cells"))


@pytest.fixture
def stored():
    """Reads the times of the cells in the store of a folder, by their keys."""
    return _stored
