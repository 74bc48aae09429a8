"""`compare` on tables: pipelines that select columns, text, groups and weights."""

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectPercentile, chi2
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder

from boostnoise import compare
from boostnoise.eval.comparison.from_estimators import describe
from boostnoise.eval.errors import ConfigError
from robust_splits import RobustForestClassifier

pytestmark = pytest.mark.usefixtures("fits_in_this_process")

# The example of mixed types in scikit-learn's user guide, with columns by name and by type.
NUMERIC = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
CATEGORICAL = make_pipeline(OneHotEncoder(handle_unknown="ignore"), SelectPercentile(chi2, percentile=50))
BY_NAME = ColumnTransformer([("num", NUMERIC, ["age", "fare"]), ("cat", CATEGORICAL, ["port", "sex", "class"])])
BY_TYPE = ColumnTransformer(
    [
        ("num", NUMERIC, make_column_selector(dtype_exclude=["category", "string", object])),
        ("cat", CATEGORICAL, make_column_selector(dtype_include=["category", "string", object])),
    ]
)


def fit(models, datasets, noise):
    """Scores of one repeat, in which no cell may fail."""
    scores = compare(models, datasets, noise, repeats=1, progress=False).scores
    assert scores["error"].isna().all()
    return scores


def passengers(n=300):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.uniform(1, 80, n)),
            "fare": rng.lognormal(3, 1, n),
            "port": pd.Categorical(rng.choice(["C", "Q", "S"], n)),
            "sex": rng.choice(["female", "male"], n),
            "class": pd.Categorical(rng.choice([1, 2, 3], n), ordered=True),
        }
    )
    survived = (frame["sex"] == "female") ^ (rng.random(n) < 0.05)
    return frame.assign(survived=np.where(survived, "yes", "no"))


def test_pipelines_and_native_categories():
    pipelines = [make_pipeline(clone(columns), LogisticRegression()) for columns in (BY_NAME, BY_TYPE)]
    models = {
        "by name": pipelines[0],
        "by type": pipelines[1],
        "search": {"module": "sklearn.pipeline", "model": "Pipeline", "params": {"steps": [
            ["columns", describe(BY_NAME, "columns")],
            ["model", {"module": "sklearn.linear_model", "model": "LogisticRegression"}],
        ]}, "search": {"params": {"columns__cat__selectpercentile__percentile": [20, 80]}, "folds": 2}},
        "xgboost": {"model": "xgboost", "params": {"n_estimators": 20}},
        "lightgbm": {"model": "lightgbm", "params": {"n_estimators": 20}},
        "hist_gbm": {"model": "hist_gbm", "params": {"max_iter": 20}},
        "robust_xgboost": {"model": "robust_xgboost", "params": {"n_estimators": 10}},
        "cleanlab+lightgbm": {"model": "cleanlab+lightgbm", "params": {"n_estimators": 20}},
        "robust_forest": {"model": "robust_forest", "params": {"n_estimators": 20}},
    }  # fmt: skip
    scores = fit(models, {"passengers": (passengers(), "survived")}, noise=0.1)
    means = scores.groupby("model")["accuracy"].mean()
    assert (means > 0.85).all()
    assert set(means.index) == set(models)


def test_pipelines_for_text_and_numbers():
    rng = np.random.default_rng(0)
    spam = rng.random(200) < 0.5
    words = np.where(spam, "win a big prize now", "the minutes of our meeting")
    frame = pd.DataFrame(
        {
            "the text": [" ".join(rng.permutation(line.split())[:3]) for line in words],
            "sender": rng.integers(40, size=200).astype(str) + np.where(spam, "x", "y"),
            "length": rng.lognormal(5, 1, 200),
            "spam": spam,
        }
    )
    columns = make_column_transformer(
        (TfidfVectorizer(ngram_range=(1, 2)), "the text"),
        (TargetEncoder(random_state=0), ["sender"]),
        (FunctionTransformer(np.log1p), ["length"]),
    )
    models = {
        "text": make_pipeline(columns, LogisticRegression()),
        "forest": make_pipeline(clone(columns), RobustForestClassifier(n_estimators=10)),
        "lightgbm": make_pipeline(clone(columns), LGBMClassifier(n_estimators=20)),
    }
    scores = fit(models, {"mails": (frame, "spam")}, noise=0.1)
    assert scores.query("noise_rate == 0")["accuracy"].min() > 0.9


def test_groups_and_weights():
    frame = passengers(150)
    frame = frame.loc[frame.index.repeat(3)].assign(family=np.repeat(np.arange(len(frame)), 3), w=1.0)
    flip = np.repeat(np.random.default_rng(0).random(len(frame) // 3) < 0.4, 3)
    frame["survived"] = np.where(flip, frame["survived"].map({"yes": "no", "no": "yes"}), frame["survived"])
    models = {
        "memory": KNeighborsClassifier(1),
        "pipeline": make_pipeline(clone(BY_NAME), LogisticRegression()),
        "search": {"model": "lightgbm", "search": {"params": {"n_estimators": [1, 50]}, "folds": 2}},
        "early": {"model": "xgboost", "params": {"n_estimators": 20}, "early_stopping": {}},
        "robust_xgboost": {"model": "robust_xgboost", "params": {"passes": 1, "n_estimators": 20}},
    }
    keys = {"target": "survived", "missing": "impute"}
    data = {
        "by row": {"data": frame.drop(columns=["w", "family"]), **keys},
        "by family": {"data": frame.drop(columns="w"), **keys, "group": "family"},
    }
    clean = fit(models, data, noise=0.0).set_index(["dataset", "model"])["accuracy"]
    assert clean["by row", "memory"] > 0.9  # a copy of each test row is among the training rows
    assert clean["by family", "memory"] < 0.7
    weighted = {"weighted": {"data": frame, "target": "survived", "weight": "w", "group": "family"}}
    with pytest.raises(ConfigError, match=r"\(memory\): takes no weights of rows, but data set 'weighted'"):
        fit(models, weighted, noise=0.2)
    del models["memory"]
    fit(models, weighted, noise=0.2)
