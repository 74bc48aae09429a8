"""Measure how well scores on clean labels are estimated, and whether their intervals hold; see README.md."""

from __future__ import annotations

import dataclasses
import io
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import click
import lightgbm
import numpy as np
import pandas as pd
from _cells import comma_separated, compute, data_option, jobs_option
from numpy.typing import NDArray
from robust_defaults import NOISE
from scipy.stats import kendalltau
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from boostnoise import CleanScores, LabelAudit, audit
from boostnoise.eval import ConfigError, InstanceDependentNoise
from boostnoise.eval.audit.checked import make_sample, read_draws
from robust_splits import RobustForestClassifier

# The method was chosen on a9a, covertype_92k, diabetes, german, ijcnn1, magic, pendigits, phishing, segment,
# spambase, splice, w8a_train and wine_white.
SETS = """
    australian breast_cancer cod_rna connect4_binary dna letter mushrooms unsw_nb15_test usps vehicle
""".split()  # noqa: SIM905 - a list of words
KINDS = (
    "none",
    "uniform .1",
    "uniform .3",
    "by class .1 .4",
    "pair flip .3",
    "by features .2",
    "by features .3",
)
MODELS: dict[str, Any] = {
    "lightgbm": lambda: lightgbm.LGBMClassifier(n_jobs=1, verbose=-1),
    "random_forest": lambda: RandomForestClassifier(n_jobs=1, random_state=0),
    "robust_forest": lambda: RobustForestClassifier(n_jobs=1, random_state=0),
    "logistic": lambda: make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=300)),
    "tree": lambda: DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    "naive_bayes": lambda: make_pipeline(SimpleImputer(), StandardScaler(), GaussianNB()),
}
MEASURES = ["accuracy", "balanced_accuracy", "roc_auc", "log_loss"]
CHECKED = 100  # rows
DRAWS = 5
NORMAL = 1.96

Record = dict[str, Any]
Array = NDArray[Any]


def load(path: Path, noise: str, seed: int, max_rows: int) -> tuple[Array, Array, Array]:
    """Features, right and noisy labels of some rows."""
    table = pd.read_parquet(path).sample(frac=1, random_state=seed)
    given = [name for name in table if name.startswith("noisy_")]
    target = "target" if "target" in table else table.columns[-1]
    known = [noise] if noise in given else []
    table = table.dropna(subset=[target, *known]).head(max_rows)
    X = table.drop(columns=[target, *given, *(["split"] if "split" in table else [])])
    features = X.to_numpy(np.float32)
    classes, right = np.unique(table[target], return_inverse=True)
    if noise in given:
        return features, right, np.searchsorted(classes, table[noise])
    kinds = NOISE | {"by features .2": lambda n_classes: InstanceDependentNoise(0.2)}
    return features, right, kinds[noise](classes.size).corrupt(right, features, random_state=seed).labels


def records(scores: CleanScores, truth: pd.Series[float], **values: Any) -> list[Record]:
    """Errors and intervals of the scores of all models."""
    return [
        {
            **values,
            "model": row["model"],
            "measure": row["measure"],
            "truth": truth[row["model"], row["measure"]],
            "estimate": row["estimate"],
            "low": row["low"],
            "high": row["high"],
            "noisy": row["on_given_labels"],
        }
        for row in scores.scores.to_dict(orient="records")
    ]


def study(path: Path, noise: str, repeat: int, max_rows: int) -> Record:
    """Scores of models on noisy test rows, estimated with and without checked rows."""
    key = {"set": path.stem, "noise": noise, "repeat": repeat}
    X, right, y = load(path, noise, repeat, max_rows)
    done: Record = {**key, "records": "[]"}
    if np.unique(y).size < np.unique(right).size or np.bincount(y).min() < 4:
        return done
    train, test = train_test_split(np.arange(y.size), test_size=0.5, stratify=y, random_state=repeat)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = audit(X, y, random_state=repeat, keep_label_columns=True)
        except ConfigError:
            return done
        fitted = {name: make().fit(X[train], y[train]) for name, make in MODELS.items()}
    p = {name: np.asarray(model.predict_proba(X[test]), np.float64) for name, model in fitted.items()}
    p = {name: values / values.sum(axis=1, keepdims=True) for name, values in p.items()}
    exact = dataclasses.replace(found, labels=right)
    truth = exact.clean_scores(p, rows=test).scores.set_index(["model", "measure"])["on_given_labels"]
    rows = {"n_rows": test.size, "rate": float((y != right).mean()), **key}
    everything = records(found.clean_scores(p, rows=test), truth, **rows, checked="none", draw=0)
    for draw, design in product(range(DRAWS), ("rule", "random")):
        sampled = draw_sample(found, p, right, test, design, draw)
        everything += records(sampled.clean_scores(p, rows=test), truth, **rows, checked=design, draw=draw)
    return {**key, "records": pd.DataFrame(everything).to_json(orient="records")}


