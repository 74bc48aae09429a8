"""Runs on noisy labels that data sets bring along, with and without true labels of the training rows."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from boostnoise import Comparison
from boostnoise.eval import curve, load_run, mean_curve, score_table, verdict
from boostnoise.eval.cli.main import main

pytestmark = pytest.mark.usefixtures("fits_in_this_process")

MODELS = ["decision_tree", "robust_tree"]
EXPERT = "given (expert)"


@pytest.fixture
def noisyeval(tmp_path, monkeypatch):
    """Runs a config of two data sets: the first has every true label, the second those of 60 of 200 rows."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, share in (("known", 1.0), ("partly", 0.3)):
        X = rng.normal(size=(200, 3))
        true = (X[:, 0] > 0).astype(int)
        expert, crowd = (np.where(rng.random(200) < p, 1 - true, true) for p in (0.2, 0.4))
        frame = pd.DataFrame(X, columns=list("abc")).assign(expert=expert, crowd=crowd, true=true)
        frame.loc[rng.permutation(200)[int(200 * share) :], "true"] = np.nan
        frame.astype({"true": "Int64"}).to_csv(f"{name}.csv", index=False)

    def run(datasets, noise, **keys):
        content = {
            "datasets": datasets,
            "models": MODELS,
            "noise": noise,
            "repeats": 3,
            "ela_fig": {"fig_dpi": 30},
            **keys,
        }
        pd.Series(content).to_json("study.json")
        done = CliRunner().invoke(main, ["study.json", "-j", "1"])
        assert done.exit_code == 0, done.output
        return done.stdout, load_run("results", "study")

    return run


def data(name, **keys):
    return {"path": f"{name}.csv", "target": "true", "noisy": {"expert": "expert", "crowd": "crowd"}, **keys}


PARTLY = data("partly", unchecked="train")


def test_without_true_labels_there_is_accuracy_but_no_ela(noisyeval, tmp_path):
    text, found = noisyeval([PARTLY], [{"kind": "given", "labels": [name]} for name in ("expert", "crowd")])
    scores = found.scores
    assert len(scores) == 2 * 2 * 3
    assert (scores["noise_rate"] > 0.1).all()
    assert scores["realised_rate"].isna().all()
    assert "Without true labels of the training rows there is no ELA, so here is the accuracy." in text
    assert f"Accuracy: {EXPERT} noise, partly" in text
    assert "–:" not in text
    files = {path.name for path in (tmp_path / "results" / "study").iterdir()}
    assert "accuracy.png" in files
    assert not {name for name in files if name.startswith(("ela", "rla", "retention", "area_under_ela"))}
    report = (tmp_path / "results" / "study" / "report.html").read_text()
    assert "ELA against noise rate" not in report
    assert "Accuracy (higher is better)" in report
    assert curve(scores, "ela")["ela"].isna().all()
    first, second = verdict(scores)
    assert first.startswith(f"At {scores['noise_rate'].iloc[0]:.3g}".replace("0.", "")[:3])
    assert "has the best accuracy of two models on partly" in second
    loaded = Comparison.load("results", "study")
    # The 60 checked rows are the test rows of every repeat, so they are what intervals and tests are over.
    for text in (loaded.verdict(), report):
        assert "over 60 test rows). Over its 60 test rows, by paired tests" in text
    assert "by paired tests over the test rows of each" in " ".join(
        str(loaded.tests(noise_kind=EXPERT)).split()
    )
    assert "interval of the mean over 3 repeats and the test rows that they share" in report
    assert "and standard deviation over 3 repeats, and over the test rows of partly" in loaded.to_markdown(
        noise_kind=EXPERT
    )
    assert "± 0.000" not in loaded.to_markdown(noise_kind=EXPERT)
    assert "beats" not in loaded.verdict()
    assert "keeps" not in first + second
    page = Comparison.load("results", "study")._repr_html_()
    assert "Accuracy: given (expert) noise, partly" in page
    assert 'alt="curves of accuracy"' in page


def test_data_sets_with_and_without_true_labels(noisyeval):
    text, found = noisyeval([data("known"), PARTLY], [{"kind": "given", "labels": ["crowd", "expert"]}])
    scores = found.scores
    assert scores.groupby("dataset")["noise_rate"].nunique().to_dict() == {"known": 3, "partly": 2}
    labels = scores.fillna({"noisy_labels": "right"}).groupby("noise_rate")["noisy_labels"].unique()
    assert labels.map(list).tolist() == [["right"], ["expert"], ["crowd"]]
    assert labels.index.tolist() == pytest.approx([0, 0.2, 0.4], abs=0.06)
    _, expert, crowd = labels.index
    assert text.split("Accuracy")[0].splitlines()[3].split() == (
        ["model", "0", "expert", f"{expert:.4g}", "crowd", f"{crowd:.4g}"]
    )
    ticks = Comparison.load("results", "study").plot("ela").get_xticklabels()
    assert [tick.get_text() for tick in ticks] == [
        "0 %",
        f"expert {100 * expert:.2g} %",
        f"crowd {100 * crowd:.2g} %",
    ]
    assert f"<th>crowd {100 * crowd:.4g} %</th>" in Comparison(found)._repr_html_()
    assert curve(scores, "ela")["dataset"].unique().tolist() == ["known"]
    assert mean_curve(scores, "rla")["rla"].notna().all()
    rate = scores["noise_rate"].max()
    assert score_table(scores, "accuracy", noise_rate=rate).index.tolist() == ["known", "partly"]
    assert score_table(scores, "ela", noise_rate=rate).isna().any(axis=1).to_dict() == {
        "known": False,
        "partly": True,
    }
    (text,) = verdict(scores)
    assert "over two data sets" in text
    assert "keeps" not in text


def test_labels_that_only_one_set_has(noisyeval, tmp_path):
    other = {"set": "iris"}
    noise = [{"kind": "given", "labels": ["expert"]}, {"kind": "uniform", "rates": [0.2]}]
    keys = {"figures": ["heatmap", "accuracy_by_dataset"], "tables": ["mean_ela"]}
    keys |= {"ela_fig": {"fig_dpi": 30}, "rla_fig": {"save_fig": False}}
    text, found = noisyeval([data("known"), other], noise, **keys)
    counts = found.scores.groupby(["noise_kind", "dataset"]).size().to_dict()
    assert counts == {(EXPERT, "known"): 12, ("uniform", "known"): 12, ("uniform", "iris"): 12}
    assert f"{EXPERT} noise, known" in text
    assert "uniform noise, mean over 2 data sets" in text
    report = (tmp_path / "results" / "study" / "report.html").read_text()
    assert "mean over 1 to 2 data sets" in report
    assert f"one data set, under {EXPERT} noise" in report
    assert "mean over 2 data sets, under uniform noise" in report
    assert (tmp_path / "results" / "study" / "heatmap.png").exists()
