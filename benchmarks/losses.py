"""Which loss helps against label noise: tuned on noisy labels, scored on clean ones; see README.md."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import xgboost
from _cells import comma_separated, compute, data_option, jobs_option, known_keys
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.model_selection import train_test_split

from boostnoise import xgboost_objective
from boostnoise.eval import UniformNoise
from boostnoise.losses import LOSSES

SETS = """
    australian breast_cancer diabetes german heart ionosphere sonar spambase splice wine_white segment vehicle
""".split()  # noqa: SIM905 - a list of words
LEARNING_RATES = (0.03, 0.1, 0.3, 1.0)
N_ROUNDS = (5, 10, 20, 40, 80, 160)
SHARE_TESTED, SHARE_VALIDATED = 0.3, 0.25

BUILT_IN, DAMPED, HARD = "built-in", "ce, hessian unit", "bootstrap, hard"
# The objective "ce" is the built-in one, as the tests say; the others that differ from a name have it first.
FOR_TWO_CLASSES = {"unbiased", *(name for name, loss in LOSSES.items() if getattr(loss, "binary_only", False))}
VARIANTS = (BUILT_IN, DAMPED, HARD, *(name for name in LOSSES if name != "ce"))

Record = dict[str, Any]


def make_objective(variant: str, noise_rate: float, n_classes: int) -> Any:
    """The objective of a variant, None for the built-in one; corrections are told the true noise."""
    name, _, change = variant.partition(", ")
    parameters: Record = {"n_classes": n_classes}
    if variant == BUILT_IN:
        return None
    if variant == DAMPED:
        parameters["hessian"] = "unit"
    elif change == "hard":
        parameters["hard"] = True
    elif name == "distribution":
        parameters["dist"] = norm()
    elif name in ("forward", "backward"):
        other = noise_rate / (n_classes - 1)
        parameters["T"] = np.full((n_classes, n_classes), other) + np.eye(n_classes) * (1 - noise_rate - other)
    elif name == "unbiased":
        parameters |= {"noise_rate_pos": noise_rate, "noise_rate_neg": noise_rate}
    return xgboost_objective(name, **parameters)


def train(
    X: NDArray[Any], y: NDArray[np.int64], objective: Any, n_classes: int, rate: float, rounds: int
) -> Any:
    """A booster of one thread."""
    several = {} if n_classes == 2 else {"num_class": n_classes}
    own = "binary:logistic" if n_classes == 2 else "multi:softprob"
    start = xgboost_objective("ce", n_classes=n_classes).base_score(y)
    parameters = {"objective": own, "nthread": 1, "learning_rate": rate, "base_score": start, **several}
    return xgboost.train(parameters, xgboost.DMatrix(X, y), rounds, obj=objective)


def accuracy(booster: Any, X: NDArray[Any], y: NDArray[np.int64], rounds: int) -> float:
    """Share of right predictions after some of the rounds."""
    margin = booster.predict(xgboost.DMatrix(X), output_margin=True, iteration_range=(0, rounds))
    predicted = margin > 0 if margin.ndim == 1 else margin.argmax(axis=1)
    return float((predicted == y).mean())


def study(path: Path, noise_rate: float, repeat: int, variant: str) -> Record:
    """Tune a variant on noisy labels of some training rows, train it on all of them, score it on clean ones."""
    table = pd.read_parquet(path)
    classes, y = np.unique(table.iloc[:, -1], return_inverse=True)
    X, n_classes = table.iloc[:, :-1].to_numpy(np.float32), classes.size
    X, X_test, y, y_test = train_test_split(X, y, test_size=SHARE_TESTED, stratify=y, random_state=repeat)
    y = UniformNoise(noise_rate).corrupt(y, random_state=repeat).labels
    parts = train_test_split(X, y, test_size=SHARE_VALIDATED, stratify=y, random_state=repeat)
    objective = make_objective(variant, noise_rate, n_classes)
    scores = {}
    for rate in LEARNING_RATES:
        booster = train(parts[0], parts[2], objective, n_classes, rate, max(N_ROUNDS))
        scores |= {(rate, rounds): accuracy(booster, parts[1], parts[3], rounds) for rounds in N_ROUNDS}
    rate, rounds = max(scores, key=scores.__getitem__)  # of equal ones the shortest steps, and the fewest
    booster = train(X, y, objective, n_classes, rate, rounds)
    tuned = {"learning_rate": rate, "rounds": rounds}
    key = {"set": path.stem, "classes": n_classes, "noise_rate": noise_rate, "repeat": repeat, "loss": variant}
    return key | tuned | {"accuracy": accuracy(booster, X_test, y_test, rounds)}


def summary(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracy by noise rate, and how much more than the built-in one's, with its standard error."""
    by_cell = scores.pivot_table(index=["noise_rate", "set", "repeat"], columns="loss", values="accuracy")
    more = by_cell.sub(by_cell[BUILT_IN], axis=0)
    # Repeats of a set are not independent: the error is that of the mean of its sets.
    by_set = more.groupby(["noise_rate", "set"]).mean().groupby("noise_rate")
    parts = {"mean": by_cell.groupby("noise_rate").mean(), "more": by_set.mean(), "error": by_set.sem()}
    table = pd.concat({name: part.T for name, part in parts.items()}, axis=1)
    return table.swaplevel(axis=1).sort_index(axis=1)


@click.command(context_settings={"max_content_width": 120, "show_default": True})
@data_option
@click.option(
    "--sets",
    default=",".join(SETS),
    callback=comma_separated(),
    help="Names of files, without .parquet.",
    metavar="NAME,...",
)
@click.option("--noise-rates", default="0 0.2 0.4", help="Rates of uniform noise.", metavar="NUMBERS")
@click.option("--repeats", type=click.IntRange(min=1), default=3, help="Splits of each set.")
@jobs_option
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def main(data: Path, sets: list[str], noise_rates: str, repeats: int, jobs: int, file: Path) -> None:
    """Write the accuracy of each loss to the CSV FILE, and print means; what FILE holds is not run again."""
    known = known_keys(file, ["set", "noise_rate", "repeat", "loss"])
    cells = []
    for name, rate, repeat in product(sets, map(float, noise_rates.split()), range(repeats)):
        path = data / "data" / f"{name}.parquet"
        n_classes = pd.read_parquet(path).iloc[:, -1].nunique()
        for variant in VARIANTS:
            if n_classes > 2 and variant.partition(", ")[0] in FOR_TWO_CLASSES:
                continue
            if (name, rate, repeat, variant) not in known:
                cells.append((path, rate, repeat, variant))
    scores = compute(study, cells, file, jobs)
    for several, some in scores.groupby(scores["classes"] > 2):
        click.echo(f"\n{some['set'].nunique()} sets of {'more than two' if several else 'two'} classes")
        click.echo(summary(some).round(4).to_string())


if __name__ == "__main__":
    main()
