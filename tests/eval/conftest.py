import functools
import hashlib
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest


def _fail(scores, error="E: no", **where):
    chosen = np.logical_and.reduce([scores[name] == value for name, value in where.items()])
    assert chosen.any()
    scores.loc[chosen, ["accuracy", "error"]] = [np.nan, error]


@pytest.fixture(scope="session")
def fail():
    """Marks cells as failed: clears the accuracy of the rows that have these values, and sets their error."""
    return _fail


def _with_measures(scores):
    # Imported here, so that tests which need no measures do not load them.
    from boostnoise.eval.metrics.registry import MEASURES

    return scores.reindex(columns=[*scores, *(name for name in MEASURES if name not in scores)])


@pytest.fixture(scope="session")
def with_measures():
    """Adds the measures that a table of scores lacks, as empty columns."""
    return _with_measures


@pytest.fixture(autouse=True)
def forget_metrics():
    """Removes metrics of users that a test registered."""
    yield
    registry = sys.modules.get("boostnoise.eval.metrics.registry")
    for names in () if registry is None else (registry.OF_CELLS, registry.REGISTRY):
        for name in names.keys() - set(registry.BUILT_IN):
            del names[name]


@pytest.fixture(scope="session")
def without_times():
    """Removes the times, which differ from run to run, from a table of scores."""
    return lambda scores: scores.drop(columns=["fit_seconds", "predict_seconds"])


class _Server:
    """A server of the files of a repository, which counts the requests for each."""

    def __init__(self, folder):
        self.folder, self.requests = folder, []

        class Handler(SimpleHTTPRequestHandler):
            def do_GET(handler):
                self.requests.append(handler.path)
                super().do_GET()

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def add(self, path, content):
        """Serve a file, and return how to download it."""
        from boostnoise.eval.downloads.download import SourceFile

        content = content.encode() if isinstance(content, str) else content
        file = SourceFile("owner/name", "abc", path, hashlib.sha256(content).hexdigest())
        self.put(file, content)
        return file

    def put(self, file, content):
        """Serve this content in place of the right one."""
        path = self.folder / file.repository / file.commit / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A local server in place of GitHub, with an empty cache of downloads."""
    from boostnoise.eval.downloads import download

    (tmp_path / "served").mkdir()
    server = _Server(tmp_path / "served")
    monkeypatch.setattr(download, "HOST", f"http://127.0.0.1:{server.http.server_port}")
    monkeypatch.setenv("BOOSTNOISE_CACHE", str(tmp_path / "cache"))
    yield server
    server.http.shutdown()
    server.http.server_close()
