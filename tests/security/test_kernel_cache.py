"""The learner runs where compiled code cannot be written to disk, or where it is damaged."""

import errno
import importlib.util
import os
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import numba
import pytest
from numba.core.caching import IndexDataCacheFile

from robust_splits._kernels import compile as kernel_compilation
from robust_splits._kernels import disk_cache

KERNEL = """
from robust_splits._kernels.compile import outer_kernel

@outer_kernel()
def double(x):
    return x * 2
"""
CALLBACK = """
from numba import types
from robust_splits._kernels.compile import callback

@callback(types.float64(types.float64))
def double(x):
    return x * 2
"""


@pytest.fixture(autouse=True)
def new_process(monkeypatch):
    """No test sees the warning of another."""

    def forget():
        monkeypatch.setattr(disk_cache, "_first_warning", threading.Lock())
        disk_cache.source_stamp.cache_clear()

    forget()
    return forget


@pytest.fixture
def cache(monkeypatch, tmp_path):
    folder = tmp_path / "cache"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """Put all folders that Numba tries below a file, where root cannot write either."""
    file = tmp_path / "__pycache__"
    file.touch()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(file / "cache"))
    for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(file))


@pytest.fixture(params=[KERNEL, CALLBACK], ids=["kernel", "callback"])
def source(request):
    return request.param


@pytest.fixture
def load(monkeypatch, tmp_path):
    """Makes the function `double` of a source, as a new process would; a kernel is compiled by its first call."""
    numbers = count()
    path = tmp_path / "doubling.py"
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def make(source=KERNEL):
        if not path.exists() or path.read_text() != source:
            path.write_text(source)
        spec = importlib.util.spec_from_file_location(f"doubling_{next(numbers)}", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module.double

    return make


def call(function, x=4.0):
    return function.ctypes(x) if hasattr(function, "ctypes") else function(x)


def n_hits(function):
    hits = function.cache_hits if hasattr(function, "cache_hits") else function.stats.cache_hits
    return hits if isinstance(hits, int) else sum(hits.values())


def test_a_second_process_loads_what_the_first_compiled(cache, load, source):
    assert call(load(source)) == 8
    kept = sorted(path.name for path in cache.rglob("*"))
    second = load(source)
    assert call(second) == 8
    assert n_hits(second) == 1
    assert sorted(path.name for path in cache.rglob("*")) == kept


def test_a_change_in_another_file_of_the_folder_compiles_anew(cache, load, new_process, tmp_path):
    helper = tmp_path / "helper.py"
    for time, (content, hits) in enumerate(
        [("FACTOR = 2", 0), ("FACTOR = 2", 1), ("FACTOR = 3", 0), ("FACTOR = 3", 1)]
    ):
        helper.write_text(content)
        os.utime(helper, (time, time))  # the same file, installed again
        new_process()
        function = load()
        assert call(function) == 8
        assert n_hits(function) == hits


@pytest.mark.parametrize(
    ("seconds", "terminal", "n_lines"), [(1e-4, True, 1), (1e-4, False, 0), (60.0, True, 0)]
)
def test_a_line_at_the_terminal_while_compiling(cache, load, monkeypatch, capsys, seconds, terminal, n_lines):
    monkeypatch.setattr(kernel_compilation._compiling, "_seconds", 0.0)
    monkeypatch.setattr(kernel_compilation, "NOTICE_SECONDS", seconds)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    assert call(load()) == 8
    assert call(load()) == 8
    assert capsys.readouterr().err.count("Compiling robust_splits") == n_lines


def test_without_a_writable_folder_one_warning_names_the_variable(nowhere, load, source):
    with pytest.warns(RuntimeWarning) as caught:
        assert [call(load(source)), call(load(source))] == [8, 8]
    (warning,) = caught
    assert "NUMBA_CACHE_DIR" in str(warning.message)
    assert "no locator available" in str(warning.message)


def test_threads_that_call_first_together_get_one_warning(nowhere, load):
    with ThreadPoolExecutor(8) as pool, pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR") as caught:
        assert list(pool.map(load(), range(32))) == list(range(0, 64, 2))
    assert len(caught) == 1


def test_threads_that_replace_a_damaged_file_get_one_warning(cache, load, new_process):
    assert load()(4) == 8
    (path,) = cache.rglob("*.nbi")
    path.write_bytes(b"garbage")
    with ThreadPoolExecutor(8) as pool, pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR") as caught:
        assert list(pool.map(load(), range(32))) == list(range(0, 64, 2))
    assert len(caught) == 1
    new_process()
    assert load()(4) == 8


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: b"garbage", lambda data: data[:-9]])
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_file_is_replaced(cache, load, source, suffix, damage, new_process):
    assert call(load(source)) == 8
    (path,) = cache.rglob(f"*.{suffix}")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR") as caught:
        assert call(load(source)) == 8
    assert len(caught) == 1
    assert str(path.parent) in str(caught[0].message)
    new_process()
    healed = load(source)
    assert call(healed) == 8
    assert n_hits(healed) == 1


