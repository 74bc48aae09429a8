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
# # Boosters under label noise, and how to read ELA curves
#
# Which booster copes best with wrong labels? This notebook runs the experiment and shows
#
# 1. how to run a comparison,
# 2. what ELA is, and how to read its curve,
# 3. why the baseline matters: a model can look robust because it knows so little,
# 4. what the averages hide,
# 5. whether the differences are more than chance.

# %%
import matplotlib.pyplot as plt
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import boostnoise

# %% [markdown]
# ## 1. A comparison
#
# Models are short names (`noisyeval --list` in a shell shows them all), estimators, or short names with
# parameters, as in a config file. All boosters run for the same 50 rounds. The stump, a tree with a single
# split, is there on purpose.
#
# Noise goes into the training labels: at the rate 0.2, each label is replaced by another one with probability
# 0.2. Test labels stay clean. `repeats=3` runs everything three times, with different splits and noise.

# %%
models = {
    "AdaBoost": {"model": "adaboost", "params": {"n_estimators": 50}},
    "XGBoost": {"model": "xgboost", "params": {"n_estimators": 50, "learning_rate": 0.1}},
    "LightGBM": {"model": "lightgbm", "params": {"n_estimators": 50, "learning_rate": 0.1}},
    "XGBoost, robust loss": {
        "model": "robust_xgboost:gce",
        "params": {"passes": 1, "n_estimators": 50, "learning_rate": 0.1, "loss_params": {"q": 1.0}},
    },
    "random forest": RandomForestClassifier(n_estimators=50),
    "stump": DecisionTreeClassifier(max_depth=1),
}
datasets = [
    "breast_cancer",
    "wine",
    "iris",
    {"set": "digits", "max_rows": 600},
    {"set": "checkerboard2x2", "max_rows": 600},
    {"set": "imbalanced_linear", "max_rows": 600},
]
comparison = boostnoise.compare(
    models, datasets, noise=[0.1, 0.2, 0.3, 0.4], repeats=3, random_state=7, name="boosters"
)
comparison

# %% [markdown]
# Every result is saved in the folder `results` at once. If you run this notebook again, nothing is fitted
# twice. `boostnoise.Comparison.load("results", "boosters")` opens the comparison elsewhere.
#
# ## 2. ELA
#
# Let A₀ be the accuracy of a model that was trained without noise, and Aᵥ its accuracy at the noise rate v. Its
# equalised loss of accuracy is
#
# $$\mathrm{ELA}_v = \frac{1 - A_v}{A_0}$$
#
# the error under noise relative to the accuracy without noise. Lower is better; 0 means no errors.

# %%
comparison.ela().round(3)

# %%
comparison.plot("ela", models=[name for name in models if name != "stump"])
plt.show()

# %% [markdown]
# How to read it:
#
# - **The start of a curve** shows how good the model is without noise: (1 − A₀) / A₀.
# - **The slope** shows how much noise hurts it. Up to 10 % little happens; from 20 % on, the curves separate.
# - **The end** combines both. A model that starts low and rises fast may end above one that starts higher.
# - **The bands** show how uncertain the means are. Where they overlap a lot, do not read a ranking out of the
#   picture.
#
# The stump is left out here because its curve is far above the others; see its row in the table.
#
# ## 3. The baseline matters
#
# Another metric is the relative loss of accuracy, RLA = (A₀ − Aᵥ) / A₀: the share of its accuracy that a model
# loses.

# %%
comparison.plot("rla")
plt.show()

# %% [markdown]
# Now the stump is the best of all! It loses next to nothing, because it has next to nothing to lose: on ten
# digits, one split gets a fifth of the rows right, whatever the labels. RLA can even be negative, if a model is
# more accurate with noise than without. AdaBoost on digits is such a case, because without noise it is far
# below the others.
#
# So a flat curve is no virtue in itself. ELA counts all errors of a model, including those without noise, and
# puts the stump where it belongs. Always read RLA together with the accuracies:

# %%
comparison.curve("accuracy").round(3)

# %% [markdown]
# ## 4. Behind the averages

# %%
comparison.plot("ela_by_dataset", models=[name for name in models if name != "stump"])
plt.show()

# %% [markdown]
# The averages hide a lot. AdaBoost cannot learn the checkerboard at all, with or without noise, and is poor on
# digits; that is why its mean ELA starts so high. On `imbalanced_linear`, where a single threshold separates
# the classes, it is among the best: a simple model is the most robust where the truth is simple.
#
# ## 5. More than chance?
#
# Ranks put the data sets on one scale: on each of them, the best model has rank 1. The diagram shows the mean
# ranks at one noise rate. A bar joins models between which Nemenyi's test finds no significant difference.

# %%
comparison.plot("critical_difference", noise_rate=0.3)
plt.show()

# %%
print(comparison.tests(noise_rate=0.3))

# %% [markdown]
# Six data sets are few: such tests only detect large differences, and without a significant difference models
# may still differ. With more data sets the bars get shorter. Choose data sets like those you care about.
#
# What this run shows:
#
# - Up to 20 % uniform noise, good models stay good, and the choice among them hardly matters.
# - Beyond that they separate, and on average the robust loss is ahead of the same booster without it. Without
#   noise it costs nothing on average, but it does on digits, where its ELA starts higher. The notebook on
#   robust losses asks how much of this is due to the loss.
# - All of this holds for uniform noise, these model sizes and these data sets. Run it on yours.

# %%
print(comparison.report())
