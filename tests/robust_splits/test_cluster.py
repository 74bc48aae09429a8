import joblib
import numpy as np
import pytest

from robust_splits import RobustForestClassifier
from robust_splits._growing import Sample

pytestmark = [pytest.mark.release, pytest.mark.usefixtures("dask_client")]


def test_a_cluster_grows_the_same_trees_and_gets_the_data_once(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5_000, 10))
    y = (X[:, 0] + rng.normal(size=5_000) > 0).astype(int)
    forest = RobustForestClassifier(12, random_state=0, max_bins=255)
    expected = forest.fit(X, y).predict_proba(X)

    sent = []
    plain = Sample.__reduce_ex__
    monkeypatch.setattr(Sample, "__reduce_ex__", lambda self, protocol: sent.append(1) or plain(self, protocol))
    with joblib.parallel_config(backend="dask"):
        assert forest.fit(X, y).predict_proba(X).tobytes() == expected.tobytes()
    assert 1 <= len(sent) <= 2
