"""Compare classifiers with their defaults under label noise; see README.md."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from itertools import cycle, product
from pathlib import Path
from typing import Any

import click
import lightgbm
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import xgboost
from _cells import comma_separated, compute, data_option, jobs_option, known_keys
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import loguniform, randint, uniform
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import RandomizedSearchCV, train_test_split

from boostnoise import RobustClassifier, RobustLGBMClassifier, RobustXGBClassifier
from boostnoise.eval import (
    ClassConditionalNoise,
    CleanlabClassifier,
    InstanceDependentNoise,
    PairFlipNoise,
    UniformNoise,
    wilcoxon_holm,
)
from robust_splits import RobustExtraTreesClassifier, RobustForestClassifier

SETS = """
    breast_cancer german splice spambase wine_white sonar heart ionosphere vehicle segment mushrooms australian
    dna pendigits
""".split()  # noqa: SIM905 - a list of words
REAL_SETS = """
    jira_activemq jira_camel jira_derby jira_groovy jira_hbase szz_activemq szz_camel szz_geronimo szz_mahout
    szz_openjpa music
""".split()  # noqa: SIM905 - a list of words
SHARE_TESTED, SHARE_STOPPED = 0.3, 0.2
OURS = ("robust", "robust_xgboost", "robust_lightgbm", "robust_forest", "robust_extra_trees")
MEASURES = ("accuracy", "balanced_accuracy", "auc", "log_loss")
PLAIN = "xgboost"  # the fit that costs are relative to
KEY = ["set", "noise", "repeat", "model"]

Record = dict[str, Any]
Data = tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]


class EarlyStopping:
    """A booster of up to 1,000 rounds, stopped after 20 rounds without gain on a noisy fifth of the rows."""

    def __init__(self, library: str, seed: int) -> None:
        self.library, self.seed = library, seed

    def fit(self, X: NDArray[Any], y: NDArray[np.int64]) -> EarlyStopping:
        """Fit on four fifths of the rows."""
        parts = train_test_split(X, y, test_size=SHARE_STOPPED, stratify=y, random_state=self.seed)
        stop = [(parts[1], parts[3])]
        if self.library == "xgboost":
            self.model: Any = xgboost.XGBClassifier(
                n_estimators=1000, early_stopping_rounds=20, n_jobs=1, random_state=self.seed
            )
            self.model.fit(parts[0], parts[2], eval_set=stop, verbose=False)
        else:
            self.model = lightgbm.LGBMClassifier(
                n_estimators=1000, n_jobs=1, verbose=-1, random_state=self.seed
            )
            callback = lightgbm.early_stopping(20, verbose=False)
            self.model.fit(parts[0], parts[2], eval_set=stop, callbacks=[callback])
        return self

    def predict_proba(self, X: NDArray[Any]) -> NDArray[Any]:
        """Probabilities of the classes."""
        return np.asarray(self.model.predict_proba(X))


class OutOfBagForest:
    """A random forest of scikit-learn whose `min_samples_leaf` is chosen by out-of-bag accuracy."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, X: NDArray[Any], y: NDArray[np.int64]) -> OutOfBagForest:
        """Fit a forest for each number of rows in a leaf."""
        forests = [
            RandomForestClassifier(
                200, min_samples_leaf=rows, oob_score=True, n_jobs=1, random_state=self.seed
            ).fit(X, y)
            for rows in (1, 2, 5, 10, 20, 40)
        ]
        self.model = max(forests, key=lambda forest: float(forest.oob_score_))
        return self

    def predict_proba(self, X: NDArray[Any]) -> NDArray[Any]:
        """Probabilities of the classes."""
        return np.asarray(self.model.predict_proba(X))


