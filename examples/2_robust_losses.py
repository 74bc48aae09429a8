# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     notebook_metadata_filter: -jupytext.text_representation.jupytext_version
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A robust loss in XGBoost and LightGBM
#
# A booster that minimises cross entropy trusts every label. The longer it trains, the more wrong labels it
# memorises. A robust loss pays less attention to rows that contradict the model. This notebook shows
#
# 1. what such a loss does to a single row,
# 2. how to use it in XGBoost and LightGBM, and how the accuracy develops during training,
# 3. how to stop early when all your labels are noisy,
# 4. the estimators, which are as easy to use as the libraries' own,
# 5. how much of the gain is due to the loss, and how much to slower learning.

# %%
import lightgbm
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xgboost
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.model_selection import train_test_split

from boostnoise import (
    CorrectedErrorMetric,
    RobustLGBMClassifier,
    RobustXGBClassifier,
    get_loss,
    lightgbm_objective,
    xgboost_objective,
)
from boostnoise.eval import UniformNoise

# The line style of each loss in all pictures, in colours that colour-blind readers can tell apart.
STYLES = {
    "cross entropy": {"color": "#0072B2", "linestyle": "-"},
    "cross entropy, shorter steps": {"color": "#D55E00", "linestyle": "--"},
    "gce, q = 0.7": {"color": "#009E73", "linestyle": "-."},
    "gce, q = 1": {"color": "#CC79A7", "linestyle": (0, (1, 1))},
    "alpha": {"color": "#000000", "linestyle": (0, (6, 1, 1, 1, 1, 1))},
}

# %% [markdown]
# ## 1. What a robust loss does to a row
#
# A booster follows the gradient of the loss. With p the probability that the model gives to the label of a row,
# the gradient says how hard the row pulls at the model. The next picture has p on its horizontal axis: rows
# that contradict the model, wrong labels among them, are on the left.

# %%
p = np.linspace(0.001, 0.999, 200)
margin = np.log(p / (1 - p))
label = np.ones(p.size, dtype=int)
losses = {
    "cross entropy": get_loss("ce"),
    "gce, q = 0.7": get_loss("gce", q=0.7),
    "gce, q = 1": get_loss("gce", q=1.0),
    "alpha": get_loss("alpha"),
}
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, loss in losses.items():
    ax.plot(p, np.abs(loss.gradient(label, margin)), label=name, **STYLES[name])
ax.set(xlabel="probability that the model gives to the row's label", ylabel="pull of the row", ylim=(0, 1))
ax.legend()
plt.show()

# %% [markdown]
# With cross entropy, the row that contradicts the model most pulls hardest. With the others, such a row is
# nearly ignored, and the booster learns most from rows that the model is unsure of. That is the whole idea, and
# also its price: a row with a correct label that the model has not understood yet is ignored as well, so
# learning is slower.
#
# ## 2. During training
#
# Two half moons, with 40 % of the training labels wrong. The test labels are clean and show the true accuracy;
# in practice you would not have them. `xgboost_objective` and `lightgbm_objective` return an objective for the
# library. They also provide the intercept to start from, which the libraries do not estimate for custom
# objectives.
#
# A robust loss also takes shorter steps. A control shows the effect of that alone: the gradient of cross
# entropy with shorter steps (`hessian="unit"`).

