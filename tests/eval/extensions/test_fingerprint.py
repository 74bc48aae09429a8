import subprocess
import sys
import textwrap
from dataclasses import dataclass
from functools import partial
from threading import Lock
from types import ModuleType

import numpy as np
import pytest
import sklearn

from boostnoise import get_loss
from boostnoise.eval.extensions.fingerprint import fingerprint, is_importable
from robust_splits import FunctionCriterion, Gini

SCALE = 2.0


def digest(value):
    return fingerprint(value).digest


def compiled(text, **names):
    """The last function or class of some source, as if it stood in a notebook."""
    space = {"__name__": "__main__", "np": np, **names}
    exec(compile(textwrap.dedent(text), f"cell {np.random.random()}", "exec"), space)
    return [value for value in space.values() if getattr(value, "__module__", None) == "__main__"][-1]


FUNCTION = """
def shifted(x, by=1):
    return helper(x) + by * np.e
"""
CLASS = """
class Shift:
    by = 1
    def __call__(self, x):
        return x + self.by
"""


def with_helper(body="return 2 * x", function=FUNCTION):
    return compiled(f"def helper(x):\n    {body}\n{textwrap.dedent(function)}")


def test_the_same_source_has_the_same_fingerprint():
    assert digest(with_helper()) == digest(with_helper())
    assert digest(with_helper(function="\n\n\n" + FUNCTION)) == digest(with_helper())
    assert digest(compiled(CLASS)) == digest(compiled(CLASS)) != digest(with_helper())
    assert digest(compiled(CLASS)()) == digest(compiled(CLASS)())


@pytest.mark.parametrize(
    "changed",
    [
        with_helper("return 3 * x"),
        with_helper("return x * 2"),
        with_helper(function=FUNCTION.replace("by=1", "by=2")),
        with_helper(function=FUNCTION.replace("np.e", "np.pi")),
        compiled(FUNCTION, helper=abs),
        partial(with_helper(), by=1),
    ],
)
def test_any_change_of_a_function_or_of_what_it_calls_counts(changed):
    assert digest(changed) != digest(with_helper())


def test_closures_defaults_and_attributes_count():
    def made(a, b):
        return lambda x, by=b: a * x + by

    assert digest(made(1, 2)) == digest(made(1, 2))
    assert len({digest(made(a, b)) for a in (1, 2, 1.0, True) for b in (0, None, "0")}) == 12
    one, other = compiled(CLASS)(), compiled(CLASS)()
    other.by = 2
    assert digest(one) != digest(other)
    assert digest(compiled(CLASS.replace("by = 1", "by = 2"))) != digest(compiled(CLASS))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, [2, 3]], [1, 2, 3]),
        ((1, 2), [1, 2]),
        ({1: "a", 2: "b"}, {1: "b", 2: "a"}),
        ({"a", "b"}, {"a", "c"}),
        (np.arange(3), np.arange(3.0)),
        (np.arange(4), np.arange(4).reshape(2, 2)),
        (get_loss("gce"), get_loss("gce", q=0.5)),
        (Gini(), FunctionCriterion(max)),
        (np.exp, np.log),
        (slice(1), slice(2)),
        (b"1", "1"),
    ],
)
def test_values(one, other):
    assert digest(one) == digest(one)
    assert digest(one) != digest(other)


def test_an_object_that_refers_to_itself():
    loop = []
    loop.append(loop)
    assert digest(loop) == digest([loop][0])
    recursive = compiled("def factorial(n):\n    return n * factorial(n - 1) if n else 1")
    assert len(digest(recursive)) == 64


def test_packages_that_are_used_are_named_with_their_versions():
    found = dict(fingerprint(with_helper(function="def shifted(x):\n    return sk.base.clone(x)")).versions)
    assert found == {}
    function = compiled("def loads(x):\n    return sk.base.clone(np.array(x))", sk=sklearn)
    assert dict(fingerprint(function).versions) == {"numpy": np.__version__, "sklearn": sklearn.__version__}
    assert dict(fingerprint(get_loss("gce")).versions).keys() >= {"boostnoise"}


def test_another_version_of_a_package_changes_it(monkeypatch):
    function = with_helper()
    before = digest(function)
    monkeypatch.setattr("boostnoise.eval.extensions.fingerprint.version_of", lambda package: "other")
    assert digest(function) != before


def test_what_cannot_be_sent_to_other_processes():
    with pytest.raises(TypeError, match="lock"):
        fingerprint(Lock())
    with pytest.raises(TypeError, match="generator"):
        fingerprint(x for x in ())


def test_it_is_the_same_in_another_process():
    code = """
    from boostnoise.eval.extensions.fingerprint import fingerprint
    from dataclasses import dataclass
    from boostnoise import Loss
    kinds = {"a", "b", "c"}
    @dataclass(frozen=True)
    class Mine(Loss):
        a: float = 1.0
        def value(self, y, margin): return len(kinds) if self in {"x", "y", "z"} else 0
        gradient = exact_hessian = value
    print(fingerprint(Mine(2.0)).digest)
    """
    runs = [
        subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True,
                       env={"PYTHONHASHSEED": str(seed), "PATH": "", "PYTHONPATH": ":".join(sys.path)}).stdout
        for seed in (1, 2)
    ]  # fmt: skip
    assert runs[0] == runs[1] != ""


@dataclass
class Own:
    inner: object = None


def test_what_other_processes_can_import(monkeypatch):
    assert is_importable(np.linalg.norm)
    assert is_importable(get_loss)
    assert not is_importable(with_helper())
    assert not is_importable(lambda: 0)
    module = ModuleType("some_module")
    monkeypatch.setitem(sys.modules, "some_module", module)
    monkeypatch.setattr(Own, "__module__", "some_module")
    assert not is_importable(Own)
    module.Own = Own
    assert is_importable(Own)
