import base64
import json

import numpy as np
import pandas as pd
import pytest

from boostnoise import LabelAudit, find_label_errors
from boostnoise.eval.audit.files import summary, write_audit


def found(names, ids=None):
    rng = np.random.default_rng(0)
    right = rng.integers(2, size=200)
    y = np.where(rng.random(200) < 0.1, 1 - right, right)
    labels = np.array(names)
    p = np.where(np.eye(2)[right] == 1, 0.9, 0.1)
    return LabelAudit(find_label_errors(labels[y], p), labels[y], np.arange(200), ids=ids, name="a")


def test_no_text_becomes_a_formula(tmp_path, monkeypatch):
    monkeypatch.setattr("boostnoise.eval.audit.files.as_png", lambda audit: b"")
    audit = found(["+b", "=1+1"], ids=np.array(["@c", "d"] * 100))
    write_audit(audit, tmp_path / "a_audit")
    table = pd.read_csv(tmp_path / "a_audit" / "suspects.csv")
    assert set(table["given"]) | set(table["suggested"]) == {"'=1+1", "'+b"}
    assert set(table["id"]) == {"'@c", "d"}


@pytest.mark.parametrize("names", [[0, 1], [False, True], [-1.0, 1.0], ["no", "yes"]])
def test_labels_of_any_type(tmp_path, names, monkeypatch):
    monkeypatch.setattr("boostnoise.eval.audit.files.as_png", lambda audit: b"")  # drawing takes long
    audit = found(names)
    suspects, noise, _, page = write_audit(audit, tmp_path / "a_audit")
    table = pd.read_csv(suspects)
    assert table["given"].tolist() == audit.suspects["given"].tolist()
    np.testing.assert_allclose(table["p_wrong"], audit.suspects["p_wrong"], atol=1e-6)
    assert json.loads(noise.read_text()) == json.loads(json.dumps(summary(audit)))
    assert page.read_text().startswith("<!doctype html>")


def test_the_same_audit_gives_the_same_bytes(tmp_path):
    one, other = (write_audit(found(["no", "yes"]), tmp_path / name) for name in "ab")
    assert base64.b64encode(one[2].read_bytes()).decode() in one[3].read_text()
    assert [file.read_bytes() for file in one] == [file.read_bytes() for file in other]
