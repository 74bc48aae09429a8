from pathlib import Path

import platformdirs

from boostnoise.eval._cache_folder import cache_folder


def test_the_environment_variable_comes_first(monkeypatch):
    monkeypatch.setenv("BOOSTNOISE_CACHE", "/elsewhere")
    assert cache_folder() == Path("/elsewhere")
    for unset in ("", None):
        monkeypatch.delenv("BOOSTNOISE_CACHE") if unset is None else monkeypatch.setenv("BOOSTNOISE_CACHE", "")
        assert cache_folder() == Path(platformdirs.user_cache_dir("boostnoise", appauthor=False))
