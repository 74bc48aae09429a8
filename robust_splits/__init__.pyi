from .bounds import gain_order_failure_probability, majority_retention_probability, min_leaf_samples
from .conservative import ConservativeReport, check_conservative
from .corrected_criterion import CorrectedCriterion
from .criteria import (
    Credal,
    Entropy,
    GeneralizedCrossEntropy,
    Gini,
    Misclassification,
    NegativeExponential,
    Pairwise,
    PairwiseSum,
    SqrtGini,
    Twoing,
    get_criterion,
)
from .criterion import Criterion, Impurity
from .decision_tree import RobustDecisionTreeClassifier
from .distribution import DistributionCriterion
from .export import (
    export_text,
    onnx_input,
    plot_tree,
    register_onnx_converters,
    to_onnx,
    to_sklearn,
    to_treelite,
)
from .forest import RobustExtraTreesClassifier, RobustForestClassifier
from .function_criterion import FunctionCriterion
from .impurity_curves import plot_gain, plot_impurity
from .loss_criterion import LossCriterion
from .newton_gain import NewtonGain
from .tree import Tree

__all__ = [
    "ConservativeReport",
    "CorrectedCriterion",
    "Credal",
    "Criterion",
    "DistributionCriterion",
    "Entropy",
    "FunctionCriterion",
    "GeneralizedCrossEntropy",
    "Gini",
    "Impurity",
    "LossCriterion",
    "Misclassification",
    "NegativeExponential",
    "NewtonGain",
    "Pairwise",
    "PairwiseSum",
    "RobustDecisionTreeClassifier",
    "RobustExtraTreesClassifier",
    "RobustForestClassifier",
    "SqrtGini",
    "Tree",
    "Twoing",
    "check_conservative",
    "export_text",
    "gain_order_failure_probability",
    "get_criterion",
    "majority_retention_probability",
    "min_leaf_samples",
    "onnx_input",
    "plot_gain",
    "plot_impurity",
    "plot_tree",
    "register_onnx_converters",
    "to_onnx",
    "to_sklearn",
    "to_treelite",
]
