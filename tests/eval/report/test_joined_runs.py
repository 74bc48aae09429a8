import dataclasses

import pandas as pd
import pytest

from boostnoise.eval import run
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.report.html.page import render_page
from boostnoise.eval.report.joined_runs import join_runs

pytestmark = pytest.mark.usefixtures("fits_in_this_process")

SHALLOW = {"model": "decision_tree", "params": {"max_depth": 1}, "name": "robust_tree"}


@pytest.fixture
def fit(small_config, tmp_path):
    """Makes a run of two models on two data sets under two kinds of noise, each in a folder of its own."""

    def fit(name, **changes):
        content = {
            "datasets": ["iris", "wine"],
            "models": ["decision_tree", "robust_tree"],
            "noise": [{"kind": "uniform", "rates": [0.1, 0.3]}, {"kind": "pair_flip", "rates": [0.2]}],
            "results_dir": str(tmp_path / name),
        }
        return run(small_config(name, **content | changes), n_jobs=1)

    return fit


def test_the_joined_run_is_that_of_all_models(fit, without_times):
    joined, remarks = join_runs(fit("one", models=["decision_tree"]), fit("two", models=["robust_tree"]), "two")
    both = fit("both")
    assert remarks == []
    pd.testing.assert_frame_equal(without_times(joined.scores), without_times(both.scores))
    assert joined.settings == both.settings
    assert [spec.name for spec in joined.config.models] == ["decision_tree", "robust_tree"]
    assert len(joined.sessions) == 2


def test_names_are_those_of_the_run_and_its_own_models_come_first(fit):
    own = fit("one", datasets=["wine", {"set": "iris", "name": "flowers"}], models=[SHALLOW, "decision_tree"])
    joined, _ = join_runs(own, fit("two"), "two")
    assert joined.scores["dataset"].unique().tolist() == ["wine", "flowers"]
    # The tree is in both runs; the other two have the same name, but are not the same model.
    assert joined.scores["model"].unique().tolist() == ["robust_tree", "decision_tree", "robust_tree (two)"]
    assert joined.scores.groupby("model", sort=False).size().tolist() == [20, 20, 20]
    other = fit("two").scores
    theirs = other[(other["dataset"] == "iris") & (other["model"] == "robust_tree")]
    added = joined.scores[
        (joined.scores["dataset"] == "flowers") & (joined.scores["model"] == "robust_tree (two)")
    ]
    assert added["accuracy"].tolist() == theirs["accuracy"].tolist()


def test_only_cells_of_both_are_kept(fit):
    own = fit(
        "one",
        datasets=["breast_cancer", "wine"],
        models=[SHALLOW],
        noise=[{"kind": "uniform", "rates": [0.1, 0.2]}, {"kind": "label", "rates": [0.2]}],
        repeats=3,
        ela_fig={"plot_kwargs": [{"color": "red"}]},
    )
    joined, remarks = join_runs(own, fit("two"), "the reference")
    scores = joined.scores
    assert scores["dataset"].unique().tolist() == ["wine"]
    assert scores["noise_kind"].unique().tolist() == ["uniform"]
    assert scores.groupby(["noise_rate", "model"]).size().to_dict() == {
        (rate, model): 2 for rate in (0, 0.1) for model in ("robust_tree", "decision_tree", "robust_tree (the reference)")
    }  # fmt: skip
    assert remarks == [
        "left out, because the reference does not have them: data set breast_cancer; uniform noise at 0.2; "
        "label noise at 0 and 0.2; 1 of 3 repeats"
    ]
    assert [spec.name for spec in joined.config.datasets] == list(joined.datasets) == ["wine"]
    assert joined.config.repeats == 2
    assert joined.config.ela_fig.plot_kwargs == [{"color": "red"}, {}, {}]


def test_a_run_joined_with_itself(fit):
    own = fit("one")
    with pytest.raises(ConfigError, match="two has no models that the run lacks"):
        join_runs(own, own, "two")


def test_other_versions_are_named(fit):
    own, other = fit("one", models=[SHALLOW]), fit("two")
    (session,) = other.sessions
    older = session.model_copy(update={"versions": session.versions | {"numpy": "1.0"}})
    joined, (remark,) = join_runs(own, dataclasses.replace(other, sessions=(older,)), "two")
    assert remark == f"two was fitted with numpy 1.0 (here {session.versions['numpy']})"
    page = " ".join(render_page(joined).split())
    assert "The scores of two models come from the run two: decision_tree and robust_tree (two)." in page
    assert "Their times to fit and predict were measured in that run, maybe on another machine" in page
    assert f"Two was fitted with numpy 1.0 (here {session.versions['numpy']})." in page
    assert "come from the run" not in render_page(own)


@pytest.mark.parametrize(
    "changes", [{"datasets": ["breast_cancer"]}, {"random_state": 5}, {"test_fraction": 0.3}]
)
def test_nothing_in_common(fit, changes):
    with pytest.raises(
        ConfigError, match="no cells in common with two, which has the data sets iris, wine, the noise"
    ):
        join_runs(fit("one", models=[SHALLOW], **changes), fit("two"), "two")


def test_records_without_settings(fit):
    own = fit("one")
    old = dataclasses.replace(own, settings=(None,) * len(own.scores))
    with pytest.raises(ConfigError, match="two was made by an earlier version; repeat its command"):
        join_runs(own, old, "two")


def test_domains_are_those_of_the_run(fit, without_times):
    """The other run has none, or others."""
    sets = [{"set": "iris", "domain": "plants"}, {"set": "wine", "domain": "plants"}]
    own = fit("one", models=["decision_tree"], datasets=sets)
    others = [{"set": "iris", "domain": "iris"}, {"set": "wine", "domain": "wine"}]
    both = fit("both", datasets=sets)
    for other in (fit("two"), fit("three", datasets=others)):
        joined, _ = join_runs(own, other, "other")
        assert set(joined.scores["domain"]) == {"plants"}
        pd.testing.assert_frame_equal(without_times(joined.scores), without_times(both.scores))
    joined, _ = join_runs(fit("four", models=["decision_tree"]), both, "both")
    assert "domain" not in joined.scores


def test_correct_rows_and_own_metrics_of_one_run_only(fit):
    own = fit("one", models=["decision_tree"])
    with_more = dataclasses.replace(own, scores=own.scores.assign(hits=1.0, correct_rows="abc"))
    other = fit("two")
    joined, _ = join_runs(with_more, other, "two")
    by_model = joined.scores.groupby("model")[["hits", "correct_rows"]].count()
    assert by_model.loc["robust_tree"].tolist() == [0, 0]
    assert (by_model.loc["decision_tree"] > 0).all()
    assert joined.scores["hits"].dtype == "float64"