# %%
NOISE_RATE = 0.4
X, y = make_moons(2000, noise=0.3, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
draws = [UniformNoise(NOISE_RATE).corrupt(y_train, random_state=draw) for draw in range(3)]
print("share of wrong labels in each draw:", [round(draw.realised_rate, 2) for draw in draws])


def xgboost_curve(y_seen, objective):
    """Accuracy on the clean test labels after each round of XGBoost."""
    history = {}
    params = {
        "objective": "binary:logistic",  # tells XGBoost that base_score is a probability
        "base_score": objective.base_score(y_seen),
        "max_depth": 4,
        "learning_rate": 0.1,
        "nthread": 1,
    }
    xgboost.train(
        params,
        xgboost.DMatrix(X_train, y_seen),
        num_boost_round=150,
        obj=objective,
        custom_metric=CorrectedErrorMetric("xgboost", noise_rate=0.0),
        evals=[(xgboost.DMatrix(X_test, y_test), "test")],
        evals_result=history,
        verbose_eval=False,
    )
    return 1 - np.array(history["test"]["corrected_error"])


def lightgbm_curve(y_seen, objective):
    """Accuracy on the clean test labels after each round of LightGBM."""
    history = {}
    start = objective.init_score(y_seen)
    rows = lightgbm.Dataset(X_train, y_seen, init_score=start)
    unseen = lightgbm.Dataset(X_test, y_test, init_score=np.full(y_test.size, start[0]), reference=rows)
    params = {
        "objective": objective,
        "metric": "None",
        "max_depth": 4,
        "learning_rate": 0.1,
        "num_threads": 1,
        "verbose": -1,
    }
    lightgbm.train(
        params,
        rows,
        num_boost_round=150,
        feval=CorrectedErrorMetric("lightgbm", noise_rate=0.0),
        valid_sets=[unseen],
        valid_names=["test"],
        callbacks=[lightgbm.record_evaluation(history)],
    )
    return 1 - np.array(history["test"]["corrected_error"])


OBJECTIVES = {
    "cross entropy": {"loss": "ce"},
    "cross entropy, shorter steps": {"loss": "ce", "hessian": "unit"},
    "gce, q = 0.7": {"loss": "gce", "q": 0.7},
    "gce, q = 1": {"loss": "gce", "q": 1.0},
}
figure, axes = plt.subplots(2, 2, figsize=(10, 6.5), sharex=True, sharey="row", layout="constrained")
for title, label_sets, (ax_xgboost, ax_lightgbm) in (
    ("clean labels", [y_train], axes[0]),
    ("40 % noise, mean of three draws", [draw.labels for draw in draws], axes[1]),
):
    for name, arguments in OBJECTIVES.items():
        hook = xgboost_objective(**arguments)
        curves = [xgboost_curve(labels, hook) for labels in label_sets]
        ax_xgboost.plot(np.mean(curves, axis=0), label=name, **STYLES[name])
        hook = lightgbm_objective(**arguments)
        curves = [lightgbm_curve(labels, hook) for labels in label_sets]
        ax_lightgbm.plot(np.mean(curves, axis=0), label=name, **STYLES[name])
    ax_xgboost.set(title=f"XGBoost, {title}", ylabel="accuracy on clean labels")
    ax_lightgbm.set_title(f"LightGBM, {title}")
for ax in axes[1]:
    ax.set_xlabel("rounds of boosting")
axes[0, 0].legend()
plt.show()

# %% [markdown]
# How to read it: all models first learn what most rows agree on, then, tree by tree, what single rows say. With
# clean labels (above; note the scale, the curves are two points apart) this does no harm for a long time. With
# 40 % noise (below) they learn noise, and the accuracy falls; that of cross entropy falls first and furthest.
# The larger q is, the later and slower the fall, but no loss prevents it.
#
# And the control? Under noise it does as well as the robust losses: much of what looks like robustness is
# slower learning. It pays for this on clean labels, where it is the least accurate, because it is slow with
# every row. A robust loss is slow only with rows that contradict the model.
#
# ## 3. Early stopping on noisy labels
#
# So the number of rounds matters at least as much as the loss. You can choose it on held-out rows although
# their labels are noisy too: for two classes, uniform noise of rate r turns an accuracy a into r + (1 − 2r) a,
# which keeps the order. `CorrectedErrorMetric` inverts this formula and reports an estimate of the error on
# clean labels.

# %%
X_fit, X_held, y_fit, y_held = train_test_split(X_train, draws[0].labels, test_size=0.25, random_state=0)
booster = RobustXGBClassifier(
    loss="ce",
    passes=1,
    n_estimators=200,
    max_depth=4,
    learning_rate=0.1,
    n_jobs=1,
    eval_metric=CorrectedErrorMetric("xgboost", noise_rate=NOISE_RATE),
    early_stopping_rounds=50,
)
booster.fit(X_fit, y_fit, eval_set=[(X_held, y_held)], verbose=False)
estimated = 1 - np.array(booster.evals_result()["validation_0"]["corrected_error"])
rounds = range(1, len(estimated) + 1)
true = [np.mean(booster.predict(X_test, iteration_range=(0, n)) == y_test) for n in rounds]
best = booster.best_iteration + 1

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(rounds, estimated, label=f"estimated from {y_held.size} noisy labels")
ax.plot(rounds, true, "--", label=f"on {y_test.size} clean labels")
ax.axvline(best, color="0.5", linewidth=1, linestyle="-")
ax.annotate(" chosen", (best, 0.02), xycoords=("data", "axes fraction"))
ax.set(xlabel="rounds of boosting", ylabel="accuracy")
ax.legend()
plt.show()
print(
    f"right on clean labels: {true[best - 1]:.3f} after {best} rounds, {true[-1]:.3f} after {len(true)} rounds"
)

# %% [markdown]
# The estimate is rough: with r = 0.4, the sampling error of 350 labels grows by the factor 1 / (1 − 2r) = 5. So
# its height says little, and at the chosen round, the best of many, it is too high. But it falls where the
# accuracy falls, and the round it chooses is a good one.
#
# ## 4. The estimators
#
# `RobustXGBClassifier` and `RobustLGBMClassifier` take the libraries' own parameters, and `loss` and
# `loss_params`. With `passes=1`, everything else is as in the libraries. The noisy labels can decide how robust
# to be: `q="auto"` compares five values of q, from 0 (cross entropy) to 1, by cross-validation on the noisy
# labels, which takes 15 more fits. By default, with two passes, forests judge the labels first, and the booster
# is trained on the probabilities of the clean labels, as in the last two models.

# %%
SMALL = {"max_depth": 4, "learning_rate": 0.1, "n_jobs": 1}
for model in (
    RobustXGBClassifier(passes=1, **SMALL),
    RobustXGBClassifier(loss="gce", loss_params={"q": "auto"}, passes=1, **SMALL),
    RobustLGBMClassifier(passes=1, **SMALL, verbose=-1),
    RobustLGBMClassifier(loss="gce", loss_params={"q": 1.0}, passes=1, **SMALL, verbose=-1),
    RobustXGBClassifier(n_jobs=1),
    RobustLGBMClassifier(n_jobs=1, verbose=-1),
):
    model.fit(X_train, draws[0].labels)
    score = model.score(X_test, y_test)
    print(f"{type(model).__name__}, {model.passes_} passes, {model.loss_}: {score:.3f} of the clean labels")

# %% [markdown]
# ## 5. What helps, and what does not
#
# One picture of one data set proves nothing. So here are three data sets, with no noise, 20 % and 40 %, three
# splits each, and models with the same 100 rounds. The last two are cross entropy again: one chooses its rounds
# on a noisy quarter of the training rows, the other its trees, rounds and learning rate by cross-validation.

# %%
cancer, digits = load_breast_cancer(), load_digits()
SETS = {
    "breast cancer": (cancer.data, cancer.target),
    "odd digits": (digits.data, digits.target % 2),
    "two moons": make_moons(1000, noise=0.3, random_state=1),
}
MODELS = {
    "cross entropy": {"loss": "ce"},
    "cross entropy, shorter steps": {"loss": "ce", "hessian": "unit"},
    "gce, q = 0.7": {"loss": "gce", "loss_params": {"q": 0.7}},
    "gce, q = 1": {"loss": "gce", "loss_params": {"q": 1.0}},
    "alpha": {"loss": "alpha"},
}
SETTINGS = {"passes": 1, "n_estimators": 100, "max_depth": 4, "learning_rate": 0.1, "n_jobs": 1}


def stopped(X, labels, rate, seed):
    """Cross entropy with the number of rounds chosen on noisy labels."""
    X_fit, X_held, y_fit, y_held = train_test_split(X, labels, test_size=0.25, random_state=seed)
    metric = CorrectedErrorMetric("xgboost", noise_rate=rate)
    model = RobustXGBClassifier(loss="ce", eval_metric=metric, early_stopping_rounds=50, **SETTINGS)
    return model.fit(X_fit, y_fit, eval_set=[(X_held, y_held)], verbose=False)


rows = []
for name, (X, y) in SETS.items():
    for rate in (0.0, 0.2, 0.4):
        for seed in range(3):
            X_train, X_test, y_train, y_test = train_test_split(
                X, y, test_size=0.3, stratify=y, random_state=seed
            )
            labels = UniformNoise(rate).corrupt(y_train, random_state=seed).labels
            fitted = {
                model: RobustXGBClassifier(**arguments, **SETTINGS).fit(X_train, labels)
                for model, arguments in MODELS.items()
            }
            fitted["cross entropy, stopped in time"] = stopped(X_train, labels, rate, seed)
            fitted["cross entropy, two passes"] = RobustXGBClassifier(n_jobs=1).fit(X_train, labels)
            for model, booster in fitted.items():
                rows.append((model, name, f"{rate:.0%} noise", 100 * booster.score(X_test, y_test)))
scores = pd.DataFrame(rows, columns=["model", "set", "noise", "accuracy"])
scores.pivot_table(index="model", columns="noise", values="accuracy", sort=False).round(1)

# %% [markdown]
# The same at 40 % noise, for each data set:

# %%
heavy = scores[scores["noise"] == "40% noise"]
heavy.pivot_table(index="model", columns="set", values="accuracy", sort=False).round(1)

# %% [markdown]
# What this shows:
#
# - **Without noise**, a robust loss costs little or nothing. Shorter steps for all rows do cost accuracy, and
#   so does early stopping, because the held-out rows are missing from training.
# - **At 40 %**, robust losses are ahead of cross entropy with the same number of rounds, and more so for larger
#   q. So are shorter steps and early stopping: all of them learn less noise.
# - **At 20 %**, the picture is the same, with smaller differences.
# - If learning rate and rounds of all models are tuned on noisy labels, the gain over twelve data sets is
#   nothing at 20 % noise, and two to three points at 40 %; `benchmarks/losses.py` in the repository measures
#   it.
#
# - **Adapted to the noisy labels**, cross entropy is ahead of all losses with fixed trees and rounds. What fits
#   the noise is the booster more than its loss.
#
# So let the estimators choose trees and length, which is their default. If you must keep those fixed and
# expect much noise, take `gce` with a q near 1 or `alpha`, and compare it with cross entropy on your data.
