import itertools
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control, ttest_rel, wilcoxon
from scipy.stats import t as student

from boostnoise.eval import score_table, verdict
from boostnoise.eval._wording import p_text
from boostnoise.eval.metrics.outcome import NOT_FITTED

NAMES = ("robust_forest", "gbm", "adaboost", "tree")


def simulate(models, n_datasets=15, rates=(0.0, 0.1, 0.3, 0.45), repeats=2, seed=0):
    """Scores of models: for each an accuracy without noise, and what is left of it per unit of noise."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"d{d}", rate, repeat, name, np.clip(clean - slope * rate + shift + rng.normal(0, 0.002), 0, 1))
        for d in range(n_datasets)
        for shift in [rng.uniform(-0.05, 0.05)]
        for rate in rates
        for repeat in range(repeats)
        for name, (clean, slope) in models.items()
    ]
    scores = pd.DataFrame(rows, columns=["dataset", "noise_rate", "repeat", "model", "accuracy"])
    return scores.assign(noise_kind="uniform", error=None)


@pytest.fixture
def scores():
    return simulate(dict(zip(NAMES, [(0.9, 0.2), (0.88, 0.4), (0.85, 0.6), (0.6, 0.05)], strict=True)))


def test_the_best_and_what_it_keeps(scores):
    (text,) = verdict(scores)
    kept = score_table(scores, "retention", noise_rate=0.3).mean()
    first, second = re.split(r"(?<=accuracy)\. ", text)
    assert first == (
        "At 30 % uniform noise robust_forest has the best mean rank of four models (1) in accuracy over 15 data sets "
        f"and keeps {100 * kept['robust_forest']:.3g} % of its accuracy; tree keeps the most, {100 * kept['tree']:.3g} %, but "
        "of a lower accuracy"
    )
    p = 6 * wilcoxon(np.arange(1.0, 16)).pvalue  # it wins everywhere; four models are six pairs
    assert p < 0.0005
    assert second == (
        "By Wilcoxon's signed-rank test with Holm's correction over all pairs of models robust_forest beats gbm (on "
        "15 of 15 data sets, p < 0.001), adaboost (on 15 of 15 data sets, p < 0.001) and tree (on 15 of 15 data sets, p < 0.001)."
    )


@pytest.mark.parametrize(("n_datasets", "mean"), [(15, "mean "), (1, "")])
def test_ela_names_another_model(n_datasets, mean):
    models = {"flat": (0.8, 0.0), "steep": (0.95, 0.52), "low": (0.7, 0.1)}
    scores = simulate(models, n_datasets=n_datasets, repeats=4)
    ela = score_table(scores, "ela", noise_rate=0.3).mean()
    assert ela["steep"] < ela["flat"]
    (text,) = verdict(scores)
    assert f" flat has the best {'mean rank' if mean else 'accuracy'} of three models" in text
    assert (
        f". By {mean}ELA, which also counts the accuracy without noise, steep is ahead of flat "
        f"({ela['steep']:.3f} against {ela['flat']:.3f}). "
    ) in text
    assert "ELA" not in verdict(scores, control="flat")[0]
    assert "ELA" not in verdict(scores[scores["model"] != "steep"])[0]
    assert "ELA" not in verdict(scores[scores["noise_rate"] == 0])[0]


def test_the_most_of_all(scores):
    (text,) = verdict(scores[scores["model"] != "tree"])
    assert "% of its accuracy, the most of all." in text


def test_uncertain_differences_are_not_claimed():
    (text,) = verdict(simulate({"a": (0.9, 0.3), "b": (0.9, 0.3), "c": (0.8, 0.3)}))
    best, other = ("a", "b") if " a has the best" in text else ("b", "a")
    assert (
        f"{best} beats c (on 15 of 15 data sets, p < 0.001); no difference from {other} is shown (p = " in text
    )


def test_a_control_that_loses(scores):
    (text,) = verdict(scores, control="adaboost", noise_rate=0.1)
    assert text.startswith(
        "At 10 % uniform noise adaboost has the mean rank 3 of four models in accuracy over 15 data sets, "
        "robust_forest the best; adaboost keeps "
    )
    assert (
        "adaboost beats tree (on 15 of 15 data sets, p < 0.001); adaboost loses to robust_forest (on 15 of"
        in text
    )


def test_many_models_are_counted():
    models = {f"m{i}": (0.9 - 0.05 * i, 0.1) for i in range(8)}
    (text,) = verdict(simulate(models))
    assert "m0 beats seven models (on 15 of 15 data sets, largest p = 0.002)." in text  # 28 pairs


@pytest.mark.parametrize(("n", "words"), [(3, "Three data sets are"), (6, "Six data sets are")])
def test_few_data_sets(scores, n, words):
    (text,) = verdict(scores[scores["dataset"].isin([f"d{i}" for i in range(n)])])
    assert text.endswith(
        f"{words} too few for Wilcoxon's signed-rank test of all pairs of four models; at least eight data sets are "
        "needed."
    )
    assert "p =" not in text
    assert "p <" not in text


def by_holm(p):
    """Holm's correction by hand."""
    ordered = pd.Series(p).sort_values()
    return np.minimum(1, ordered * np.arange(len(ordered), 0, -1)).cummax()


