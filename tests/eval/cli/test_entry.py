import subprocess
import sys

import pytest

# Interrupts itself when a module is about to be imported, as if by that module.
PROGRAM = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, *_):
        if name != {module!r}:
            return
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            {reaction}

signal.signal(signal.SIGINT, {handler})
sys.meta_path.insert(0, Interrupt())
sys.argv[1:] = {arguments!r}
from boostnoise.eval.cli.entry import {command}
{command}()
"""


@pytest.fixture
def interrupted(tmp_path):
    """Runs a command that is interrupted when it imports a module."""

    def run(module, command, *arguments, reaction="raise", handler="signal.default_int_handler"):
        values = {"command": command, "arguments": [*arguments], "reaction": reaction, "handler": handler}
        code = PROGRAM.format(module=module, **values)
        return subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)

    return run


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("click", ["noisyeval", "study.json"]),
        ("click", ["noisyaudit", "a.csv"]),
        ("rich.console", ["noisyeval", "--list"]),
        ("boostnoise.eval.config.json_schema", ["noisyeval", "--schema"]),
        ("boostnoise.eval.cli.audit_run", ["noisyaudit", "a.csv"]),
        ("boostnoise.eval.report.files", ["noisyaudit", "predict", "m.npz", "a.csv"]),
        ("boostnoise.eval.config.reader", ["noisyeval", "study.json"]),
    ],
)
# Cython and NumPy replace some interrupts by other errors.
@pytest.mark.parametrize("reaction", ["raise", "raise ValueError('format is not valid')"])
def test_an_interrupt_during_imports(interrupted, module, arguments, reaction):
    done = interrupted(module, *arguments, reaction=reaction)
    assert (done.returncode, done.stdout) == (130, "")
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("Interrupted")


def test_an_ignored_interrupt(interrupted):
    done = interrupted("click", "noisyeval", "--version", handler="signal.SIG_IGN")
    assert done.returncode == 0
    assert done.stdout.startswith("noisyeval, version ")
