"""Any server may be at the scheduler's address, and a cluster may lose its workers."""

import json
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import warnings

import pytest

from boostnoise.eval.config.run import parse_config
from boostnoise.eval.datasets.loader import load_dataset
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.execution import dask_cluster as module
from boostnoise.eval.execution.dask_cluster import fit_on_cluster
from boostnoise.eval.execution.jobs import make_jobs
from boostnoise.eval.models.resolved_model import resolve_all

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")

pytestmark = pytest.mark.release

PATIENCE = 60  # seconds after which a test fails instead of waiting
ALLOWED = {"sleeper"}
SLEEPER = """
import time
from sklearn.tree import DecisionTreeClassifier

class Sleeper(DecisionTreeClassifier):
    def __init__(self, seconds=0.0, random_state=None):
        super().__init__(random_state=random_state)
        self.seconds = seconds

    def fit(self, X, y):
        time.sleep(self.seconds)
        return super().fit(X, y)
"""


def study(n_models, seconds=0.0):
    return {
        "datasets": ["iris"],
        "models": [
            {
                "name": f"m{i}",
                "module": "sleeper",
                "model": "Sleeper",
                "params": {"seconds": seconds + i / 1000},
            }
            for i in range(n_models)
        ],
        "noise": [{"kind": "uniform", "rates": [0]}],
        "repeats": 1,
    }


def fitted(content, scheduler):
    """The outcomes of a study, as they come."""
    config = parse_config(content, "run")
    datasets = {spec.name: load_dataset(spec) for spec in config.datasets}
    jobs = make_jobs(config, resolve_all(config.models, ALLOWED), list(datasets.values()))
    return fit_on_cluster(((job.key, job) for job in jobs), datasets, scheduler=scheduler)


def within_patience(function):
    """The error a function raises; a function that does not end fails the test."""
    raised = []

    def run():
        try:
            function()
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive(), f"no end within {PATIENCE} s"
    (error,) = raised
    return error


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


class Listener:
    """A server on loopback that answers every connection with the same bytes, and may close it."""

    def __init__(self, answer=b"", *, closes=False, context=None):
        self.accepted = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._answer, self._closes, self._context = answer, closes, context
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # it was closed
            try:
                if self._context is not None:
                    connection = self._context.wrap_socket(connection, server_side=True)
                connection.sendall(self._answer)
            except OSError:  # errors of TLS too
                connection.close()
                continue
            self.accepted.append(connection)
            if self._closes:
                connection.close()

    def close(self):
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()
        for connection in self.accepted:
            connection.close()


@pytest.fixture
def listen():
    listeners = []

    def start(*args, **options):
        listeners.append(Listener(*args, **options))
        return listeners[-1]

    yield start
    for listener in listeners:
        listener.close()


@pytest.fixture(scope="module")
def sleeper(tmp_path_factory):
    """A folder with a module of models, which can be imported from it."""
    folder = tmp_path_factory.mktemp("sleeper")
    (folder / "sleeper.py").write_text(SLEEPER)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder


@pytest.fixture(scope="module")
def shared_cluster(sleeper, start_cluster):
    """One cluster for all tests: each process takes seconds to start."""
    cluster = start_cluster(sleeper)
    yield cluster
    cluster.stop()


@pytest.fixture
def cluster(shared_cluster):
    """A cluster with a worker at least, which may be one that a test left."""
    if not any(worker.poll() is None for worker in shared_cluster.workers):
        shared_cluster.add_worker()
    return shared_cluster


def loops():
    """Threads of this process that serve a connection."""
    return {thread for thread in threading.enumerate() if thread.name in ("IO loop", "noisyeval cluster")}


HTTP = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "closes", "found"),
    [
        (b"", False, r"no answer within 1\.5 s"),
        ((10**9).to_bytes(8, "little"), False, r"no answer within 1\.5 s"),
        (HTTP, False, "not come from Dask"),
        (HTTP, True, "not come from Dask|reset|closed"),
        (b"", True, "reset|closed"),
        (bytes(8), False, "not come from Dask"),
    ],
    ids=["silent", "stops", "http", "http_and_closes", "closes", "empty_message"],
)
def test_a_port_that_is_not_a_scheduler_is_refused_in_one_line_and_leaves_no_thread(
    sleeper, listen, monkeypatch, answer, closes, found
):
    if "no answer" in found:
        monkeypatch.setattr(module, "CONNECT_SECONDS", 1.5)
    address = f"tcp://127.0.0.1:{listen(answer, closes=closes).port}"
    before = loops()
    error = within_patience(lambda: list(fitted(study(1), address)))
    assert isinstance(error, ConfigError)
    assert re.match(rf"scheduler: .*{address}.*({found}).*expected .*scheduler", str(error))
    assert "\n" not in str(error)
    assert wait_until(lambda: loops() <= before)


TLS_KEYS = (
    "distributed.comm.tls.ca-file",
    "distributed.comm.tls.client.cert",
    "distributed.comm.tls.client.key",
)


def refused_tls(port, **settings):
    with dask.config.set({f"distributed.comm.tls.{name}": value for name, value in settings.items()}):
        error = within_patience(lambda: list(fitted(study(1), f"tls://127.0.0.1:{port}")))
    assert isinstance(error, ConfigError)
    assert "\n" not in str(error)
    assert all(key in str(error) for key in TLS_KEYS)
    return str(error)


