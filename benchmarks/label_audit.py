"""Compare methods that find wrong labels; see README.md."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import click
import lightgbm
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import xgboost
from _cells import comma_separated, compute, data_option, jobs_option, known_keys
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

from boostnoise import find_label_errors
from boostnoise.eval import (
    ClassConditionalNoise,
    InstanceDependentNoise,
    PairFlipNoise,
    UniformNoise,
    wilcoxon_holm,
)
from robust_splits import RobustExtraTreesClassifier, RobustForestClassifier
from robust_splits.label_noise.clean_posterior import IndistinctClassesError

KINDS = ("uniform", "pair_flip", "class_conditional", "instance_dependent")
RATES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)
LENGTHS = (10, 20, 50, 100)  # of lists of suspects
AUDIT, AREA = "audit", "area_under_margin"
KEY = ["set", "kind", "rate", "repeat", "model"]
RANKINGS = ("self_confidence", "normalized_margin")
MEASURES = ("average_precision", "precision")
# All records have the same columns, as they are lines of one file.
COLUMNS = [
    *KEY,
    "rows",
    "classes",
    "wrong",
    *(f"{measure} {ranking}" for ranking in (AUDIT, AREA, *RANKINGS) for measure in MEASURES),
    *("noise_rate", "low", "high", "calibration_error"),
    *(f"{name}_{n}" for n in LENGTHS for name in ("expected", "precision")),
    *("issues", "precision_of_issues", "seconds"),
]

Record = dict[str, Any]
Numbers = NDArray[np.float64]
Labels = NDArray[np.int64]


def random_forest(seed: int) -> Any:
    """Random forest of scikit-learn."""
    return RandomForestClassifier(n_jobs=1, random_state=seed)


def boosted_lightgbm(seed: int) -> Any:
    """Boosted trees of LightGBM."""
    return lightgbm.LGBMClassifier(n_jobs=1, verbose=-1, random_state=seed)


def boosted_xgboost(seed: int) -> Any:
    """Boosted trees of XGBoost."""
    return xgboost.XGBClassifier(n_jobs=1, random_state=seed)


PEERS: dict[str, Callable[[int], Any]] = {
    "random_forest": random_forest,
    "lightgbm": boosted_lightgbm,
    "xgboost": boosted_xgboost,
}
MODELS = (AUDIT, *PEERS, AREA)


def load(path: Path, kind: str, rate: float, repeat: int, max_rows: int) -> tuple[Any, Labels, Labels]:
    """Features, right labels and noisy ones; the kind may be a column with noisy labels."""
    table = pd.read_parquet(path)
    if kind not in KINDS and "split" in table:
        table = table[table["split"] == "train"]  # the test rows have no noise
    target = "target" if "target" in table else table.columns[-1]
    given = list(table.columns[table.columns.str.startswith("noisy_")])
    X = table.drop(columns=[target, *given, "split"], errors="ignore").to_numpy(np.float32)
    classes, right = np.unique(table[target], return_inverse=True)
    noisy = right if kind in KINDS else np.searchsorted(classes, table[kind])
    rows = np.arange(right.size)
    if right.size > max_rows:
        rows, _ = train_test_split(rows, train_size=max_rows, stratify=right, random_state=repeat)
    rows = rows[np.bincount(right[rows])[right[rows]] >= 5]  # folds need rows of each class
    classes, right = np.unique(right[rows], return_inverse=True)
    if kind not in KINDS:
        return X[rows], right, np.searchsorted(classes, noisy[rows])
    labels = noise(kind, rate, classes.size, repeat).corrupt(right, X[rows], random_state=repeat).labels
    return X[rows], right, np.asarray(labels)


def noise(kind: str, rate: float, n_classes: int, repeat: int) -> Any:
    """Noise of a mean rate; class-conditional rates are 0.5 and 1.5 times as high, in turn."""
    if kind == "class_conditional":
        rates = np.where((np.arange(n_classes) + repeat) % 2, 1.5 * rate, 0.5 * rate)
        T = np.repeat(rates[:, np.newaxis] / (n_classes - 1), n_classes, axis=1)
        np.fill_diagonal(T, 1 - rates)
        return ClassConditionalNoise(T)
    return {"uniform": UniformNoise, "pair_flip": PairFlipNoise, "instance_dependent": InstanceDependentNoise}[
        kind
    ](rate)


def out_of_bag(X: Any, y: Labels, seed: int) -> Numbers:
    """Mean probabilities of both forests, out of bag."""
    forests = [
        forest(passes=1, oob_score=True, n_jobs=1, random_state=seed).fit(X, y).oob_decision_function_
        for forest in (RobustForestClassifier, RobustExtraTreesClassifier)
    ]
    return np.asarray(np.mean(forests, axis=0))


def cross_validated(model: Any, X: Any, y: Labels, seed: int) -> Numbers:
    """Probabilities by stratified cross-validation with five folds."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    return np.asarray(cross_val_predict(model, X, y, cv=folds, method="predict_proba"), dtype=np.float64)


