"""When does it help to correct split criteria for class-conditional noise?  README.md has the results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from _cells import comma_separated, compute, data_option, jobs_option, known_keys
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from boostnoise.eval import ByClassNoise
from robust_splits import CorrectedCriterion, RobustDecisionTreeClassifier, RobustForestClassifier

SETS = ("spambase", "splice", "german", "dna", "segment", "vehicle")
CRITERIA = ("gini", "entropy", "misclassification", "negative_exponential")
NOISE_RATES = (0.1, 0.2, 0.3, 0.4)
KEY = ["set", "noise_rate", "model", "criterion", "repeat"]
VARIANTS = ("plain", "predictions", "splits", "estimated", "two_passes")
TEST_SHARE = 0.4


def new_model(name: str, criterion: Any, leaf: int, seed: int) -> Any:
    """An unfitted tree, or a forest that fits the labels as they are."""
    parameters = {"criterion": criterion, "min_samples_leaf": leaf, "random_state": seed}
    if name == "tree":
        return RobustDecisionTreeClassifier(**parameters)
    return RobustForestClassifier(50, passes=1, min_samples_split=2, shrinkage=0.0, **parameters)


def accuracies(
    data: Path, name: str, noise_rate: float, model: str, criterion: str, repeat: int, leaf: int
) -> dict[str, Any]:
    """Accuracy on clean labels of a model that is trained on noisy ones, by what is corrected."""
    frame = pd.read_parquet(data / "data" / f"{name}.parquet")
    X = frame.drop(columns=["target", "split"], errors="ignore").to_numpy()
    classes, y = np.unique(frame["target"], return_inverse=True)
    X_train, X_test, clean, truth = train_test_split(
        X, y, test_size=TEST_SHARE, stratify=y, random_state=repeat
    )
    noise = ByClassNoise(noise_rate)
    noisy = noise.corrupt(clean, classes=np.arange(classes.size), random_state=repeat).labels
    T = noise.transition_matrix(clean)
    plain = new_model(model, criterion, leaf, repeat).fit(X_train, noisy)

    def of_corrected(T: NDArray[np.float64]) -> float:
        corrected = new_model(model, CorrectedCriterion(criterion, T), leaf, repeat)
        return float(corrected.fit(X_train, noisy).score(X_test, truth))

    p = plain.predict_proba(X_test)
    clean_p = CorrectedCriterion(criterion, T).clean_proportions(p)
    two_passes = RobustForestClassifier(random_state=repeat).fit(X_train, noisy)
    estimate = getattr(two_passes, "transition_matrix_", np.eye(classes.size))
    return {
        **dict(zip(KEY, (name, noise_rate, model, criterion, repeat), strict=True)),
        "plain": (p.argmax(axis=1) == truth).mean(),
        "predictions": (clean_p.argmax(axis=1) == truth).mean(),
        "splits": of_corrected(T),
        "estimated": of_corrected(estimate),
        "two_passes": two_passes.score(X_test, truth),
        "error_of_T": np.abs(estimate - T).sum(axis=1).mean() / 2,
    }


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@data_option
@click.option("--sets", default=",".join(SETS), show_default=True, callback=comma_separated())
@click.option("--criteria", default=",".join(CRITERIA), show_default=True, callback=comma_separated())
@click.option(
    "--models", default="tree,forest", show_default=True, callback=comma_separated({"tree", "forest"})
)
@click.option("--leaf", type=click.IntRange(min=1), default=25, show_default=True, help="min_samples_leaf.")
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True)
@jobs_option
def corrected_criteria(
    file: Path,
    data: Path,
    sets: list[str],
    criteria: list[str],
    models: list[str],
    leaf: int,
    repeats: int,
    jobs: int,
) -> None:
    """Write accuracies of plain and corrected criteria to FILE, a CSV file, and print their means.

    FILE may hold cells of an earlier run, which are not computed again.
    """
    known = known_keys(file, KEY)

    def cells() -> Iterator[tuple[Any, ...]]:
        for name in sets:
            for noise_rate in NOISE_RATES:
                for model in models:
                    for criterion in criteria:
                        for repeat in range(repeats):
                            if (name, noise_rate, model, criterion, repeat) not in known:
                                yield data, name, noise_rate, model, criterion, repeat, leaf

    scores = compute(accuracies, cells(), file, jobs)
    for by in ["model", "criterion"], ["model", "noise_rate"], ["model", "set"]:
        click.echo(scores.groupby(by, sort=False)[[*VARIANTS, "error_of_T"]].mean().round(3).to_string() + "\n")
    difference = (scores["splits"] - scores["predictions"]).groupby(
        [scores["model"], scores["criterion"]], sort=False
    )
    table = difference.agg(["mean", "sem"]).assign(better=difference.apply(lambda d: (d > 0).mean()))
    click.echo("Corrected splits and predictions less corrected predictions alone:\n")
    click.echo(table.round(4).to_string())


if __name__ == "__main__":
    corrected_criteria()