def catboost(seed: int) -> Any:
    """CatBoost, which need not be installed."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(verbose=False, thread_count=1, random_seed=seed, allow_writing_files=False)


def random_search(seed: int) -> Any:
    """XGBoost with 20 random draws, compared by log loss on three folds."""
    draws = {
        "n_estimators": randint(20, 500),
        "learning_rate": loguniform(0.01, 0.3),
        "max_depth": randint(2, 9),
        "min_child_weight": loguniform(1, 64),
        "subsample": uniform(0.4, 0.6),
        "colsample_bynode": uniform(0.3, 0.7),
    }
    model = xgboost.XGBClassifier(n_jobs=1, random_state=seed)
    return RandomizedSearchCV(model, draws, n_iter=20, cv=3, scoring="neg_log_loss", random_state=seed)


MODELS: dict[str, Callable[[int], Any]] = {
    "robust": lambda seed: RobustClassifier(n_jobs=1, random_state=seed),
    "robust_xgboost": lambda seed: RobustXGBClassifier(n_jobs=1, random_state=seed),
    "robust_lightgbm": lambda seed: RobustLGBMClassifier(n_jobs=1, verbose=-1, random_state=seed),
    "robust_forest": lambda seed: RobustForestClassifier(n_jobs=1, random_state=seed),
    "robust_extra_trees": lambda seed: RobustExtraTreesClassifier(n_jobs=1, random_state=seed),
    PLAIN: lambda seed: xgboost.XGBClassifier(n_jobs=1, random_state=seed),
    "lightgbm": lambda seed: lightgbm.LGBMClassifier(n_jobs=1, verbose=-1, random_state=seed),
    "catboost": catboost,
    "random_forest": lambda seed: RandomForestClassifier(n_jobs=1, random_state=seed),
    "extra_trees": lambda seed: ExtraTreesClassifier(n_jobs=1, random_state=seed),
    "hist_gbm": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "xgboost_early_stopping": lambda seed: EarlyStopping("xgboost", seed),
    "lightgbm_early_stopping": lambda seed: EarlyStopping("lightgbm", seed),
    "xgboost_random_search": random_search,
    "random_forest_leaf_size": OutOfBagForest,
    "cleanlab+lightgbm": lambda seed: CleanlabClassifier(
        lightgbm.LGBMClassifier(n_jobs=1, verbose=-1, random_state=seed), random_state=seed
    ),
}


def around(name: str, **params: Any) -> Callable[[int], Any]:
    """A `RobustClassifier` around one of `MODELS`."""
    return lambda seed: RobustClassifier(MODELS[name](seed), n_jobs=1, random_state=seed, **params)


def balanced(seed: int) -> RobustClassifier:
    """The `RobustClassifier` for balanced accuracy."""
    return RobustClassifier(decision="balanced_accuracy", n_jobs=1, random_state=seed)


# Models that are run on request only.
ON_REQUEST: dict[str, Callable[[int], Any]] = {
    "robust_balanced": balanced,
    "robust_forest_one_pass": lambda seed: RobustForestClassifier(passes=1, n_jobs=1, random_state=seed),
    "robust+lightgbm": around("lightgbm"),
    "robust+random_forest": around("random_forest"),
    "cleanlab+random_forest": lambda seed: CleanlabClassifier(MODELS["random_forest"](seed), random_state=seed),
}


def by_class(low: float, high: float, n_classes: int) -> ClassConditionalNoise:
    """Noise of the first rate for classes 0, 2, ..., of the second one for the others."""
    rates = np.where(np.arange(n_classes) % 2, high, low)
    T = np.repeat(rates[:, np.newaxis] / (n_classes - 1), n_classes, axis=1)
    np.fill_diagonal(T, 1 - rates)
    return ClassConditionalNoise(T)


NOISE: dict[str, Callable[[int], Any]] = {
    "none": lambda n_classes: UniformNoise(0.0),
    "uniform .1": lambda n_classes: UniformNoise(0.1),
    "uniform .2": lambda n_classes: UniformNoise(0.2),
    "uniform .3": lambda n_classes: UniformNoise(0.3),
    "uniform .4": lambda n_classes: UniformNoise(0.4),
    "by class .1 .3": lambda n_classes: by_class(0.1, 0.3, n_classes),
    "by class .1 .4": lambda n_classes: by_class(0.1, 0.4, n_classes),
    "by class .2 .4": lambda n_classes: by_class(0.2, 0.4, n_classes),
    "pair flip .3": lambda n_classes: PairFlipNoise(0.3),
    "by features .3": lambda n_classes: InstanceDependentNoise(0.3),
}


def split(path: Path, noise: str, repeat: int, max_rows: int) -> Data:
    """Training rows with noisy labels, at most `max_rows`, and test rows with clean labels.

    The noise is a key of `NOISE`, or a column of the file that contains noisy labels.
    """
    table = pd.read_parquet(path)
    given = table.columns[table.columns.str.startswith("noisy_")]
    part = table.pop("split") if "split" in table else None
    target = "target" if "target" in table else table.columns[-1]
    classes, clean = np.unique(table[target], return_inverse=True)
    noisy = clean if noise in NOISE else np.searchsorted(classes, table[noise])
    X = table.drop(columns=[target, *given]).to_numpy(np.float32)
    if noise in NOISE or part is None:
        rows = np.arange(clean.size)
        train, test = train_test_split(rows, test_size=SHARE_TESTED, stratify=clean, random_state=repeat)
    else:
        train, test = np.flatnonzero(part == "train"), np.flatnonzero(part == "test")
    if train.size > max_rows:
        train, _ = train_test_split(train, train_size=max_rows, stratify=clean[train], random_state=repeat)
    labels = noisy[train]
    if noise in NOISE:
        labels = NOISE[noise](classes.size).corrupt(labels, X[train], random_state=repeat).labels
    return X[train], labels, X[test], clean[test]


def study(path: Path, noise: str, repeat: int, model: str, max_rows: int) -> Record:
    """Scores of a model on clean test labels, and the CPU seconds of its fit."""
    X, y, X_test, y_test = split(path, noise, repeat, max_rows)
    classifier = (MODELS | ON_REQUEST)[model](repeat)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        classifier.fit(X, y)
        seconds = time.process_time() - start
        p = np.asarray(classifier.predict_proba(X_test), dtype=np.float64)
    decides = isinstance(classifier, RobustClassifier)
    found = classifier.predict(X_test) if decides else p.argmax(axis=1)
    p = np.clip(p, 1e-7, 1)
    p /= p.sum(axis=1, keepdims=True)
    n_classes = p.shape[1]
    several = {} if n_classes == 2 else {"multi_class": "ovr"}
    return {
        "set": path.stem,
        "noise": noise,
        "repeat": repeat,
        "model": model,
        "accuracy": float((found == y_test).mean()),
        "balanced_accuracy": float(balanced_accuracy_score(y_test, found)),
        "auc": float(roc_auc_score(y_test, p[:, 1] if n_classes == 2 else p, **several)),
        "log_loss": float(log_loss(y_test, p, labels=range(n_classes))),
        "seconds": seconds,
    }


def complete(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores of the splits that all models have."""
    return scores[scores.groupby(KEY[:3])["model"].transform("nunique") == scores["model"].nunique()]


