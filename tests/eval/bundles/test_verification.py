import json
import platform
import zipfile

import numpy as np
import pytest

from boostnoise.eval import ConfigError, run, verify_bundle, write_bundle
from boostnoise.eval.bundles import verification as module
from boostnoise.eval.metrics.outcome import Outcome

BAYES = {"name": "bayes", "module": "sklearn.naive_bayes", "model": "GaussianNB"}


@pytest.fixture
def bundled(small_config, tmp_path, fits_in_this_process):
    """Makes the bundle of a run of ten repeats, with changes of its JSON."""

    sets = ["iris", "wine"]
    path = write_bundle(run(small_config("study", datasets=sets, repeats=5), n_jobs=1), tmp_path / "study.zip")

    def make(change=lambda content: None):
        with zipfile.ZipFile(path) as archive:
            content = json.loads(archive.read("bundle.json"))
        change(content)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("bundle.json", json.dumps(content))
        return path

    return make


def test_a_tenth_is_drawn_and_is_the_same(bundled):
    found = verify_bundle(bundled(), random_state=3)
    assert found.is_verified
    assert len(found.cells) == 2  # of 20
    assert (found.n_cells, found.other_data, found.versions, found.random_state) == (20, (), {}, 3)
    first, second = str(found).splitlines()
    assert first == "study: fitted 2 of 20 cells again (random state 3); 2 are as in the bundle."
    assert second.startswith("Its last session began 20")
    assert f"under Python {platform.python_version()} on {platform.system()}" in second
    again = verify_bundle(bundled(), random_state=3)
    assert again.cells.equals(found.cells)
    drawn = {tuple(verify_bundle(bundled()).cells["repeat"]) for _ in range(8)}
    assert len(drawn) > 1


def test_all_cells(bundled):
    found = verify_bundle(bundled(), share=1)
    assert len(found.cells) == 20
    assert found.cells["is_same"].all()
    np.testing.assert_array_equal(found.cells["bundled"], found.cells["here"])


def test_a_changed_score_is_found(bundled):
    def better(content):
        for cell in content["cells"].values():
            cell["scores"]["log_loss"] += 0.25

    found = verify_bundle(bundled(better), share=1)
    assert not found.is_verified
    assert not found.cells["is_same"].any()
    assert set(found.cells["measure"]) == {"log_loss"}
    np.testing.assert_allclose(found.cells["bundled"] - found.cells["here"], 0.25)
    assert "0 are as in the bundle" in str(found)
    assert "log_loss" in str(found)


def test_times_may_differ(bundled):
    def slow(content):
        for cell in content["cells"].values():
            cell["scores"]["fit_seconds"] = 100.0

    assert verify_bundle(bundled(slow), share=1).is_verified


def test_other_data(bundled):
    def other(content):
        for cell in content["record"]["cells"]:
            if cell["dataset"] == "wine":
                cell["setting"] = "0" * len(cell["setting"])

    found = verify_bundle(bundled(other), share=1)
    assert not found.is_verified
    assert (len(found.cells), found.other_data) == (10, ("wine",))
    assert "One data set differs from those of the bundle, and is not verified: wine." in str(found)

    def all_other(content):
        for cell in content["record"]["cells"]:
            cell["setting"] = None

    with pytest.raises(ConfigError, match="has no cell with scores that can be fitted here: iris, wine differ"):
        verify_bundle(bundled(all_other))


def test_other_versions_are_named(bundled):
    def older(content):
        content["record"]["sessions"][-1]["versions"]["sklearn"] = "0.1"

    found = verify_bundle(bundled(older))
    assert list(found.versions) == ["sklearn"]
    assert "with sklearn 0.1 (here " in str(found)


def test_a_cell_that_fails_here(bundled, monkeypatch):
    monkeypatch.setattr(
        module,
        "fit_locally",
        lambda cells, *_, **__: ((key, Outcome(error="MemoryError: no")) for key, _ in cells),
    )
    found = verify_bundle(bundled())
    assert not found.is_verified
    assert "MemoryError: no" in str(found)


def test_models_of_other_packages_need_permission(bundled):
    def foreign(content):
        content["record"]["config"]["models"][0] |= {"module": "os", "model": "system"}

    with pytest.raises(ConfigError, match="os"):
        verify_bundle(bundled(foreign))


def test_cells_that_are_not_those_of_the_config(bundled):
    def fewer(content):
        del content["record"]["cells"][0]

    with pytest.raises(ConfigError, match="do not match its config"):
        verify_bundle(bundled(fewer))


@pytest.mark.parametrize("share", [0, -0.1, 1.5, "half"])
def test_a_share_that_is_none(bundled, share):
    with pytest.raises(ValueError, match="share must"):
        verify_bundle(bundled(), share=share)


def test_the_commands(noisyeval, tmp_path):
    config = {
        "datasets": ["iris"],
        "models": [BAYES],
        "noise": [{"kind": "uniform", "rates": [0.3]}],
        "repeats": 2,
    }
    (tmp_path / "a.json").write_text(json.dumps(config))
    done = noisyeval(tmp_path, "a.json", "--bundle", "a.zip")
    assert (
        done.exit_code,
        "Wrote a.zip; others can verify it with: noisyeval --verify a.zip" in done.stdout,
    ) == (0, True)
    done = noisyeval(tmp_path, "--verify", "a.zip")
    assert done.exit_code == 0, done.stderr
    assert "a: fitted 1 of 4 cells again" in done.stdout
    done = noisyeval(tmp_path, "--verify", "a.zip", "--json")
    assert json.loads(done.stdout.splitlines()[-1])["is_verified"]
    assert noisyeval(tmp_path, "results/a", "--redraw", "--bundle", "b.zip").exit_code == 0
    assert (tmp_path / "b.zip").read_bytes() == (tmp_path / "a.zip").read_bytes()
    done = noisyeval(tmp_path, "--verify", "a.json")
    assert (done.exit_code, "a.json is no bundle: File is not a zip file" in done.stderr) == (2, True)
