import pytest


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Results and data in memory are written to the working directory."""
    monkeypatch.chdir(tmp_path)