@pytest.mark.parametrize("test_fraction", [0.25, None])
def test_a_single_data_set(test_fraction):
    models = {"a": (0.9, 0.2), "b": (0.9, 0.205), "c": (0.9, 0.24), "d": (0.8, 0.2)}
    scores = simulate(models, n_datasets=1, repeats=8)
    (text,) = verdict(scores, test_fraction=test_fraction)
    wide = scores[scores["noise_rate"] == 0.3].pivot_table(index="repeat", columns="model", values="accuracy")
    ratio = 0 if test_fraction is None else 8 * test_fraction / (1 - test_fraction)
    p = {
        pair: 2 * student.sf(abs(ttest_rel(wide[pair[0]], wide[pair[1]]).statistic) / np.sqrt(1 + ratio), 7)
        for pair in itertools.combinations("abcd", 2)
    }
    holm = by_holm(p)
    largest, p_b = max(holm["a", "c"], holm["a", "d"]), holm["a", "b"]
    assert largest < 0.05 < p_b
    assert text.startswith("At 30 % uniform noise a has the best accuracy of four models on d0 and keeps")
    test = "corrected resampled t-tests" if test_fraction else "paired t-tests"
    caution = "" if test_fraction else "; uncorrected for the rows that repeats share"
    assert text.endswith(
        f"Over its repeats, by {test} with Holm's correction over all pairs of models{caution}, a beats c and d "
        f"(largest {p_text(largest)}); no difference from b is shown ({p_text(p_b)})."
    )
    (text,) = verdict(scores, control="a", test_fraction=test_fraction)
    holm = by_holm({pair: value for pair, value in p.items() if "a" in pair})
    assert text.endswith(
        f"by {test} with Holm's correction{caution}, a beats c and d "
        f"(largest {p_text(max(holm['a', 'c'], holm['a', 'd']))}); no difference from b is shown "
        f"({p_text(holm['a', 'b'])})."
    )
    (text,) = verdict(scores, control="c", test_fraction=test_fraction)
    assert "c beats d (" in text
    assert "c loses to a" in text


def test_on_a_single_data_set_the_rate_of_any_false_claim_is_bounded_not_their_share():
    """Holm's correction, not that of the false discovery rate, by which a would beat c."""
    scores = simulate(
        {"a": (0.9, 0.0), "b": (0.9, 0.003), "c": (0.9, 0.012), "d": (0.9, 0.1)},
        n_datasets=1,
        repeats=6,
        seed=11,
    )
    wide = scores[scores["noise_rate"] == 0.3].pivot_table(index="repeat", columns="model", values="accuracy")
    p = {pair: ttest_rel(wide[pair[0]], wide[pair[1]]).pvalue for pair in itertools.combinations("abcd", 2)}
    holm = by_holm(p)
    discovered = dict(zip(p, false_discovery_control(list(p.values())), strict=True))
    assert discovered["a", "c"] < 0.05 < holm["a", "c"]
    (text,) = verdict(scores)
    assert text.endswith(
        f"a beats d ({p_text(holm['a', 'd'])}); no difference from b and c is shown (smallest "
        f"{p_text(min(holm['a', 'b'], holm['a', 'c']))})."
    )


