import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

from boostnoise import compare
from boostnoise.eval import reference, run
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.report.reference import METADATA, read_run_file, write_run_file

STUMP = {"model": "decision_tree", "params": {"max_depth": 1}, "name": "stump"}


@pytest.fixture
def small(small_config):
    return run(small_config("own"), n_jobs=1)


@pytest.mark.usefixtures("fits_in_this_process")
def test_a_file_holds_all_of_a_run(small, tmp_path):
    write_run_file(small, tmp_path / "a.parquet")
    again = read_run_file(tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(again.scores, small.scores)
    assert again.settings == small.settings
    assert again.sessions == small.sessions
    assert again.datasets == small.datasets
    assert again.config.models == small.config.models


@pytest.mark.usefixtures("fits_in_this_process")
def test_files_that_are_no_runs(small, tmp_path):
    path = tmp_path / "a.parquet"
    with pytest.raises(ConfigError, match=r"no such file: .*a\.parquet"):
        read_run_file(path)
    pd.DataFrame({"a": [1]}).to_parquet(path)
    with pytest.raises(ConfigError, match="cannot be read as a run"):
        read_run_file(path)
    write_run_file(small, path)
    table = pq.read_table(path)
    content = json.loads(table.schema.metadata[METADATA])
    content["config"]["models"] = []
    pq.write_table(table.replace_schema_metadata({METADATA: json.dumps(content).encode()}), path)
    with pytest.raises(ConfigError, match="cannot be read as a run: models: must have at least 1 item"):
        read_run_file(path)
    path.write_bytes(b"PAR1")
    with pytest.raises(ConfigError, match="cannot be read as a run"):
        read_run_file(path)


@pytest.mark.parametrize(
    ("name", "repeats"), [("reference", 3), ("reference_large", 1), ("reference_real_noise", 2)]
)
def test_the_references_have_every_cell(name, repeats):
    scores = reference(name)
    assert scores["error"].isna().all()
    assert scores[["accuracy", "balanced_accuracy", "fit_seconds"]].notna().all(axis=None)
    has_probabilities = scores["model"] != "svm_gaussian"
    assert scores.loc[has_probabilities, ["brier_score", "calibration_error"]].notna().all(axis=None)
    design = scores.groupby(["dataset", "noise_kind", "noise_rate"])
    assert (design["model"].nunique() == scores["model"].nunique()).all()
    assert (design["repeat"].nunique() == repeats).all()
    assert {"robust_xgboost", "robust_lightgbm", "robust_forest", "robust"} < set(scores["model"])
    versions = {name for session in scores.attrs["sessions"] for name in session["versions"]}
    assert {"numpy", "sklearn", "xgboost", "lightgbm", "boostnoise"} <= versions


def test_real_noise_has_its_domains():
    scores = reference("reference_real_noise")
    assert scores["domain"].str.split("/").str[0].nunique() == 10
    assert "domain" not in reference()


def test_another_name():
    with pytest.raises(ConfigError, match="name: 'small' is no reference study; the names are reference, "):
        reference("small")


@pytest.mark.filterwarnings("ignore:reference was fitted with")
@pytest.mark.usefixtures("fits_in_this_process")
def test_a_new_model_among_those_of_the_reference(tmp_path):
    """The tree, which both have, has the same scores in both, so the splits and the noise are the same."""
    with pytest.warns(
        UserWarning, match="left out, because reference does not have them: data set digits, cut"
    ):
        found = compare(
            [STUMP, "decision_tree"],
            ["iris", {"set": "digits", "max_rows": 100, "name": "digits, cut"}],
            0.2,
            results_dir=tmp_path,
            progress=False,
            n_jobs=1,
            compare_with="reference",
        )
    scores, expected = found.scores, reference()
    assert scores["model"].unique()[0] == "stump"
    assert set(scores["model"]) == {*expected["model"], "stump"}
    assert scores["dataset"].unique().tolist() == ["iris"]
    of_iris = expected[(expected["dataset"] == "iris") & (expected["noise_kind"] == "uniform")]
    for model in ("decision_tree", "lightgbm"):
        ours = scores[scores["model"] == model]
        theirs = of_iris[(of_iris["model"] == model) & of_iris["noise_rate"].isin([0, 0.2])]
        assert ours["accuracy"].tolist() == pytest.approx(theirs["accuracy"].tolist(), abs=1e-5)


@pytest.mark.release
def test_the_command(tmp_path, noisyeval):
    noise = [{"kind": "uniform", "rates": [0.2]}]
    content = {"datasets": ["iris"], "models": [STUMP], "noise": noise, "repeats": 2}
    (tmp_path / "study.json").write_text(json.dumps(content))
    done = noisyeval(tmp_path, "study.json", "-j", "1", "--compare-with", "reference")
    assert done.exit_code == 0, done.output
    assert "robust_forest" in done.stdout
    assert "robust_forest" in (tmp_path / "results" / "study" / "report.html").read_text()
    assert noisyeval(tmp_path, "--redraw", "results/study", "-q").exit_code == 0
    assert "robust_forest" not in (tmp_path / "results" / "study" / "scores.csv").read_text()
    other = content | {"random_state": 9}
    (tmp_path / "other.json").write_text(json.dumps(other))
    for options in (["--dry-run"], ["-j", "1"]):
        done = noisyeval(tmp_path, "other.json", *options, "--compare-with", "reference")
        assert done.exit_code == 2
        assert "compare_with 'reference': no cells in common with reference" in done.stderr
    assert not (tmp_path / "results" / "other").exists()
    done = noisyeval(tmp_path, "study.json", "--compare-with", "results/none")
    assert done.exit_code == 2
    assert (
        "compare_with 'results/none': must be 'reference', 'reference_large', 'reference_real_noise', or the folder"
        in done.stderr
    )
