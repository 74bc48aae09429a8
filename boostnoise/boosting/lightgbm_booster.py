"""LightGBM's booster: callbacks during training, and the completion and checks of a trained model."""

from __future__ import annotations

from typing import Any

from lightgbm import Booster
from lightgbm.callback import CallbackEnv, early_stopping
from sklearn.preprocessing import LabelEncoder

from ..losses.softmax import Floats


class TreeCounter:
    """Count the trees per class after each round: a round that finds no split adds none."""

    before_iteration = False
    order = 0  # before `lightgbm.early_stopping`, which ends the round

    def __init__(self) -> None:
        self.n_trees: dict[int, int] = {}  # by the number of rounds

    def __call__(self, env: CallbackEnv) -> None:
        """Count the trees after this round."""
        model: Any = env.model
        self.n_trees[env.iteration + 1] = model.current_iteration()

    def drop_trees_after_the_best(self, booster: Booster) -> None:
        """Drop the trees after the best round, whose number LightGBM takes for the number of its trees."""
        n_trees = self.n_trees.get(booster.best_iteration)  # None for DART, which does not stop
        if n_trees is not None and n_trees != booster.best_iteration:
            booster.model_from_string(booster.model_to_string(num_iteration=n_trees))
            booster.best_iteration = n_trees


def stops_early(callbacks: Any) -> bool:
    """Whether one of the callbacks is early stopping."""
    cls = type(early_stopping(1, verbose=False))
    return any(isinstance(callback, cls) for callback in callbacks or ())


def set_classes(estimator: Any, encoder: LabelEncoder) -> None:
    """Set the classes of a classifier whose booster was not trained by the library's classifier."""
    classes = encoder.classes_
    estimator._le, estimator._classes, estimator._n_classes = encoder, classes, len(classes)
    estimator._class_map = {label: code for code, label in enumerate(classes)}
    estimator._class_weight = None
    estimator._objective = "binary" if len(classes) == 2 else "multiclass"


def add_to_first_trees(booster: Booster, intercept: Floats) -> None:
    """Add the intercept to the leaves of the first tree of each class, where LightGBM stores its own."""
    trees = booster.dump_model(num_iteration=1)["tree_info"]
    for tree, value in enumerate(intercept):
        for leaf in range(trees[tree]["num_leaves"]):
            booster.set_leaf_output(tree, leaf, booster.get_leaf_output(tree, leaf) + value)


def write_objective(booster: Booster, n_classes: int) -> None:
    """Store in the model how margins become probabilities, as LightGBM does for its own objectives."""
    objective = "binary sigmoid:1" if n_classes == 2 else f"multiclass num_class:{n_classes}"
    text = booster.model_to_string(num_iteration=-1)
    header, rest = text.split("\nfeature_names=", maxsplit=1)
    lines = [line for line in header.split("\n") if not line.startswith("objective=")]
    header = "\n".join([*lines, f"objective={objective}"])
    booster.model_from_string(f"{header}\nfeature_names={rest}")
    booster.params["objective"] = objective.split()[0]  # which converters read
