"""Short names of models: what a config may write in place of a class, its module and its parameters.

A name is one of `SHORT_NAMES`; or one of `VARIANTS`, a colon and a split criterion or a loss, as in
``robust_forest:ane`` and ``robust_xgboost:gce``; either may have ``cleanlab+`` before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

FILTER = "cleanlab+"


@dataclass(frozen=True)
class ShortName:
    """What one short name stands for.

    Attributes
    ----------
    group : str
        Under which heading it is listed.
    line : str
        What it is, on one line.
    module, model : str
        Where the class is, and its name.
    params : dict
        What differs from the defaults of the class.
    scaled : bool
        Whether features are brought to mean 0 and variance 1 first.
    """

    group: str
    line: str
    module: str
    model: str
    params: dict[str, Any] = field(default_factory=dict)
    scaled: bool = False


def _svm(line: str, **kernel: Any) -> ShortName:
    line = f"support vector machine, {line}; features scaled to mean 0 and variance 1"
    return ShortName("scikit-learn", line, "sklearn.svm", "SVC", kernel, scaled=True)


_BAGGED = {"subsample": 0.8, "subsample_freq": 1, "feature_fraction_bynode": 0.8}  # as much as XGBoost's forest

SHORT_NAMES = {
    "adaboost": ShortName("scikit-learn", "AdaBoost with stumps", "sklearn.ensemble", "AdaBoostClassifier"),
    "gbm": ShortName(
        "scikit-learn", "gradient boosting, exact splits", "sklearn.ensemble", "GradientBoostingClassifier"
    ),
    "hist_gbm": ShortName(
        "scikit-learn",
        "gradient boosting on binned features",
        "sklearn.ensemble",
        "HistGradientBoostingClassifier",
    ),
    "random_forest": ShortName("scikit-learn", "random forest", "sklearn.ensemble", "RandomForestClassifier"),
    "extra_trees": ShortName(
        "scikit-learn", "extremely randomised trees", "sklearn.ensemble", "ExtraTreesClassifier"
    ),
    "decision_tree": ShortName(
        "scikit-learn", "a single tree, grown until leaves are pure", "sklearn.tree", "DecisionTreeClassifier"
    ),
    "svm_linear": _svm("linear", kernel="linear"),
    "svm_quadratic": _svm("polynomials of degree 2", kernel="poly", degree=2, coef0=1.0),
    "svm_gaussian": _svm("Gaussian kernel", kernel="rbf"),
    "xgboost": ShortName("XGBoost", "gradient boosting", "xgboost", "XGBClassifier"),
    "xgboost_forest": ShortName("XGBoost", "random forest", "xgboost", "XGBRFClassifier"),
    "xgboost_dart": ShortName(
        "XGBoost",
        "boosting with dropout of trees, as much as LightGBM's default",
        "xgboost",
        "XGBClassifier",
        {"booster": "dart", "rate_drop": 0.1, "skip_drop": 0.5},
    ),
    "lightgbm": ShortName("LightGBM", "gradient boosting", "lightgbm", "LGBMClassifier"),
    "lightgbm_forest": ShortName(
        "LightGBM",
        "random forest; rows and features drawn in the same shares as XGBoost's",
        "lightgbm",
        "LGBMClassifier",
        {"boosting_type": "rf", **_BAGGED},
    ),
    "lightgbm_dart": ShortName(
        "LightGBM", "boosting with dropout of trees", "lightgbm", "LGBMClassifier", {"boosting_type": "dart"}
    ),
    "catboost": ShortName("CatBoost", "gradient boosting", "catboost", "CatBoostClassifier"),
    "robust_tree": ShortName(
        "This project",
        "a tree with a split criterion that withstands noise: negative_exponential",
        "robust_splits",
        "RobustDecisionTreeClassifier",
    ),
    "robust_forest": ShortName(
        "This project",
        "a random forest that is cut back and smoothed as noisy labels tell, out of bag",
        "robust_splits",
        "RobustForestClassifier",
    ),
    "robust_extra_trees": ShortName(
        "This project",
        "the same with extremely randomised trees",
        "robust_splits",
        "RobustExtraTreesClassifier",
    ),
    "robust_xgboost": ShortName(
        "This project", "XGBoost with a robust loss: gce", "boostnoise", "RobustXGBClassifier"
    ),
    "robust_lightgbm": ShortName(
        "This project", "LightGBM with a robust loss: gce", "boostnoise", "RobustLGBMClassifier"
    ),
}

Kind = Literal["criterion", "loss"]

# Names that may be followed by a colon and a criterion or a loss, and which of the two.
VARIANTS: dict[str, Kind] = {
    "robust_tree": "criterion",
    "robust_forest": "criterion",
    "robust_extra_trees": "criterion",
    "robust_xgboost": "loss",
    "robust_lightgbm": "loss",
}


@dataclass(frozen=True)
class ParsedName:
    """The parts of a name.

    Attributes
    ----------
    base : ShortName
    filtered : bool
        Whether cleanlab's filter comes first.
    kind, variant : str or None
        What follows the colon.
    """

    base: ShortName
    filtered: bool
    kind: Kind | None
    variant: str | None

    @property
    def prefix(self) -> str:
        """What scikit-learn puts before the names of the model's own parameters."""
        return "estimator__" * self.filtered + "model__" * self.base.scaled

    def description(self, params: dict[str, Any]) -> dict[str, Any]:
        """Module, class and parameters of the whole, with further parameters of the model itself."""
        variant: dict[str, Any] = {self.kind: self.variant} if self.kind else {}
        made = _described(self.base.module, self.base.model, {**self.base.params, **variant, **params})
        if self.base.scaled:
            scaler = _described("sklearn.preprocessing", "StandardScaler", {})
            made = _described("sklearn.pipeline", "Pipeline", {"steps": [["scale", scaler], ["model", made]]})
        if self.filtered:
            made = _described("boostnoise.eval", "CleanlabClassifier", {"estimator": made})
        return made


def parse_name(name: str) -> ParsedName:
    """Parts of a short name; whether there is such a criterion or loss is left open.

    Raises
    ------
    ValueError
        If there is no such name.
    """
    base, colon, variant = name.removeprefix(FILTER).partition(":")
    if base not in SHORT_NAMES:
        raise ValueError(
            f"unknown model {name[:100]!r}; known are {', '.join(SHORT_NAMES)} (noisyeval --list tells more), "
            "or a class with its module"
        )
    if colon and base not in VARIANTS:
        raise ValueError(
            f"unknown model {name[:100]!r}; a criterion or loss may only follow {', '.join(VARIANTS)}, such as "
            "robust_forest:ane"
        )
    return ParsedName(
        base=SHORT_NAMES[base],
        filtered=name.startswith(FILTER),
        kind=VARIANTS[base] if colon else None,
        variant=variant if colon else None,
    )


def _described(module: str, model: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"module": module, "model": model, "params": params}
