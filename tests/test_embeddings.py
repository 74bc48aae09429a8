"""The recipe for files of embeddings, on small stand-ins of the vectors, documents and networks."""

import importlib.util
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner


@pytest.fixture(scope="module")
def embeddings(root):
    spec = importlib.util.spec_from_file_location("embeddings", root / "configs" / "embeddings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DOCUMENTS = {
    "train": SimpleNamespace(data=["Cats, dogs; cats", "zzz!", "the dogs"], target=np.array([0, 1, 2])),
    "test": SimpleNamespace(data=["Cats?"], target=np.array([1])),
}


def make(embeddings, *arguments):
    done = CliRunner().invoke(embeddings.main, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output, pd.read_parquet(arguments[-1])


def test_averaged_word_vectors(embeddings, tmp_path, monkeypatch):
    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", lambda subset: DOCUMENTS[subset])
    lines = ["Cats 1 0", "cats 3 0.5", "dogs 2 7", "the 0 1", "of late 9 9"]
    (tmp_path / "glove.txt").write_text("\n".join(lines) + "\n")
    output, table = make(embeddings, "news", tmp_path / "glove.txt", tmp_path / "data" / "news.parquet")
    assert "3 rows, 2 features" in output  # one document has no known word
    assert table["split"].tolist() == ["train", "train", "test"]
    assert table["target"].tolist() == [0, 2, 1]
    np.testing.assert_allclose(table[["f0", "f1"]], [[2, 2.5], [1, 4], [1, 0]])
    assert table["f0"].dtype == np.float32


def test_features_of_a_network(embeddings, tmp_path):
    rng = np.random.default_rng(0)
    X = {"X_train": rng.normal(size=(5, 3)).astype(np.float32), "X_test": rng.normal(size=(2, 3))}
    np.savez(tmp_path / "features.npz", y_train=np.arange(5), y_test=np.arange(2), **X)
    _, table = make(embeddings, "arrays", tmp_path / "features.npz", tmp_path / "cifar.parquet")
    assert table.columns.tolist() == ["f0", "f1", "f2", "target", "split"]
    assert table["target"].tolist() == [0, 1, 2, 3, 4, 0, 1]
    np.testing.assert_allclose(table.loc[table["split"] == "test", ["f0", "f1", "f2"]], X["X_test"], rtol=1e-6)