def test_a_damaged_file_leaves_other_signatures_in_the_cache(cache, load):
    double = load()
    assert (double(4), double(4.5)) == (8, 9)
    first, _ = sorted(cache.rglob("*.nbc"))
    first.write_bytes(b"garbage")
    double = load()
    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR"):
        assert (double(4), double(4.5)) == (8, 9)
    assert n_hits(double) == 1


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_what_cannot_be_written_is_compiled_again(cache, load, source, suffix, new_process):
    assert call(load(source)) == 8
    (path,) = cache.rglob(f"*.{suffix}")
    path.unlink()
    path.mkdir()
    for _ in range(2):
        new_process()
        with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR"):
            assert call(load(source)) == 8


def test_code_of_an_older_source_is_not_loaded_after_a_failed_save(cache, load, monkeypatch):
    write = IndexDataCacheFile._open_for_write

    def write_the_index_alone(files, path):
        if path.endswith(".nbc"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(files, path)

    assert load()(4) == 8
    newer = KERNEL.replace("x * 2", "3 * x")
    monkeypatch.setattr(IndexDataCacheFile, "_open_for_write", write_the_index_alone)
    with pytest.warns(RuntimeWarning, match="No space left"):
        assert load(newer)(4) == 12
    monkeypatch.setattr(IndexDataCacheFile, "_open_for_write", write)
    assert load(newer)(4) == 12


def test_warnings_as_errors_stop_the_first_call_only(nowhere, load):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="NUMBA_CACHE_DIR"):
            load()
        assert load()(4) == 8


# Locks the file that a process locks to compile a kernel, all of it, until the end of its input.
OTHER_PROCESS = """
import fcntl, sys
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other_process(cache, load):
    """A process that compiles a kernel, or so it seems."""
    if sys.platform == "win32":
        pytest.skip("no locks on Windows")
    call(load("# not the kernel\n" + KERNEL))
    (path,) = cache.rglob(disk_cache.LOCK_FILE)
    command = [sys.executable, "-c", OTHER_PROCESS, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "locked\n"
        yield process


def test_a_kernel_that_another_process_compiles_is_waited_for(cache, load, other_process):
    double = load()
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(double, 4)
        with pytest.raises(TimeoutError):
            result.result(0.5)
        other_process.stdin.close()
        assert result.result() == 8


def test_a_process_that_is_stuck_is_not_waited_for_forever(cache, load, other_process, monkeypatch):
    monkeypatch.setattr(disk_cache, "LOCK_SECONDS", 0.1)
    assert load()(4) == 8


def test_a_kernel_that_cannot_be_compiled_is_not_locked(cache, load, other_process):
    other_process.communicate()
    double = load(KERNEL.replace("x * 2", "x.no_such_attribute"))
    with pytest.raises(numba.TypingError):
        double(4)
    (path,) = cache.rglob(disk_cache.LOCK_FILE)
    code = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'r+b'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    assert subprocess.run([sys.executable, "-c", code, path]).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no locks on Windows")
def test_where_files_cannot_be_locked_each_process_compiles(cache, load, source, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(disk_cache.fcntl, "lockf", no_locks)
    assert call(load(source)) == 8


def test_without_a_lock_file_each_process_compiles(cache, load, source, monkeypatch):
    monkeypatch.setattr(disk_cache, "LOCK_FILE", "no_such_folder/" + disk_cache.LOCK_FILE)
    monkeypatch.setattr(disk_cache.time, "sleep", lambda _: pytest.fail("waits for no process"))
    assert call(load(source)) == 8


@pytest.mark.release
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
def test_the_learner_is_imported_on_a_full_disk_and_warns_once(tmp_path):
    code = """
import resource
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
import numpy as np
from robust_splits import RobustForestClassifier
from robust_splits._kernels.reduction import reduction
from robust_splits._leaf_values import node_values
print(node_values(np.array([[1.0, 3.0]]), 1.0, 0).tolist())
"""
    # Code that is not optimised is compiled in less time.
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONWARNINGS": "always", "NUMBA_OPT": "0"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[[0.25, 0.75]]\n"
    assert done.stderr.count("NUMBA_CACHE_DIR") == 1, done.stderr
    assert not list(tmp_path.rglob("*.nb?"))


def test_no_module_caches_in_another_way(root):
    for path in (root / "robust_splits").rglob("*.py"):
        assert "cache=True" not in path.read_text(encoding="utf-8"), path