def area_under_margin(X: Any, y: Labels, seed: int) -> Numbers:
    """Mean margin of each label over the rounds of LightGBM, after Pleiss et al. (2020)."""
    model = boosted_lightgbm(seed).fit(X, y)
    area = np.zeros(y.size)
    for rounds in range(10, 101, 10):
        margins = model.predict(X, raw_score=True, num_iteration=rounds)
        margins = np.column_stack([-margins / 2, margins / 2]) if margins.ndim == 1 else margins
        of_label = margins[np.arange(y.size), y]
        margins[np.arange(y.size), y] = -np.inf
        area += of_label - margins.max(axis=1)
    return area


def study(path: Path, kind: str, rate: float, repeat: int, model: str, max_rows: int) -> Record:
    """Quality of the rankings of a model, and of the estimates of the audit."""
    X, right, y = load(path, kind, rate, repeat, max_rows)
    wrong = y != right
    labels, y = np.unique(y, return_inverse=True)
    record: Record = dict.fromkeys(COLUMNS, np.nan)
    record |= dict(zip(KEY, (path.stem, kind, rate, repeat, model), strict=True))
    record |= {"rows": y.size, "classes": labels.size, "wrong": float(wrong.mean())}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        if model == AUDIT:
            record |= audit(out_of_bag(X, y, repeat), y, wrong)
        elif model == AREA:
            record |= quality(AREA, -area_under_margin(X, y, repeat), wrong)
        else:
            p = cross_validated(PEERS[model](repeat), X, y, repeat)
            for ranking in RANKINGS:
                record |= quality(ranking, -get_label_quality_scores(y, p, method=ranking), wrong)
            issues = find_label_issues(y, p, n_jobs=1)
            record |= {"issues": float(issues.mean()), "precision_of_issues": mean_of(wrong[issues])}
        record["seconds"] = time.process_time() - start
    return record


def audit(p: Numbers, y: Labels, wrong: NDArray[np.bool_]) -> Record:
    """Quality of the audit's ranking and of its estimates."""
    try:
        found = find_label_errors(y, p)
    except IndistinctClassesError:  # it judges no label, so the ranking is that by probability
        return quality(AUDIT, -p[np.arange(y.size), y], wrong)
    low, high = found.noise_rate_interval
    record = quality(AUDIT, -np.argsort(found.ranking).astype(float), wrong)
    record |= {"noise_rate": found.noise_rate, "low": low, "high": high}
    record["calibration_error"] = calibration_error(found.p_wrong, wrong)
    for n in LENGTHS:
        record[f"expected_{n}"] = float(found.p_wrong[found.ranking[:n]].mean())
        record[f"precision_{n}"] = float(wrong[found.ranking[:n]].mean())
    return record


def quality(ranking: str, suspicion: Numbers, wrong: NDArray[np.bool_]) -> Record:
    """Average precision, and precision at the true number of wrong labels."""
    first = np.argsort(-suspicion, kind="stable")[: wrong.sum()]
    average = average_precision_score(wrong, suspicion) if wrong.any() else np.nan
    return {f"average_precision {ranking}": float(average), f"precision {ranking}": mean_of(wrong[first])}


def mean_of(values: NDArray[Any]) -> float:
    """Mean, or NaN of nothing."""
    return float(values.mean()) if values.size else np.nan


def calibration_error(p: Numbers, wrong: NDArray[np.bool_], n_bins: int = 10) -> float:
    """Expected calibration error over bins of equal width."""
    bins = np.minimum((p * n_bins).astype(int), n_bins - 1)
    gaps = np.abs(np.bincount(bins, p, n_bins) - np.bincount(bins, wrong, n_bins))
    return float(gaps.sum() / p.size)