def summary(scores: pd.DataFrame) -> str:
    """Means over sets and repeats, mean ranks, tests of our boosters against all others, and costs.

    All kinds of noise that are not in `NOISE` count as one, real noise.
    """
    scores = scores.copy()
    plain = scores[scores["model"] == PLAIN].set_index(KEY[:3])["seconds"]
    scores["fits"] = scores["seconds"] / scores.set_index(KEY[:3]).index.map(plain)
    scores["noise"] = scores["noise"].where(scores["noise"].isin(list(NOISE)), "real")
    noises = [noise for noise in [*NOISE, "real"] if (scores["noise"] == noise).any()]
    parts: dict[str, pd.DataFrame] = {}
    for measure in MEASURES:
        by_set = scores.pivot_table(index=["noise", "set"], columns="model", values=measure)
        ranks = by_set.rank(axis=1, ascending=measure == "log_loss")
        parts[f"mean {measure} over {scores['set'].nunique()} sets"] = by_set.groupby("noise").mean().T.round(4)
        parts[f"mean rank of {measure}"] = ranks.groupby("noise").mean().T.round(2)
        for ours in by_set.columns.intersection(OURS[:2]):
            tests = {noise: _p_values(by_set.loc[noise], ours, measure) for noise in noises}
            parts[f"p-value of {ours} against the others, {measure}"] = pd.DataFrame(tests).round(4)
    if not plain.empty:
        fits = scores.pivot_table(index="model", columns="noise", values="fits", aggfunc="median")
        parts[f"median CPU time, in fits of {PLAIN}"] = fits.round(1)
    return "\n\n".join(f"{title}\n{part[noises].to_string()}" for title, part in parts.items())


