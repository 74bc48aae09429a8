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
# # Write a paper: from a new loss to figures, tests and tables
#
# You have an idea for a robust loss. This notebook
#
# 1. writes it down and checks its derivatives,
# 2. compares it with the losses that reviewers will ask for, on ten data sets,
# 3. draws the ELA curves,
# 4. tests whether the differences are more than chance,
# 5. writes figures and a LaTeX table.
#
# Nothing needs a fork of this project: the loss is a class in a cell of the notebook. So may be criteria,
# kinds of noise, metrics and models.

# %%
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import (
    load_digits,
    load_wine,
    make_circles,
    make_classification,
    make_hastie_10_2,
    make_moons,
)

import boostnoise
from boostnoise import Loss, RobustXGBClassifier, check_objective, xgboost_objective

# %% [markdown]
# ## 1. The loss
#
# Cross entropy is unbounded: a row with a wrong label pulls at the model, however sure the model is. Our loss
# mixes the probability of the label, p, with 1/2:
#
# $$\ell = -\ln\left((1 - a)\,p + \frac{a}{2}\right)$$
#
# It is at most $-\ln(a / 2)$, and its gradient vanishes where the model contradicts the label by far. With a
# = 0 it is cross entropy. This is the likelihood of labels that are replaced by a coin toss with the
# probability a, so an expert will recognise the forward correction for uniform noise of the rate a / 2.
#
# A loss has three methods. They take class numbers and margins f, where p = 1 / (1 + exp(-f)) for class 1.


# %%
@dataclass(frozen=True)
class Tempered(Loss):
    """Cross entropy of a probability that is mixed with 1/2."""

    a: float = 0.4
    binary_only = True

    def value(self, y, margin):
        """Loss of each row."""
        return -np.log(self._parts(y, margin)[1])

    def gradient(self, y, margin):
        """First derivative with respect to the margin."""
        sign, mixed, slope, _ = self._parts(y, margin)
        return -sign * slope / mixed

    def exact_hessian(self, y, margin):
        """Second derivative with respect to the margin."""
        _, mixed, slope, bend = self._parts(y, margin)
        return (slope / mixed) ** 2 - bend / mixed

    def _parts(self, y, margin):
        sign = np.where(np.asarray(y) == 1, 1.0, -1.0)
        p = 1 / (1 + np.exp(-sign * np.asarray(margin)))
        slope = (1 - self.a) * p * (1 - p)
        return sign, (1 - self.a) * p + self.a / 2, slope, slope * (1 - 2 * p)


print(check_objective(xgboost_objective(Tempered()), "xgboost"))

# %% [markdown]
# `check_objective` calls the objective as XGBoost does, and compares the derivatives with finite differences.
#
# ## 2. The comparison
#
# Ten data sets of two classes: two real ones, two cut out of real ones, and six synthetic ones. In a paper
# you would take more real ones; `{"path": "file.csv", "target": "column"}` and `{"openml": "name"}` are data
# sets too.

# %%
digits_X, digits_y = load_digits(return_X_y=True)
wine_X, wine_y = load_wine(return_X_y=True)
similar = np.isin(digits_y, [3, 8])
datasets = {
    "breast_cancer": "breast_cancer",
    "wine": (wine_X, wine_y == 1),
    "digits 3, 8": (digits_X[similar], digits_y[similar]),
    "digits, odd": {"data": (digits_X, digits_y % 2), "max_rows": 600},
    "moons": make_moons(500, noise=0.3, random_state=0),
    "circles": make_circles(500, noise=0.2, factor=0.5, random_state=0),
    "hastie": make_hastie_10_2(800, random_state=0),
    "mixture": make_classification(600, n_informative=6, flip_y=0.0, random_state=0),
    "checkerboard2x2": {"set": "checkerboard2x2", "max_rows": 600},
    "imbalanced_linear": {"set": "imbalanced_linear", "max_rows": 600},
}

# %% [markdown]
# The reviewers' questions decide what to compare with: XGBoost's own loss, and the best-known robust loss.
# All models have the same trees and rounds, so that the loss is the only difference. `passes=1` leaves out
# what our estimators do beyond the loss.
#
# Noise at equal rates in both classes is the easy case. With `by_class` noise, labels of one class are wrong
# three times as often as those of the other.

# %%
trees = {"n_estimators": 60, "max_depth": 4, "learning_rate": 0.1, "passes": 1}
models = {
    "tempered": RobustXGBClassifier(loss=Tempered(), **trees),
    "cross entropy": RobustXGBClassifier(**trees),
    "gce": RobustXGBClassifier(loss="gce", loss_params={"q": 0.7}, **trees),
}
comparison = boostnoise.compare(
    models,
    datasets,
    noise={"uniform": [0.1, 0.2, 0.3, 0.4], "by_class": [0.1, 0.2, 0.3]},
    metric="balanced_accuracy",
    repeats=3,
    name="paper",
    progress=False,
)

# %% [markdown]
# If you change the class and run the cell again, only the cells of this loss are fitted again: the store
# keeps a hash of its code.
#
# ## 3. ELA curves

# %%
axes = comparison.plot("ela")
plt.show()

# %% [markdown]
# Read them as in the first notebook: the start says how good a model is without noise, the slope how much the
# noise hurts it. The table has the means:

# %%
comparison.ela().round(3)

# %% [markdown]
# ## 4. More than chance?
#
# Data sets are the sample: the tests ask whether the new loss would also win on other data sets like these.
# The p-values of one model against all others are corrected for their number.

# %%
print(comparison.tests(noise_kind="by_class", noise_rate=0.3))

# %%
comparison.plot("critical_difference", noise_kind="by_class", noise_rate=0.3)
plt.show()

# %% [markdown]
# Report what the tests say, also where they find nothing: with ten data sets, only large differences can be
# significant.
#
# ## 5. Files for the paper
#
# Figures can be saved in any format of Matplotlib, and `to_latex` makes a table, which needs the LaTeX
# package `booktabs`. The best value of a row is bold.

# %%
folder = Path("results/paper/files")
folder.mkdir(parents=True, exist_ok=True)
axes.flat[0].figure.savefig(folder / "ela.pdf")
table = comparison.to_latex(noise_kind="by_class")
(folder / "table.tex").write_text(table)
print(table)

# %% [markdown]
# The report has all of it on one page, with a description of the experiment, the versions of the packages and
# the papers to cite. `Comparison.load("results", "paper")` opens the comparison on another day.

# %%
print(comparison.report())

# %% [markdown]
# To let others use the loss by its name, `loss="tempered"`, put it into a package. The guide of extensions
# says how, and the folder `examples/extension_package` is such a package.
