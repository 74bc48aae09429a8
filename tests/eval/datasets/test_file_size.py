import bz2
import gzip
import lzma

import pandas as pd
import pytest

from boostnoise.eval import _memory
from boostnoise.eval.config.dataset_spec import DatasetSpec
from boostnoise.eval.datasets import file_size
from boostnoise.eval.datasets.loader import load_dataset
from boostnoise.eval.errors import ConfigError

ROWS = 1_000_000
TEXT = b"a,y\n" + b"1,0\n2,1\n" * (ROWS // 2)


@pytest.fixture(autouse=True)
def ten_megabytes(monkeypatch):
    for module in (_memory, file_size):
        monkeypatch.setattr(module, "available_bytes", lambda: 10_000_000)


def load(path):
    return load_dataset(
        DatasetSpec(path=str(path), target="y", format="parquet" if path.suffix == ".parquet" else "csv")
    )


@pytest.mark.parametrize(
    ("suffix", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_a_small_file_of_a_large_table(tmp_path, suffix, compress):
    path = tmp_path / f"bomb.csv.{suffix}"
    path.write_bytes(compress(TEXT))
    assert path.stat().st_size < 10_000
    with pytest.raises(
        ConfigError, match=rf"bomb.csv.{suffix} needs about 0.0 GiB of memory, and 0.0 GiB are available"
    ):
        load(path)
    path.write_bytes(compress(TEXT[:4000]))
    assert load(path).y.size == 999


def test_a_parquet_file_of_a_large_table(tmp_path):
    path = tmp_path / "bomb.parquet"
    table = pd.DataFrame({"a": 0, "y": [0, 1] * (ROWS // 2)})
    table.to_parquet(path)
    assert path.stat().st_size < 200_000
    with pytest.raises(ConfigError, match=r"bomb.parquet needs about 0.0 GiB of memory"):
        load(path)
    table[:1000].to_parquet(path)
    assert load(path).y.size == 1000


def test_a_parquet_file_of_lists(tmp_path):
    path = tmp_path / "lists.parquet"
    pd.DataFrame({"a": [[0.0] * 100_000] * 10, "y": [0, 1] * 5}).to_parquet(path)
    with pytest.raises(ConfigError, match=r"lists.parquet needs about 0.0 GiB of memory"):
        load(path)


def test_a_damaged_file(tmp_path):
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(TEXT[:4000])[:-20])
    with pytest.raises(ConfigError, match=r"cut.csv.gz cannot be read"):
        load(path)