def test_a_single_data_set_with_few_repeats(scores):
    (text,) = verdict(scores[scores["dataset"] == "d0"])
    assert text.endswith("Two repeats are too few for paired t-tests; at least three repeats are needed.")


def test_one_model(scores):
    (text,) = verdict(scores[scores["model"] == "gbm"])
    mean = score_table(scores, noise_rate=0.3)["gbm"].mean()
    kept = score_table(scores, "retention", noise_rate=0.3)["gbm"].mean()
    assert text == (
        f"At 30 % uniform noise gbm, the only model, has the mean accuracy {mean:.3g} over 15 data sets and keeps "
        f"{100 * kept:.3g} % of its accuracy."
    )
    (text,) = verdict(scores[(scores["model"] == "gbm") & (scores["dataset"] == "d0")])
    assert "gbm, the only model, has the accuracy 0." in text
    assert "on d0 and keeps" in text


def test_ties_at_the_top(scores):
    same = scores.assign(accuracy=np.where(scores["model"] == "tree", 0.5, 0.8))
    (text,) = verdict(same)
    assert text.startswith(
        "At 30 % uniform noise robust_forest, gbm and adaboost share the best mean rank of four models (2) in accuracy "
        "over 15 data sets; robust_forest keeps 100 % of its accuracy. By"
    )
    assert "robust_forest beats tree" in text
    assert "no difference from gbm and adaboost is shown (smallest p = 1.000)" in text


def test_only_without_noise(scores):
    (text,) = verdict(scores[scores["noise_rate"] == 0])
    assert text.startswith(
        "Without uniform noise robust_forest has the best mean rank of four models (1) in accuracy over 15 data sets. By"
    )
    assert "keeps" not in text


def test_one_repeat(scores):
    (text,) = verdict(scores[scores["repeat"] == 0])
    assert text.startswith("At 30 % uniform noise robust_forest has the best mean rank of four models (1)")
    assert re.search(
        r" and keeps [\d.]+ % of its accuracy \(a rough figure, from one repeat\); tree keeps", text
    )
    assert "rough" not in verdict(scores)[0]
    (text,) = verdict(scores[scores["dataset"].eq("d0") & scores["repeat"].eq(0)])
    assert "% of its accuracy (a rough figure, from one repeat)" in text


def test_the_complete_noise_rate_nearest_to_30_percent(scores, fail):
    models = {"gbm": (0.9, 0.1), "tree": (0.8, 0.1)}
    assert verdict(simulate(models, rates=(0.0, 0.2, 0.35, 0.9)))[0].startswith("At 35 %")
    fail(scores, noise_rate=0.3, dataset="d0", model="gbm", repeat=0)
    assert verdict(scores)[0].startswith("At 45 %")
    # A model that fails altogether at a rate makes that less telling than one that all models have.
    fail(scores, noise_rate=0.45, model="gbm")
    assert verdict(scores)[0].startswith("At 10 %")
    # What fails without noise fails at all rates.
    scores = simulate(models)
    fail(scores, noise_rate=0.0, dataset="d0", model="gbm", repeat=0)
    (text,) = verdict(scores)
    assert text.startswith("At 30 %")
    assert "over 14 data sets" in text
    assert text.endswith(
        "1 of 240 cells under this noise failed. One data set is not compared: d0 (gbm failed in 1 of 2 repeats: E: no)."
    )


def test_models_that_fail_everywhere(scores, fail):
    fail(scores, "MemoryError: more than 2 GiB", model="gbm")
    (text,) = verdict(scores)
    assert "of three models (1) in accuracy over 15 data sets" in text
    assert text.endswith(
        "120 of 480 cells under this noise failed. One model is not compared: gbm (failed in 2 of 2 repeats: "
        "MemoryError: more than 2 GiB)."
    )
    (text,) = verdict(scores, control="gbm")
    assert text.startswith("At 30 % uniform noise gbm has no values to compare. 120 of 480 cells")


