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
# # From noisy labels to a service
#
# A model is wanted for a service, and its labels come from a busy registry that overlooks cases. This
# notebook goes the whole way:
#
# 1. find out how noisy the labels are,
# 2. train a forest that holds up, and say how good it is on right labels,
# 3. explain its predictions,
# 4. export it to ONNX,
# 5. serve it without this package,
# 6. watch it: its accuracy on right labels, month by month, from noisy ones.

# %%
import time
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
import pandas as pd

import boostnoise
from boostnoise.eval import ClassConditionalNoise
from robust_splits import RobustForestClassifier
from robust_splits.export import onnx_input, to_onnx, to_sklearn

# %% [markdown]
# ## 1. The labels
#
# The data are made up, so that we can check all claims: 3,000 deliveries, almost a quarter of them late,
# depending on the carrier, the distance and the weight. The registry overlooks three late deliveries in ten,
# and calls one in fifty late that was not.


# %%
def deliveries(n, seed, storm=0.0):
    """Deliveries, with their right labels and those of the registry; a storm makes another carrier late."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "distance": rng.gamma(2, 60, n).round(),
            "weight": rng.gamma(2, 2, n).round(1),
            "carrier": pd.Categorical.from_codes(rng.integers(0, 6, n), list("ABCDEF")),
        }
    )
    slow = frame["carrier"].isin(["B", "E"])
    risk = -4 + 0.012 * frame["distance"] + 2.2 * slow + 0.15 * frame["weight"]
    risk += storm * frame["carrier"].isin(["A", "C", "D"])
    late = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * risk)), "late", "on time")
    noise = ClassConditionalNoise([[0.7, 0.3], [0.02, 0.98]])  # of "late" and "on time"
    return frame, late, noise.corrupt(late, random_state=seed).labels


X, late, registered = deliveries(3000, seed=1)
found = boostnoise.audit(X, registered, random_state=0)
print(found)

# %% [markdown]
# The audit sees the registered labels only. Here we know the right ones:

# %%
wrong = registered != late
print(f"{wrong.mean():.1%} of the labels are wrong")
print(f"{wrong[found.suspects['row'][:50]].mean():.0%} of the first 50 suspects are")

# %% [markdown]
# ## 2. The model
#
# `RobustForestClassifier` judges the labels by itself, and takes the carriers as they are, without one-hot
# columns. Its probabilities are those of right labels. `clean_scores` estimates the accuracy on right labels,
# also from the registered ones, by cross-validation.

# %%
forest = RobustForestClassifier(200, random_state=0).fit(X, registered)
print(boostnoise.clean_scores({"forest": forest}, X, registered, random_state=0))

# %%
X_new, late_new, _ = deliveries(3000, seed=2)
print(f"{forest.score(X_new, late_new):.1%} of new deliveries are predicted right")
expected = forest.predict_proba(X_new)[:, 0].mean()
print(f"{(late_new == 'late').mean():.1%} of them are late, and {expected:.1%} were expected")

# %% [markdown]
# ## 3. What it looks at
#
# `to_sklearn` makes a forest of scikit-learn with the same nodes, which SHAP explains exactly. scikit-learn
# has no categories, so the forest for this purpose takes the carriers as numbers.

# %%
warnings.filterwarnings("ignore", message="IProgress not found")  # of shap, where ipywidgets is not installed
import shap  # noqa: E402

ranked = RobustForestClassifier(200, categorical_features=None, random_state=0).fit(X, registered)
rows = pd.DataFrame(onnx_input(ranked, X_new), columns=X.columns)[:300]
explanation = shap.TreeExplainer(to_sklearn(ranked))(rows.to_numpy())
values = explanation.values[:, :, 0]  # of the class "late"
order = np.abs(values).mean(axis=0).argsort()
figure, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
for i, column in enumerate(order):
    spread = np.random.default_rng(0).uniform(-0.3, 0.3, len(rows))
    ax.scatter(values[:, column], i + spread, c=rows.iloc[:, column].rank(), cmap="viridis", s=6)
ax.set(
    yticks=range(len(order)), yticklabels=rows.columns[order], xlabel="contribution to the probability of late"
)
plt.show()

# %% [markdown]
# Light points are large values: long distances raise the probability, and so do two of the carriers. The
# contributions of a row and the base value sum to its probability.
#
# ## 4. The file
#
# ONNX is read by runtimes in many languages. Missing values and categories are kept.

# %%
folder = Path("results/service")
folder.mkdir(parents=True, exist_ok=True)
path = folder / "forest.onnx"
path.write_bytes(to_onnx(forest).SerializeToString())
print(f"{path.stat().st_size / 2**20:.1f} MiB")

# %% [markdown]
# ## 5. The service
#
# The next cells use `onnxruntime` and NumPy alone. Categories arrive as their ranks. The metadata of the file
# list them.

# %%
session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
print(session.get_modelmeta().custom_metadata_map)
request = np.array([[310, 5.5, 1]], dtype=np.float32)  # 310 km, 5.5 kg, carrier B
begin = time.perf_counter()
label, p = session.run(["label", "probabilities"], {"X": request})
milliseconds = 1000 * (time.perf_counter() - begin)
print(label, p.round(3), f"{milliseconds:.1f} ms")

# %%
_, served = session.run(None, {"X": onnx_input(forest, X_new)})
difference = np.abs(served - forest.predict_proba(X_new)).max(axis=1)
print(
    f"{(difference < 1e-6).mean():.1%} of the probabilities are those of the forest; of the others, the largest"
)
print(f"difference is {difference.max():.0e}: their values are thresholds, which ONNX has in single precision")

# %% [markdown]
# ## 6. The watch
#
# Every month the registry has new labels, as noisy as the old ones. The agreement of the service with them
# says little: overlooked cases count against it. `clean_scores` takes the noise into account. From the fourth
# month on, a storm makes other carriers late too.

# %%
months = []
for month in range(6):
    X_month, late_month, registered_month = deliveries(1500, seed=10 + month, storm=3.0 if month >= 3 else 0.0)
    _, p = session.run(None, {"X": onnx_input(forest, X_month)})
    scores = boostnoise.clean_scores({"service": p}, X_month, registered_month, random_state=0).scores
    balanced = scores.set_index("measure").loc["balanced_accuracy"]
    predicted = forest.classes_[p.argmax(axis=1)]
    right = np.mean([(predicted[late_month == label] == label).mean() for label in forest.classes_])
    months.append(
        [month + 1, balanced["on_given_labels"], balanced["estimate"], balanced["low"], balanced["high"], right]
    )
watch = pd.DataFrame(
    months, columns=["month", "on registered labels", "estimate", "low", "high", "on right labels"]
)
watch.round(3)

# %%
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.fill_between(watch["month"], watch["low"], watch["high"], alpha=0.2, color="#0072B2")
ax.plot(
    watch["month"],
    watch["estimate"],
    color="#0072B2",
    marker="o",
    label="estimate for right labels, with interval",
)
ax.plot(
    watch["month"], watch["on registered labels"], color="#D55E00", linestyle="--", label="on registered labels"
)
ax.plot(
    watch["month"],
    watch["on right labels"],
    color="#000000",
    linestyle=":",
    label="on right labels, unknown in practice",
)
ax.set(xlabel="month", ylabel="balanced accuracy")
ax.legend(loc="lower left")
plt.show()

# %% [markdown]
# The estimate and its interval drop in the fourth month. It is time to train again: on the labels of the last
# months, which are noisy, too.
