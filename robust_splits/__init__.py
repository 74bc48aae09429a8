"""Decision trees and forests whose split criteria withstand label noise.

The estimators follow scikit-learn's API; the growers are compiled with Numba.  Importing this package is
cheap: scikit-learn and Numba are imported when an estimator or a gain is first used.
"""

from typing import TYPE_CHECKING

import lazy_loader

from .bounds import gain_order_failure_probability, majority_retention_probability, min_leaf_samples
from .criteria import (
    Credal,
    Criterion,
    Entropy,
    FunctionCriterion,
    GeneralizedCrossEntropy,
    Gini,
    Impurity,
    Misclassification,
    NegativeExponential,
    Pairwise,
    SqrtGini,
    Twoing,
    get_criterion,
)
from .distribution import DistributionCriterion

if TYPE_CHECKING:
    from .decision_tree import RobustDecisionTreeClassifier
    from .export import export_text, plot_tree
    from .forest import RobustExtraTreesClassifier, RobustForestClassifier
    from .impurity_curves import plot_impurity
    from .tree import Tree

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "decision_tree": ["RobustDecisionTreeClassifier"],
        "export": ["export_text", "plot_tree"],
        "forest": ["RobustExtraTreesClassifier", "RobustForestClassifier"],
        "impurity_curves": ["plot_impurity"],
        "tree": ["Tree"],
    },
)

__all__ = [
    "Credal",
    "Criterion",
    "DistributionCriterion",
    "Entropy",
    "FunctionCriterion",
    "GeneralizedCrossEntropy",
    "Gini",
    "Impurity",
    "Misclassification",
    "NegativeExponential",
    "Pairwise",
    "RobustDecisionTreeClassifier",
    "RobustExtraTreesClassifier",
    "RobustForestClassifier",
    "SqrtGini",
    "Tree",
    "Twoing",
    "export_text",
    "gain_order_failure_probability",
    "get_criterion",
    "majority_retention_probability",
    "min_leaf_samples",
    "plot_impurity",
    "plot_tree",
]