def test_unfitted_cells_are_distinguished_from_failed_ones(scores, fail):
    fail(scores, NOT_FITTED, model="gbm")
    (text,) = verdict(scores)
    assert text.endswith(
        "120 of 480 cells under this noise are not fitted yet. One model is not compared: gbm (is not fitted yet in "
        "2 of 2 repeats)."
    )
    assert "failed" not in text
    fail(scores, dataset="d0", model="tree", repeat=0, noise_rate=0.1)
    assert "1 of 480 cells under this noise failed and 120 are not fitted yet." in verdict(scores)[0]


def test_many_reasons_are_cut(scores, fail):
    for i in range(5):
        fail(scores, dataset=f"d{i}", model="gbm")
    assert verdict(scores)[0].count("gbm failed in 2 of 2 repeats: E: no") == 3
    assert ") and 2 more." in verdict(scores)[0]


def test_no_values_at_all(scores):
    scores["accuracy"], scores["error"] = np.nan, "E: no"
    (text,) = verdict(scores)
    assert text.startswith(
        "At 30 % uniform noise no data set has values of all models, so models cannot be compared. "
        "480 of 480 cells under this noise failed. Four models are not compared: robust_forest (failed in 2 of 2 repeats"
    )
    assert verdict(scores[:0]) == []


def test_a_paragraph_for_each_kind_of_noise(scores):
    other = scores[scores["noise_rate"] != 0.3].assign(noise_kind="pair_flip")
    both = pd.concat([scores, other])
    first, second = verdict(both)
    assert first == verdict(scores)[0]
    assert second.startswith("At 45 % pair_flip noise")
    assert verdict(both, noise_rate=0.3) == [first]
    with pytest.raises(ValueError, match=r"^noise_rate must be one of 0, 0.1, 0.3, 0.45, got 0.2$"):
        verdict(both, noise_rate=0.2)


def test_lower_is_better(scores):
    losses = scores.assign(log_loss=1 - scores["accuracy"])
    (text,) = verdict(losses, metric="log_loss")
    assert text.startswith(
        "At 30 % uniform noise robust_forest has the best mean rank of four models (1) in log loss over 15 data sets. By"
    )
    assert "keeps" not in text
    assert "robust_forest beats gbm (on 15 of 15" in text
    (text,) = verdict(scores.assign(roc_auc=scores["accuracy"]), metric="roc_auc")
    assert "in ROC AUC over 15 data sets and keeps" in text


def test_names_stand_as_they_are(scores):
    (text,) = verdict(scores.replace({"model": {"robust_forest": "<b>$x_1$</b>"}}))
    assert "At 30 % uniform noise <b>$x_1$</b> has the best" in text


def test_arguments(scores):
    with pytest.raises(
        ValueError, match=r"^control must be one of robust_forest, gbm, adaboost, tree, got 'svm'$"
    ):
        verdict(scores, control="svm")
    with pytest.raises(ValueError, match="measure 'roc_auc' is not in the scores"):
        verdict(scores, metric="roc_auc")
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1"):
        verdict(scores, alpha=5)


def test_the_published_accuracies_of_2020(study_2020):
    (text,) = verdict(study_2020("depth6trees50"))
    assert text == (
        "At 30 % label noise xgboost6 has the best mean rank of three models (1.56) in accuracy over 16 data sets and keeps "
        "73.8 % of its accuracy (a rough figure, from one repeat), the most of all. By Wilcoxon's signed-rank test with Holm's correction over all pairs of "
        "models xgboost6 beats adaboost6 (on 14 of 16 data sets, p = 0.004); no difference from gboost6 is shown (p = 0.334)."
    )


def test_slow_libraries_are_imported_late(slow_imports):
    modules = "confidence_band, intervals, paired_t, wilcoxon_holm, friedman_nemenyi, significance, verdict"
    loaded = slow_imports(f"from boostnoise.eval.statistics import {modules}")
    assert not loaded & {"scipy.stats", "statsmodels", "scikit_posthocs", "seaborn", "matplotlib"}
