"""Decision trees and forests whose split criteria withstand label noise.

The estimators follow scikit-learn's API; the growers are compiled with Numba.  Importing this package is
cheap: scikit-learn and Numba are imported when an estimator or a gain is first used.
"""

from typing import TYPE_CHECKING

import lazy_loader

from .criteria import (
    Criterion,
    Entropy,
    GeneralizedCrossEntropy,
    Gini,
    Misclassification,
    NegativeExponential,
    SqrtGini,
    get_criterion,
)

if TYPE_CHECKING:
    from .estimators import RobustDecisionTreeClassifier, RobustForestClassifier
    from .tree import Tree

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "estimators": ["RobustDecisionTreeClassifier", "RobustForestClassifier"],
        "tree": ["Tree"],
    },
)

__all__ = [
    "Criterion",
    "Entropy",
    "GeneralizedCrossEntropy",
    "Gini",
    "Misclassification",
    "NegativeExponential",
    "RobustDecisionTreeClassifier",
    "RobustForestClassifier",
    "SqrtGini",
    "Tree",
    "get_criterion",
]
