"""Every file that a command reads is a regular one: nothing is downloaded, and no command waits for a pipe."""

import json
import os
import signal
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner

from boostnoise.eval.cli.audit import main as noisyaudit
from boostnoise.eval.cli.main import main as noisyeval
from boostnoise.eval.config.dataset_spec import DatasetSpec
from boostnoise.eval.datasets.loader import load_dataset

TABLE = "a,label\n" + "1,x\n2,y\n" * 20
COMMANDS = {
    "audited data": [noisyaudit, "PATH"],
    "data whose format is known": [noisyaudit, "PATH", "--separator", ",", "--encoding", "utf-8"],
    "checked rows": [noisyaudit, "a.csv", "--checked", "PATH"],
    "model": [noisyaudit, "predict", "PATH", "a.csv"],
    "data of a starter config": [noisyeval, "new.json", "--init", "PATH"],
    "config": [noisyeval, "PATH"],
    "data of a config": [noisyeval, "study.json"],
    "published numbers": [noisyeval, "iris.json", "--published", "PATH"],
    "other run": [noisyeval, "iris.json", "--compare-with", "PATH"],
    "other store": [noisyeval, "iris.json", "--merge", "PATH"],
    "run": [noisyeval, "PATH", "--redraw"],
}


@pytest.fixture
def refuse(tmp_path, monkeypatch):
    """Runs a command on a path, which must be refused at once and in one line; returns that line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(TABLE)

    def run(which, path):
        config = {"models": ["decision_tree"], "noise": [{"kind": "uniform", "rates": [0.1]}]}
        data = {"path": path, "target": "label", "format": "csv"}
        (tmp_path / "study.json").write_text(json.dumps({"datasets": [data], **config}))
        (tmp_path / "iris.json").write_text(json.dumps({"datasets": ["iris"], **config}))
        command, *arguments = COMMANDS[which]
        with _time_limit():
            done = CliRunner().invoke(command, [path if word == "PATH" else word for word in arguments])
        assert done.exit_code == 2, done.exc_info
        *warnings, line = done.stderr.splitlines()
        assert all(" warning: " in warning for warning in warnings)
        return line

    return run


@contextmanager
def _time_limit():
    """End what waits forever, and restore the handlers of signals, which commands set."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGTERM)}
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("the command waits"))
    signal.alarm(30)
    try:
        yield
    finally:
        signal.alarm(0)
        for number, handler in handlers.items():
            signal.signal(number, handler)


@pytest.fixture
def server():
    """A web server with a table at each address, and the list of requests that it got."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(TABLE.encode())

        do_HEAD = do_GET

        def log_message(self, *_): ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()


@pytest.mark.parametrize(
    "address", ["{}/a.csv", "zip://a.csv::{}/a.zip.csv", "s3://bucket/a.csv", "file://{}.csv"]
)
@pytest.mark.parametrize("which", COMMANDS)
def test_nothing_is_downloaded(refuse, server, which, address):
    url, requests = server
    assert "Traceback" not in refuse(which, address.format(url))
    assert requests == []


def test_a_path_is_never_an_address(tmp_path, monkeypatch, server):
    """A folder may be named http: and hold the rest of what looks like an address."""
    url, requests = server
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / url
    folder.mkdir(parents=True)
    (folder / "a.csv").write_text(TABLE)
    spec = DatasetSpec.model_validate({"path": f"{url}/a.csv", "target": "label"})
    assert load_dataset(spec).X.shape == (40, 1)
    assert requests == []


@pytest.mark.parametrize("which", [name for name in COMMANDS if name not in ("other run", "run")])
def test_no_command_waits_for_a_pipe(refuse, tmp_path, which):
    os.mkfifo(tmp_path / "pipe.csv")
    assert "pipe.csv" in refuse(which, "pipe.csv")