def summary(records: pd.DataFrame) -> str:
    """Means over sets and repeats, tests of the audit against each other ranking, and the audit's estimates."""
    records = records.copy()
    records["noise"] = records["kind"].where(records["kind"].isin(KINDS), "real")
    records["rate"] = records["rate"].where(records["noise"] != "real", np.nan).fillna(-1.0)
    records["set"] = records["set"] + records["kind"].where(records["noise"] == "real", "")
    by = ["noise", "rate"]
    parts = {}
    for measure in MEASURES:
        columns = [c for c in records if c.startswith(f"{measure} ")]
        long = records.melt([*by, "set", "model"], columns, "ranking").dropna(subset="value")
        long["method"] = long["model"] + " " + long["ranking"].str.removeprefix(f"{measure} ")
        long["method"] = long["method"].replace({f"{name} {name}": name for name in (AUDIT, AREA)})
        tables = long.pivot_table(index=[*by, "set"], columns="method", values="value").dropna()
        parts[f"mean {measure}"] = tables.groupby(by).mean()
        parts[f"p-value of the audit, {measure}"] = pd.DataFrame(
            {
                key: wilcoxon_holm(table.droplevel(by), AUDIT, higher_is_better=True).table.set_index("model")[
                    "p_holm"
                ]
                for key, table in tables.groupby(by)
                if len(table) > 5
            }
        ).T
    audit = records[records["model"] == AUDIT].copy()
    audit["bias"] = audit["noise_rate"] - audit["wrong"]
    audit["absolute_error"] = audit["bias"].abs()
    audit["judged"] = (
        audit["noise_rate"].notna().astype(float)
    )  # whether the probabilities distinguish the classes
    covered = audit["wrong"].between(audit["low"] - 1e-9, audit["high"] + 1e-9)
    audit["covered"] = covered.astype(float).where(audit["judged"] > 0)
    estimates = [
        "judged",
        "wrong",
        "noise_rate",
        "bias",
        "absolute_error",
        "low",
        "high",
        "covered",
        "calibration_error",
    ]
    lists = [f"{name}_{n}" for n in LENGTHS for name in ("expected", "precision")]
    parts["estimates"] = audit.groupby(by)[estimates].mean()
    parts["expected and actual precision of the first suspects"] = audit.groupby(by)[lists].mean()
    parts["mean CPU seconds"] = records.groupby("model")[["seconds"]].mean()
    issues = records.dropna(subset="issues").groupby([*by, "model"])[["issues", "precision_of_issues"]].mean()
    parts["lists of cleanlab: share of rows, precision"] = issues.unstack()
    return "\n\n".join(f"{title}\n{part.round(3).to_string()}" for title, part in parts.items())


@click.command(context_settings={"max_content_width": 120, "show_default": True})
@data_option
@click.option("--real", is_flag=True, help="Sets with real noise, data/real_noise/NAME.parquet.")
@click.option("--sets", callback=comma_separated(), help="Names of files, without .parquet; by default all.")
@click.option("--kinds", callback=comma_separated(KINDS), help="Kinds of noise; by default all.")
@click.option("--rates", callback=comma_separated(), help="Rates of noise; by default 0 to 0.4.")
@click.option("--models", callback=comma_separated(MODELS), help="Models; by default all.")
@click.option("--repeats", type=click.IntRange(min=1), default=1, help="Samples of each set.")
@click.option("--rows", type=click.IntRange(min=50), default=2000, help="Rows at most.")
@jobs_option
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def main(
    data: Path,
    real: bool,
    sets: list[str] | None,
    kinds: list[str] | None,
    rates: list[str] | None,
    models: list[str] | None,
    repeats: int,
    rows: int,
    jobs: int,
    file: Path,
) -> None:
    """Find wrong labels with each model, write the results to FILE and print a summary.

    Results that FILE holds are not computed again.
    """
    folder = data / "data" / "real_noise" if real else data / "data"
    paths = [path for path in sorted(folder.glob("*.parquet")) if "annotators" not in path.stem]
    paths = [path for path in paths if sets is None or path.stem in sets]
    if real:
        names = {path: [c for c in pq.read_schema(path).names if c.startswith("noisy_")] for path in paths}
        noises = [(path, kind, 0.0) for path in paths for kind in names[path]]
    else:
        numbers = [float(rate) for rate in rates] if rates else RATES
        noises = [
            (path, kind if rate else KINDS[0], rate)
            for path, kind, rate in product(paths, kinds or KINDS, numbers)
        ]
    known = known_keys(file, KEY)
    cells = [
        (*noise, repeat, model, rows)
        for repeat in range(repeats)
        for noise in dict.fromkeys(noises)
        for model in models or MODELS
        if (noise[0].stem, *noise[1:], repeat, model) not in known
    ]
    click.echo(summary(compute(study, cells, file, jobs)))


if __name__ == "__main__":
    main()