def test_tls_without_certificates_names_the_settings(sleeper, listen):
    assert "certificate" in refused_tls(listen().port)


def test_tls_with_files_that_are_no_certificates_names_the_settings(sleeper, listen):
    missing, text = str(sleeper / "missing.pem"), str(sleeper / "sleeper.py")
    port = listen().port
    assert "No such file" in refused_tls(port, **{"ca-file": missing, "client": {"cert": missing, "key": None}})
    refused_tls(port, **{"ca-file": text, "client": {"cert": text, "key": None}})


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates with openssl")
def test_tls_with_certificates_of_another_authority_names_the_settings(tmp_path, sleeper, listen):
    def certificate(name):
        key, cert = str(tmp_path / f"{name}.key"), str(tmp_path / f"{name}.crt")
        subject = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
        command = ["openssl", "req", *subject, "-keyout", key, "-out", cert]
        subprocess.run(command, check=True, capture_output=True)
        return cert, key

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate("theirs"))
    cert, key = certificate("ours")
    port = listen(context=context).port
    assert "CERTIFICATE_VERIFY_FAILED" in refused_tls(
        port, **{"ca-file": cert, "client": {"cert": cert, "key": key}}
    )


def test_each_loss_of_all_workers_is_warned_of_once(sleeper, cluster, monkeypatch):
    monkeypatch.setattr(module, "COUNT_SECONDS", 0.1)
    outcomes = []

    def lose_and_replace():
        for n_losses in (1, 2):
            n_done = len(outcomes)
            wait_until(lambda n_done=n_done: len(outcomes) > n_done)
            cluster.lose_worker()
            wait_until(lambda n_losses=n_losses: len(lost(caught)) == n_losses)
            time.sleep(0.5)  # time for more warnings
            cluster.add_worker()

    def lost(caught):
        return [warning for warning in caught if "lost all its workers" in str(warning.message)]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        changes = threading.Thread(target=lose_and_replace)
        changes.start()
        for _, outcome in fitted(study(3, seconds=0.5), cluster.address):
            outcomes.append(outcome)
        changes.join()
    assert [outcome.error for outcome in outcomes] == [None] * 3
    assert len(lost(caught)) == 2


def test_a_scheduler_that_stops_answering_is_warned_of(sleeper, cluster, monkeypatch):
    monkeypatch.setattr(module, "COUNT_SECONDS", 0.1)
    monkeypatch.setattr(module, "ANSWER_SECONDS", 1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")

        def warned():
            return any("does not answer" in str(warning.message) for warning in caught)

        def thaw():
            wait_until(warned)
            cluster.scheduler.send_signal(signal.SIGCONT)

        outcomes = fitted(study(3, seconds=0.5), cluster.address)
        done = [next(outcomes)]
        cluster.scheduler.send_signal(signal.SIGSTOP)
        threading.Thread(target=thaw).start()
        done += outcomes
    assert warned()
    assert [outcome.error for _, outcome in done] == [None] * 3


@pytest.mark.filterwarnings("ignore:the cluster has no worker")
def test_a_result_that_is_lost_with_its_worker_comes_again(sleeper, cluster, monkeypatch):
    states = []

    def outcome_of(future, original=module._outcome):
        states.append(future.status)
        return None if len(states) % 2 else original(future)

    monkeypatch.setattr(module, "_outcome", outcome_of)
    outcomes = dict(fitted(study(3), cluster.address))
    assert [outcome.error for outcome in outcomes.values()] == [None] * 3
    assert len(states) == 6


COMMAND = """
from boostnoise.eval.execution import dask_cluster
dask_cluster.COUNT_SECONDS = 0.1
from boostnoise.eval.cli.main import main
main()
"""


def interrupted(folder, address, is_time, number):
    """The lines that the command prints when it gets a signal at some time; it must end."""
    (folder / "study.json").write_text(json.dumps(study(20, seconds=0.5)))
    command = [sys.executable, "-c", COMMAND, "study.json", "--scheduler", address]
    with (folder / "stderr.txt").open("w+") as stderr:
        process = subprocess.Popen(
            [*command, "--allow-module", "sleeper"], cwd=folder, stdout=subprocess.DEVNULL, stderr=stderr
        )
        try:
            assert wait_until(lambda: is_time((folder / "stderr.txt").read_text()))
            process.send_signal(number)
            assert process.wait(PATIENCE) == 130
        finally:
            process.kill()
            process.wait()
    lines = (folder / "stderr.txt").read_text().split("\n")
    ours = re.compile("study: |noisyeval: warning: |Interrupted|$")
    assert [line for line in lines if not ours.match(line)] == []
    assert lines[-2].startswith("Interrupted")


def test_a_signal_ends_the_command_while_it_connects(sleeper, listen):
    listener = listen()
    # The second connection is Dask's.
    interrupted(
        sleeper, f"tcp://127.0.0.1:{listener.port}", lambda _: len(listener.accepted) == 2, signal.SIGTERM
    )


def test_a_signal_ends_the_command_while_it_waits_for_workers(cluster):
    def is_time(printed):
        # The first tenth of the cells is done: 2 of 20.
        if "2 of 20" in printed and cluster.workers[-1].poll() is None:
            cluster.lose_worker()
        return "lost all its workers" in printed

    interrupted(cluster.folder, cluster.address, is_time, signal.SIGINT)