def draw_sample(
    found: LabelAudit, p: dict[str, Array], right: Array, test: Array, design: str, draw: int
) -> LabelAudit:
    """The audit with checked rows of the test rows."""
    n = min(CHECKED, test.size // 2)
    if design == "rule":
        frame = found.rows_to_check(n, p, rows=test, random_state=draw)
    else:
        chosen = np.random.default_rng(draw).choice(test, n, replace=False)
        frame = pd.DataFrame({"probability": n / test.size, "round": 1}, index=chosen)
    draws = read_draws(frame.assign(label=right[frame.index]))
    codes = dict(zip(frame.index.tolist(), right[frame.index].tolist(), strict=True))
    sample, _ = make_sample(codes, draws, found.errors.ranking)
    return dataclasses.replace(found, checked=sample)


def summary(table: pd.DataFrame) -> str:
    """Coverage and width of intervals, errors, and how often the best model is named."""
    table = table.assign(
        covered=table["truth"].between(table["low"], table["high"]),
        width=table["high"] - table["low"],
        error=(table["estimate"] - table["truth"]).abs(),
        noisy_error=(table["noisy"] - table["truth"]).abs(),
    )
    shares = table["truth"].clip(1e-3, 1 - 1e-3)
    n = np.minimum(CHECKED, table["n_rows"] // 2)
    classical = 2 * NORMAL * np.sqrt(shares * (1 - shares) / n)
    table["to_classical"] = (table["width"] / classical).where(table["measure"] == "accuracy")
    table["to_noise"] = (table["width"] / (2 * table["rate"])).where(table["rate"] > 0)
    columns = ["noisy_error", "error", "covered", "width", "to_classical", "to_noise"]
    parts = {
        "By measure": table.groupby(["checked", "measure"], sort=False)[columns].mean(),
        "By noise": table.groupby(["checked", "noise"], sort=False)[columns].mean(),
        "By data set": table.pivot_table(index="set", columns="checked", values="covered"),
        "Order of models by accuracy": winners(table),
    }
    return "\n\n".join(f"{title}\n{part.round(3).to_string()}" for title, part in parts.items())


def winners(table: pd.DataFrame) -> pd.DataFrame:
    """Kendall's tau with the true order, the loss of the model named the best, and how often it is not.

    A model is named wrongly if the best one is more than half a point better.
    """
    found = []
    accuracies = table[table["measure"] == "accuracy"]
    for (checked, *_), cell in accuracies.groupby(["checked", "set", "noise", "repeat", "draw"]):
        for by in ("noisy", "estimate"):
            loss = cell["truth"].max() - cell["truth"].iloc[int(cell[by].argmax())]
            found.append((checked, by, kendalltau(cell[by], cell["truth"])[0], loss, loss > 0.005))
    columns = ["checked", "by", "tau", "loss", "named wrongly"]
    return pd.DataFrame(found, columns=columns).groupby(["checked", "by"]).mean()


@click.command()
@data_option
@click.option(
    "--sets", callback=comma_separated(), help="Data sets.  [default: those the method was not chosen on]"
)
@click.option("--noises", callback=comma_separated(), help="Kinds of noise.  [default: all]")
@click.option("--real", is_flag=True, help="Data of real_noise/: labels of people and heuristics.")
@click.option("--repeats", type=int, default=1, show_default=True)
@click.option(
    "--rows", "max_rows", type=int, default=4000, show_default=True, help="Half of them are test rows."
)
@jobs_option
@click.option("--out", type=click.Path(path_type=Path), default=Path("clean_accuracy.csv"), show_default=True)
def main(
    data: Path,
    sets: list[str] | None,
    noises: list[str] | None,
    real: bool,
    repeats: int,
    max_rows: int,
    jobs: int,
    out: Path,
) -> None:
    """Estimate scores on clean labels from noisy ones and compare them with the truth."""
    folder = data / "data"
    if real:
        folder /= "real_noise"
        cells = [
            (path, noise, repeat, max_rows)
            for path in sorted(folder.glob("*.parquet"))
            for noise in first_noise(path)
            for repeat in range(repeats)
            if sets is None or path.stem in sets
        ]
    else:
        paths = [folder / f"{name}.parquet" for name in sets or SETS]
        cells = [(*cell, max_rows) for cell in product(paths, noises or KINDS, range(repeats))]
    table = compute(study, cells, out, jobs)
    parts = [pd.read_json(text, dtype={"set": str}) for text in _texts(table["records"])]
    click.echo(summary(pd.concat(parts, ignore_index=True)))


def first_noise(path: Path) -> list[str]:
    """The first column of noisy labels."""
    columns = pd.read_parquet(path).columns
    return [name for name in columns if name.startswith("noisy_")][:1]


def _texts(column: pd.Series[str]) -> list[io.StringIO]:
    return [io.StringIO(text) for text in column if text != "[]"]


if __name__ == "__main__":
    main()
