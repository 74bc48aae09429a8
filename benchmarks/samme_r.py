"""Does the variant SAMME.R explain AdaBoost's accuracies in the 2020 study?  README.md has the results."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.tree import DecisionTreeClassifier

from boostnoise.eval import Plan, cell_labels, load_config, plan
from boostnoise.eval.papers.published_numbers import read_published

EPSILON = np.finfo(np.float64).eps
TOLERANCE = 1e-12
DEPTHS = {"2020_50stumps": 1, "2020_depth6trees50": 6}
SEED = 7  # of the study


class SammeR(ClassifierMixin, BaseEstimator):
    """Multi-class AdaBoost with class probabilities, SAMME.R [1]_.

    Seeds, bounds, and when it stops, are those of scikit-learn's ``AdaBoostClassifier(algorithm="SAMME.R")``
    before version 1.0, with a learning rate of 1.

    Parameters
    ----------
    estimator : classifier
        Fitted in each round, with another seed.
    n_estimators : int, default=50
    random_state : int, default=0
        Determines the seeds of the estimators.

    Attributes
    ----------
    estimators_ : list of classifier
    classes_ : ndarray of shape (n_classes,)

    References
    ----------
    .. [1] Zhu, Zou, Rosset & Hastie, "Multi-class AdaBoost", Statistics and Its Interface 2, 2009, Algorithm 4.
    """

    def __init__(self, estimator: Any, n_estimators: int = 50, random_state: int = 0) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        """Fit the estimators one after the other, with more weight on rows whose label is improbable."""
        self.classes_, y = np.unique(y, return_inverse=True)
        n_rows, n_classes = y.size, self.classes_.size
        rng = np.random.RandomState(self.random_state)
        codes = np.where(np.arange(n_classes) == y[:, None], 1.0, -1 / (n_classes - 1))
        weights = np.full(n_rows, 1 / n_rows)
        self.estimators_ = []
        for _ in range(self.n_estimators):
            estimator = clone(self.estimator).set_params(random_state=rng.randint(np.iinfo(np.int32).max))
            self.estimators_.append(estimator.fit(X, y, sample_weight=weights))
            p = estimator.predict_proba(X)
            if weights[p.argmax(axis=1) != y].sum() <= 0:
                break
            log_p = np.log(np.maximum(p, EPSILON))
            weights = weights * np.exp((1 - n_classes) / n_classes * (codes * log_p).sum(axis=1))
            if not 0 < weights.sum() < np.inf:
                break
            weights /= weights.sum()
        return self

    def decision_function(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Sum over the estimators of K - 1 times log p, centred over the K classes."""
        total = np.zeros((len(X), self.classes_.size))
        for estimator in self.estimators_:
            log_p = np.log(np.maximum(estimator.predict_proba(X), EPSILON))
            total += (self.classes_.size - 1) * (log_p - log_p.mean(axis=1, keepdims=True))
        return total

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """The class with the largest sum."""
        return self.classes_[self.decision_function(X).argmax(axis=1)]


@click.command(context_settings={"max_content_width": 120})
@click.argument("config", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--seeds", type=click.IntRange(min=1), default=1, show_default=True, help="Random states to fit with."
)
def main(config: Path, seeds: int) -> None:
    """Count published accuracies of AdaBoost that SAMME.R reproduces to the last digit.

    CONFIG is configs/50stumps.json or configs/depth6trees50.json.  With several random states, starting with
    that of the study, the accuracies within their range are counted too.
    """
    table = f"2020_{config.stem}"
    if table not in DEPTHS:
        raise click.BadParameter(f"must be one of {', '.join(name[5:] for name in DEPTHS)}, got {config.stem}")
    planned = plan(load_config(config))
    published = read_published(table)
    of_adaboost = published["model"].str.startswith("adaboost") & published["dataset"].isin(planned.datasets)
    cells = published[of_adaboost].assign(
        ours=[accuracies(planned, cell, DEPTHS[table], seeds) for cell in published[of_adaboost].itertuples()]
    )
    ours = np.stack(cells["ours"])
    theirs = cells["accuracy"].to_numpy()
    equal = np.abs(ours[:, 0] - theirs) < TOLERANCE
    click.echo(f"{equal.sum()} of {len(cells)} published accuracies are equal to the last digit")
    click.echo(f"mean absolute difference {np.abs(ours[:, 0] - theirs).mean():.4f}")
    if seeds > 1:
        low, high = ours.min(axis=1) - TOLERANCE, ours.max(axis=1) + TOLERANCE
        click.echo(
            f"{((low <= theirs) & (theirs <= high)).sum()} lie within the range of {seeds} random states"
        )
    click.echo(cells.assign(equal=equal).groupby("dataset")["equal"].agg(["sum", "size"]).to_string())


def accuracies(planned: Plan, cell: Any, depth: int, seeds: int) -> NDArray[np.float64]:
    """Accuracy of SAMME.R on a cell of the study with each random state."""
    labels = cell_labels(planned, cell.dataset, cell.noise_kind, cell.noise_rate)
    X, y = planned.datasets[cell.dataset].X[labels.index], labels["label"].to_numpy()
    train = (labels["part"] == "train").to_numpy()
    base = DecisionTreeClassifier(criterion="entropy", max_depth=depth)
    models = [SammeR(base, random_state=seed) for seed in range(SEED, SEED + seeds)]
    return np.array(
        [np.mean(model.fit(X[train], y[train]).predict(X[~train]) == y[~train]) for model in models]
    )


if __name__ == "__main__":
    main()
