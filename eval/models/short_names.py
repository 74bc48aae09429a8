"""Short names of models, which stand for a class, its module and its parameters in a config.

A short name is a key of `SHORT_NAMES`, or a name that an installed package adds.  Keys of `VARIANT_PARAMETERS`
may be followed by a colon and a split criterion or a loss, as in ``robust_forest:gini`` and
``robust_xgboost:gce``.  A key of `WRAPPERS` and a plus sign may precede it, as in ``cleanlab+xgboost``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from typing import Any, Literal

from robust_splits.plugins import find_plugin, package_of, plugin_names, plugins

from ..errors import suggest
from .variants import ADAPTIVE_CRITERION


@dataclass(frozen=True)
class ShortName:
    """Model that a short name stands for.

    Attributes
    ----------
    group : str
        Heading in the list of models.
    summary : str
        Description on one line.
    module, model : str
        Module and name of the class.
    params : dict
        Parameters that differ from the defaults of the class.
    scaled : bool
        Whether features are standardised, to mean 0 and variance 1.
    """

    group: str
    summary: str
    module: str
    model: str
    params: dict[str, Any] = field(default_factory=dict)
    scaled: bool = False


def _svm(kernel_name: str, **params: Any) -> ShortName:
    summary = f"support vector machine with {kernel_name}; standardised features"
    return ShortName("scikit-learn", summary, "sklearn.svm", "SVC", params, scaled=True)


_XGBOOST_FOREST_SAMPLING = {"subsample": 0.8, "subsample_freq": 1, "feature_fraction_bynode": 0.8}

SHORT_NAMES = {
    "adaboost": ShortName("scikit-learn", "AdaBoost with stumps", "sklearn.ensemble", "AdaBoostClassifier"),
    "gbm": ShortName(
        "scikit-learn", "gradient boosting with exact splits", "sklearn.ensemble", "GradientBoostingClassifier"
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
        "scikit-learn",
        "decision tree, grown until its leaves are pure",
        "sklearn.tree",
        "DecisionTreeClassifier",
    ),
    "svm_linear": _svm("linear kernel", kernel="linear"),
    "svm_quadratic": _svm("polynomial kernel of degree 2", kernel="poly", degree=2, coef0=1.0),
    "svm_gaussian": _svm("Gaussian kernel", kernel="rbf"),
    "xgboost": ShortName("XGBoost", "gradient boosting", "xgboost", "XGBClassifier"),
    "xgboost_forest": ShortName("XGBoost", "random forest", "xgboost", "XGBRFClassifier"),
    "xgboost_dart": ShortName(
        "XGBoost",
        "gradient boosting with dropout of trees, at LightGBM's default rates",
        "xgboost",
        "XGBClassifier",
        {"booster": "dart", "rate_drop": 0.1, "skip_drop": 0.5},
    ),
    "lightgbm": ShortName("LightGBM", "gradient boosting", "lightgbm", "LGBMClassifier"),
    "lightgbm_forest": ShortName(
        "LightGBM",
        "random forest with XGBoost's sampling rates of rows and features",
        "lightgbm",
        "LGBMClassifier",
        {"boosting_type": "rf", **_XGBOOST_FOREST_SAMPLING},
    ),
    "lightgbm_dart": ShortName(
        "LightGBM",
        "gradient boosting with dropout of trees",
        "lightgbm",
        "LGBMClassifier",
        {"boosting_type": "dart"},
    ),
    "catboost": ShortName("CatBoost", "gradient boosting", "catboost", "CatBoostClassifier"),
    "tabicl": ShortName("TabICL", "pretrained transformer", "tabicl", "TabICLClassifier"),
    "tabpfn": ShortName("TabPFN", "pretrained transformer, for small data", "tabpfn", "TabPFNClassifier"),
    "robust": ShortName(
        "This project",
        "mixture of forests and LightGBM, fitted to the clean labels; take this one first",
        "boostnoise",
        "RobustClassifier",
    ),
    "robust_tree": ShortName(
        "This project",
        "decision tree with a robust criterion: negative_exponential",
        "robust_splits",
        "RobustDecisionTreeClassifier",
    ),
    "robust_forest": ShortName(
        "This project",
        "random forest, fitted to the clean labels that a first forest finds",
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
        "This project",
        "XGBoost; trees and length chosen on noisy labels",
        "boostnoise",
        "RobustXGBClassifier",
    ),
    "robust_lightgbm": ShortName(
        "This project",
        "LightGBM; trees and length chosen on noisy labels",
        "boostnoise",
        "RobustLGBMClassifier",
    ),
}


@dataclass(frozen=True)
class Wrapper:
    """Classifier around a model, which a prefix of the short name adds.

    Attributes
    ----------
    summary : str
        Description on one line.
    module, model : str
        Module and name of the class.
    params : dict
        Parameters that differ from the defaults of the class.
    """

    summary: str
    module: str
    model: str
    params: dict[str, Any] = field(default_factory=dict)


# Wrappers by the prefix that adds them.
WRAPPERS = {
    "cleanlab": Wrapper(
        "fitted without the rows that cleanlab finds mislabelled", "boostnoise.eval", "CleanlabClassifier"
    ),
    "robust": Wrapper(
        "fitted to the clean labels, as far as a first pass of forests finds them",
        "boostnoise",
        "RobustClassifier",
    ),
    "balanced": Wrapper(
        "predicts the class whose probability is the largest multiple of its share, for balanced accuracy",
        "boostnoise",
        "RobustClassifier",
        {"passes": 1, "decision": "balanced_accuracy"},
    ),
}

PLUGINS = "Installed packages"  # heading of their models

VariantParameter = Literal["criterion", "loss"]

# Short names that accept a variant after a colon, and the parameter that it sets.
VARIANT_PARAMETERS: dict[str, VariantParameter] = {
    "robust_tree": "criterion",
    "robust_forest": "criterion",
    "robust_extra_trees": "criterion",
    "robust_xgboost": "loss",
    "robust_lightgbm": "loss",
}


@dataclass(frozen=True)
class ParsedName:
    """Parts of a short name.

    Attributes
    ----------
    base : ShortName
    wrapper : Wrapper or None
    parameter : {"criterion", "loss"} or None
        Parameter that the variant sets.
    variant : str or None
        The criterion or loss after the colon.
    """

    base: ShortName
    wrapper: Wrapper | None
    parameter: VariantParameter | None
    variant: str | None

    @property
    def prefix(self) -> str:
        """Prefix of the model's parameters in the estimator that contains it, in scikit-learn's notation."""
        return "estimator__" * (self.wrapper is not None) + "model__" * self.base.scaled

    def description(self, params: dict[str, Any]) -> dict[str, Any]:
        """Description of the estimator: its module, class and parameters, with `params` set on the model."""
        variant: dict[str, Any] = {self.parameter: self.variant} if self.parameter else {}
        described = _describe(self.base.module, self.base.model, {**self.base.params, **variant, **params})
        if self.base.scaled:
            scaler = _describe("sklearn.preprocessing", "StandardScaler", {})
            steps = [["scale", scaler], ["model", described]]
            described = _describe("sklearn.pipeline", "Pipeline", {"steps": steps})
        if self.wrapper is not None:
            params = {"estimator": described, **self.wrapper.params}
            described = _describe(self.wrapper.module, self.wrapper.model, params)
        return described


def parse_name(name: str) -> ParsedName:
    """Parse a short name, without checking that the criterion or loss exists.

    Raises
    ------
    ValueError
        If the short name is unknown, or does not accept a criterion or loss.
    """
    prefix, plus, rest = name.partition("+")
    wrapper = WRAPPERS.get(prefix) if plus else None
    base, colon, variant = (name if wrapper is None else rest).partition(":")
    known = SHORT_NAMES.get(base) or _plugin(base)
    if known is None:
        raise ValueError(
            f"unknown model {name[:100]!r}{suggest(base, SHORT_NAMES)}; "
            f"known models: {', '.join([*SHORT_NAMES, *plugin_names('models', SHORT_NAMES)])} "
            f"(see noisyeval --list), "
            f"also with a prefix {', '.join(f'{prefix}+' for prefix in WRAPPERS)}; or a class with its module"
        )
    if colon and base not in VARIANT_PARAMETERS:
        raise ValueError(
            f"unknown model {name[:100]!r}; only {', '.join(VARIANT_PARAMETERS)} accept a criterion or loss, "
            f"as in robust_forest:{ADAPTIVE_CRITERION}"
        )
    return ParsedName(
        base=known,
        wrapper=wrapper,
        parameter=VARIANT_PARAMETERS[base] if colon else None,
        variant=variant if colon else None,
    )


def _plugin(name: str) -> ShortName | None:
    """Model of an installed package; None if there is none of this name."""
    if name not in plugins("models"):
        return None
    point = find_plugin("models", name)
    return _short_name(point)


def all_short_names() -> dict[str, ShortName]:
    """All short names, those of installed packages last."""
    added = {name: plugins("models")[name] for name in plugin_names("models", SHORT_NAMES)}
    return SHORT_NAMES | {name: _short_name(point) for name, point in added.items()}


def _short_name(point: EntryPoint) -> ShortName:
    return ShortName(PLUGINS, f"{point.attr} of {package_of(point)}", point.module, point.attr)


def _describe(module: str, model: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"module": module, "model": model, "params": params}
