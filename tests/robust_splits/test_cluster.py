import joblib
import numpy as np
import pytest

from robust_splits import RobustForestClassifier
from robust_splits._growing import Sample

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.release


def test_a_cluster_grows_the_same_trees_and_gets_the_data_once(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5_000, 10))
    y = (X[:, 0] + rng.normal(size=5_000) > 0).astype(int)
    forest = RobustForestClassifier(12, random_state=0, max_bins=255)
    expected = forest.fit(X, y).predict_proba(X)

    sent = []
    plain = Sample.__reduce_ex__
    monkeypatch.setattr(Sample, "__reduce_ex__", lambda self, protocol: sent.append(1) or plain(self, protocol))
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # else its port is that of any other cluster
        local_directory=tmp_path,
    )
    with (
        cluster,
        distributed.Client(cluster, timeout=30),
        joblib.parallel_config(backend="dask"),
    ):
        assert forest.fit(X, y).predict_proba(X).tobytes() == expected.tobytes()
    assert 1 <= len(sent) <= 2