def _p_values(table: pd.DataFrame, ours: str, measure: str) -> pd.Series[float]:
    """Wilcoxon signed-rank tests over sets, Holm-corrected."""
    tests = wilcoxon_holm(table, ours, higher_is_better=measure != "log_loss")
    return tests.table.set_index("model")["p_holm"]


def draw(scores: pd.DataFrame, file: Path) -> None:
    """Curves of mean accuracy against the rate of uniform noise; ours in colour, in the order of their ends."""
    rates = {noise: float(noise.rpartition(" ")[2]) for noise in NOISE if noise.startswith("uniform")}
    scores = scores.assign(rate=scores["noise"].map({"none": 0.0, **rates})).dropna(subset="rate")
    curves = (
        scores.groupby(["model", "set", "rate"])["accuracy"].mean().groupby(["model", "rate"]).mean().unstack()
    )
    markers = cycle("osv^D*XP<>dh")
    axes = Figure(figsize=(7, 4.5), layout="constrained").subplots()
    for model, curve in curves.sort_values(curves.columns[-1], ascending=False).iterrows():
        style = {"linewidth": 2.5} if model in OURS else {"color": "0.55", "marker": next(markers)}
        axes.plot(curve.index, curve, label=model, **style)
    axes.set(xlabel="rate of uniform noise", ylabel=f"mean accuracy, {scores['set'].nunique()} sets")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    axes.figure.savefig(file, dpi=150)


@click.command(context_settings={"max_content_width": 120, "show_default": True})
@data_option
@click.option("--real", is_flag=True, help="Sets with real noise, data/real_noise/NAME.parquet.")
@click.option(
    "--sets",
    callback=comma_separated(),
    help="Names of files, without .parquet; by default those of the study.",
    metavar="NAME,...",
)
@click.option("--noise", callback=comma_separated(), help="Kinds of noise; by default all.", metavar="NAME,...")
@click.option(
    "--models",
    callback=comma_separated([*MODELS, *ON_REQUEST]),
    help="Models; by default all but those on request.",
    metavar="NAME,...",
)
@click.option("--repeats", type=click.IntRange(min=1), default=5, help="Splits of each set.")
@click.option("--rows", type=click.IntRange(min=50), default=1000, help="Training rows at most.")
@click.option("--figure", type=click.Path(dir_okay=False, path_type=Path), help="File for a picture.")
@jobs_option
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def main(
    data: Path,
    real: bool,
    sets: list[str] | None,
    noise: list[str] | None,
    models: list[str] | None,
    repeats: int,
    rows: int,
    figure: Path | None,
    jobs: int,
    file: Path,
) -> None:
    """Write the scores of each model to the CSV FILE, and print means; what FILE holds is not run again."""
    if figure and real:
        raise click.UsageError("--figure draws uniform noise, which --real does not have")
    known = known_keys(file, KEY)
    folder = data / "data" / "real_noise" if real else data / "data"
    chosen = models or list(MODELS)
    cells = []
    for repeat, name in product(range(repeats), sets or (REAL_SETS if real else SETS)):
        path = folder / f"{name}.parquet"
        given = pq.read_schema(path).names
        kinds = [column for column in given if column.startswith("noisy_")] if real else list(NOISE)
        for kind in [] if real else set(noise or []) - set(kinds):
            raise click.BadParameter(f"{kind!r} is none of {', '.join(kinds)}", param_hint="'--noise'")
        for kind, model in product([kind for kind in noise or kinds if kind in kinds], chosen):
            if (name, kind, repeat, model) not in known:
                cells.append((path, kind, repeat, model, rows))
    scores = compute(study, cells, file, jobs)
    scores = complete(scores[scores["model"].isin(chosen)])
    click.echo(summary(scores))
    if figure:
        draw(scores, figure)


if __name__ == "__main__":
    main()
