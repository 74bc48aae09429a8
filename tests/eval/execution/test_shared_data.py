import os
import sys

import numpy as np
import psutil
import pytest

from boostnoise.eval import ConfigError
from boostnoise.eval.datasets.dataset import Dataset
from boostnoise.eval.execution.shared_data import SharedData, open_shared

RANDOM = np.random.default_rng(0)
SETS = {
    "c order": Dataset("c order", RANDOM.random((7, 3)), np.arange(7), np.array(["a", None, 3], dtype=object)),
    "by column": Dataset(
        "by column",
        np.asfortranarray(RANDOM.random((5, 2))),
        np.arange(5) % 2,
        np.arange(2),
        np.array([True, False, True, False, True]),
    ),
}


def test_the_same_data_as_pages_of_a_file():
    with SharedData(SETS) as shared:
        opened = open_shared(os.dup(shared.fileno()), shared.layout)
    assert list(opened) == list(SETS)
    for name, dataset in opened.items():
        for field in ("X", "y", "classes", "is_test"):
            np.testing.assert_array_equal(getattr(dataset, field), getattr(SETS[name], field))
        assert dataset.X.flags.c_contiguous == SETS[name].X.flags.c_contiguous
        assert dataset.X.ctypes.data % 64 == 0
        assert dataset.fingerprint == SETS[name].fingerprint
        with pytest.raises(ValueError, match="read-only"):
            dataset.X[0, 0] = 1
    # The arrays are in the file, not in what every process is sent.
    assert len(shared.layout.content) < 2000
    assert len(shared.layout.offsets) == 6


@pytest.mark.skipif(sys.platform != "linux", reason="only there the system tells apart what is shared")
def test_opened_data_take_no_memory_of_their_own():
    def own():
        memory = psutil.Process().memory_info()
        return memory.rss - memory.shared

    large = Dataset("large", RANDOM.random((400_000, 20)), np.arange(400_000) % 2, np.arange(2))
    with SharedData({"large": large}) as shared:
        before = own()
        opened = open_shared(os.dup(shared.fileno()), shared.layout)["large"]
        assert opened.X.sum() == large.X.sum()
    assert own() - before < 0.1 * large.X.nbytes


def test_the_file_has_no_name(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with SharedData(SETS):
        assert list(tmp_path.iterdir()) == []


def test_no_disk_space_for_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    message = "^the data sets cannot be written to a temporary file in .*missing: .* TMPDIR to another folder$"
    with pytest.raises(ConfigError, match=message):
        SharedData(SETS)
