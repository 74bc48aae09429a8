import resource
import sys

import numpy as np
import pandas as pd
import pytest

from boostnoise import audit, compare_annotators
from boostnoise.eval import _memory
from boostnoise.eval._memory import available_bytes, check_forests
from boostnoise.eval.errors import ConfigError


@pytest.fixture
def one_gib(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 2**30)


@pytest.mark.usefixtures("one_gib")
def test_forests_of_many_classes_are_refused_before_they_grow():
    check_forests(300_000, 2, "y")
    with pytest.raises(ConfigError, match=r"^a.csv has 400,000 rows, .* 1.1 GiB .*; use fewer rows$"):
        check_forests(400_000, None, "a.csv")
    n, n_classes = 10_000, 200
    X, y = np.arange(n)[:, np.newaxis], np.arange(n) % n_classes
    expected = (
        "has 200 different labels in 10,000 rows, for which forests need about 1.9 GiB of memory, and 1.0 GiB are "
        "available; join rare labels or use fewer rows"
    )
    with pytest.raises(ConfigError, match=f"^y {expected}"):
        audit(X, y)
    with pytest.raises(ConfigError, match=f"^labels {expected}"):
        compare_annotators(X, pd.DataFrame({"ann": y, "bob": y}))


def test_the_limit_of_a_container_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(_memory, "CONTAINER", tmp_path)
    whole = available_bytes()
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1000\n")
    (tmp_path / "memory.stat").write_text("anon 600\ninactive_file 300\n")
    assert available_bytes() > 100_000
    (tmp_path / "memory.max").write_text("5000\n")
    assert available_bytes() == 4300 < whole


@pytest.mark.skipif(sys.platform != "linux", reason="psutil measures other things there")
def test_the_limit_of_the_process_counts(monkeypatch):
    whole = available_bytes()
    assert 2**20 < whole < 2**50
    for limited in (resource.RLIMIT_DATA, resource.RLIMIT_AS):
        none = (resource.RLIM_INFINITY,) * 2
        monkeypatch.setattr(
            resource,
            "getrlimit",
            lambda kind, limited=limited, none=none: (2**31,) * 2 if kind == limited else none,
        )
        assert available_bytes() < min(whole, 2**31)
