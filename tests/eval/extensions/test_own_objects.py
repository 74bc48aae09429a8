from threading import Lock

import numpy as np
import pytest

from boostnoise import get_loss
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.extensions import own_objects
from boostnoise.eval.extensions.own_objects import describe, is_reference, pack, register, resolve, unpack
from robust_splits import FunctionCriterion


def balance(left, right):
    return 1.0


def test_a_reference_is_resolved_by_the_process_that_registered_the_object():
    loss = get_loss("gce", q=0.3)
    reference = register(loss, "it")
    assert reference == register(get_loss("gce", q=0.3), "it")
    assert reference["object"] == "GeneralizedCrossEntropy(q=0.3)"
    assert is_reference(reference)
    assert resolve(reference) == loss


@pytest.fixture
def other_process(monkeypatch):
    """Forgets all objects, as another process does not know them."""
    for name in ("_objects", "_contents", "_versions"):
        monkeypatch.setattr(own_objects, name, {})


def test_a_shipment_holds_the_objects_that_a_config_refers_to(monkeypatch):
    one, other = register(get_loss("gce", q=0.3), "it"), register(np.exp, "it")
    config = {"models": [{"params": {"loss": one}}, {"hash": other["hash"], "model": "Own"}], "hash": 3}
    shipment = pack(config)
    assert [key for key, _ in shipment.contents] == sorted([one["hash"], other["hash"]])
    assert {"boostnoise", "numpy"} <= dict(shipment.versions).keys()
    assert pack({"models": ["gbm"]}) == own_objects.NOTHING
    for name in ("_objects", "_contents", "_versions"):
        monkeypatch.setattr(own_objects, name, {})
    with pytest.raises(ConfigError, match=r"GeneralizedCrossEntropy\(q=0\.3\) is an object of the process"):
        resolve(one)
    unpack(shipment)
    assert resolve(one) == get_loss("gce", q=0.3)
    assert resolve(other) is np.exp


@pytest.mark.usefixtures("other_process")
def test_a_reference_in_a_strangers_config_runs_nothing():
    with pytest.raises(ConfigError, match=r"os.system is an object of the process that called compare; call"):
        resolve({"object": "os.system", "hash": "0" * 32})
    assert pack({"object": "os.system", "hash": "0" * 32}) == own_objects.NOTHING


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (balance, "balance"),
        (FunctionCriterion(balance), "FunctionCriterion(function=balance)"),
        (lambda: 0, "<lambda>"),
        (np.add, "add"),
        ("x" * 100, "'" + "x" * 78 + "…"),
    ],
)
def test_texts(value, text):
    assert describe(value).replace("test_texts.", "") == text


def test_an_object_without_a_name_has_no_address():
    class Plain:
        pass

    assert " at 0x" not in describe(Plain())


def test_what_cannot_be_sent_is_refused():
    with pytest.raises(
        ConfigError, match=r"^noise\[0\]: <unlocked .*lock object> cannot be sent .*: TypeError: cannot pickle"
    ):
        register(Lock(), "noise[0]")
