import numpy as np
import pytest
from numba.core import config, event
from numba.core.caching import NullCache
from numba.core.errors import TypingError

from robust_splits._kernels.compile import inner_kernel, outer_kernel


class Levels(event.Listener):
    """The optimisation level and whether loops are vectorised, by function, where its compilation starts."""

    def __init__(self):
        self.started = {}

    def on_start(self, event):
        name = event.data["dispatcher"].py_func.__name__
        self.started[name] = level()

    def on_end(self, event):
        pass


def level():
    return config.OPT, config.LOOP_VECTORIZE


def uncached(kernel):
    kernel._cache = NullCache()
    return kernel


@pytest.fixture
def levels():
    with event.install_listener("numba:compile", Levels()) as listener:
        yield listener.started


def test_each_kernel_is_compiled_at_its_level(levels):
    before = level()

    @inner_kernel()
    def total(x):
        sum_ = 0.0
        for i in range(x.shape[0]):
            sum_ += x[i]
        return sum_

    @outer_kernel(level=1)
    def mean(x):
        return total(x) / x.shape[0]

    uncached(total)
    assert uncached(mean)(np.arange(5.0)) == 2.0
    assert levels == {"mean": (1, 0), "total": before}
    assert level() == before


def test_a_kernel_that_cannot_be_compiled_leaves_the_level_as_it_was():
    before = level()

    @outer_kernel(level=1)
    def wrong(x):
        return x + "a"

    with pytest.raises(TypingError):
        uncached(wrong)(1.0)
    assert level() == before


def test_a_lower_level_of_the_user_is_kept(levels, monkeypatch):
    monkeypatch.setattr(config, "OPT", type(config.OPT)(0))

    @outer_kernel(level=1)
    def double(x):
        return 2.0 * x

    assert uncached(double)(3.0) == 6.0
    assert levels["double"] == (0, config.LOOP_VECTORIZE)
