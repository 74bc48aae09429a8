import warnings
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from sklearn.utils import Bunch

from boostnoise.eval.config.dataset_spec import DOWNLOADED, DatasetSpec
from boostnoise.eval.datasets.loader import load_dataset
from boostnoise.eval.errors import ConfigError


def load(spec):
    return load_dataset(DatasetSpec.model_validate(spec))


@pytest.fixture
def fetched(monkeypatch):
    """Replace a download function by one that returns a bunch or raises an error."""

    def fetched(name, result):
        calls = []

        def fetch(**arguments):
            calls.append(arguments)
            if isinstance(result, Exception):
                warnings.warn("Retry downloading from url: https://example.org", stacklevel=1)
                raise result
            return result

        monkeypatch.setattr(datasets, name, fetch)
        return calls

    return fetched


def test_scikit_learn_has_the_download_functions():
    assert all(hasattr(datasets, f"fetch_{name}") for name in DOWNLOADED)


def test_numbers(fetched):
    X, y = np.arange(24.0).reshape(8, 3), np.array([1, 2] * 4, dtype=np.int32)
    fetched("fetch_covtype", Bunch(data=X, target=y, feature_names=["a", "b", "c"]))
    dataset = load({"set": "covtype", "drop": ["b"]})
    np.testing.assert_array_equal(dataset.X, X[:, [0, 2]])
    assert dataset.y.tolist() == [0, 1] * 4
    assert dataset.classes.tolist() == [1, 2]
    fetched("fetch_olivetti_faces", Bunch(data=X.astype(np.float32), target=y))
    np.testing.assert_array_equal(load("olivetti_faces").X, X)


def test_text_as_bytes(fetched, numbers):
    X = np.array([[0, b"tcp", 1.5], [2, b"udp", 2.5]] * 3, dtype=object)
    y = np.array([b"normal.", b"smurf."] * 3, dtype=object)
    fetched("fetch_kddcup99", Bunch(data=X, target=y, feature_names=["n", "protocol", "f"]))
    dataset = load({"set": "kddcup99", "positive": ["smurf."]})
    assert numbers(dataset)[:2].tolist() == [[0, 1.5, 1, 0], [2, 2.5, 0, 1]]
    assert dataset.y.tolist() == [0, 1] * 3


OPENML = Bunch(
    frame=pd.DataFrame(
        {
            "colour": pd.Categorical(["red", "green", "red", "red"], categories=["red", "green"]),
            "n": [1, 2, 3, 4],
            "class": pd.Categorical(["b", "a", "b", "a"], categories=["b", "a"]),
        }
    ),
    target_names=["class"],
)


def test_openml(fetched, numbers):
    calls = fetched("fetch_openml", OPENML)
    dataset = load({"openml": 24})
    assert dataset.name == "OpenML 24"
    assert numbers(dataset).tolist() == [[1, 1, 0], [2, 0, 1], [3, 1, 0], [4, 1, 0]]
    assert dataset.classes.tolist() == ["a", "b"]
    assert dataset.y.tolist() == [1, 0, 1, 0]
    other = load({"openml": "mushroom", "target": "colour", "categorical": "ordinal"})
    assert other.name == "mushroom"
    assert numbers(other).tolist() == [[1, 0], [2, 1], [3, 0], [4, 1]]
    assert calls == [{"data_id": 24, "as_frame": True}, {"name": "mushroom", "as_frame": True}]


def test_targets_of_openml(fetched):
    fetched("fetch_openml", Bunch(frame=OPENML.frame, target_names=["n", "class"]))
    with pytest.raises(ConfigError, match="OpenML has 2 default targets; set 'target'"):
        load({"openml": 24})
    with pytest.raises(ConfigError, match="target 'z' is not a column; columns are colour, n, class"):
        load({"openml": 24, "target": "z"})


@pytest.mark.parametrize(
    ("spec", "function"), [("covtype", "fetch_covtype"), ({"openml": 24, "name": "covtype"}, "fetch_openml")]
)
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            URLError(OSError(-3, "Temporary failure in\nname resolution")),
            "Temporary failure in name resolution",
        ),
        (ValueError("No active dataset\nfound"), "No active dataset found"),
        (EOFError(), "EOFError"),
    ],
)
def test_without_a_network(fetched, spec, function, error, message):
    fetched(function, error)
    with pytest.raises(ConfigError) as raised:
        load(spec)
    assert str(raised.value).startswith(
        "data set 'covtype': not in scikit-learn's data home, and cannot be downloaded: "
    )
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
