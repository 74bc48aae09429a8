from .checked_labels import use_checked_labels
from .eval.audit.audit import audit
from .eval.audit.label_audit import LabelAudit
from .eval.comparison.compare import compare
from .eval.comparison.comparison import Comparison
from .hooks import lightgbm_objective, xgboost_objective
from .label_errors import LabelErrors, find_label_errors
from .lightgbm_classifier import RobustLGBMClassifier
from .losses.base import Loss
from .losses.distribution import DistributionLoss
from .losses.label import (
    AlphaLoss,
    CrossEntropy,
    FocalLoss,
    GeneralizedCrossEntropy,
    MeanAbsoluteError,
    RobustFocalLoss,
    SymmetricCrossEntropy,
)
from .losses.margin import NegativeExponential, RampLoss, SavageLoss, SigmoidLoss, TangentLoss
from .losses.registry import get_loss
from .losses.transition import (
    BackwardCorrection,
    ForwardCorrection,
    UnbiasedCrossEntropy,
    check_transition_matrix,
)
from .losses.vector import (
    Bootstrap,
    BrierScore,
    LabelSmoothing,
    NormalizedCrossEntropyMAE,
    NormalizedCrossEntropyRCE,
)
from .metrics import CorrectedErrorMetric, ErrorMetric, LogLossMetric, LossMetric
from .noise_correction import NoiseCorrectedClassifier
from .objective_checks import check_objective
from .transition_estimation import estimate_transition_matrix
from .xgboost_classifier import RobustXGBClassifier

__version__: str

__all__ = [
    "AlphaLoss",
    "BackwardCorrection",
    "Bootstrap",
    "BrierScore",
    "Comparison",
    "CorrectedErrorMetric",
    "CrossEntropy",
    "DistributionLoss",
    "ErrorMetric",
    "FocalLoss",
    "ForwardCorrection",
    "GeneralizedCrossEntropy",
    "LabelAudit",
    "LabelErrors",
    "LabelSmoothing",
    "LogLossMetric",
    "Loss",
    "LossMetric",
    "MeanAbsoluteError",
    "NegativeExponential",
    "NoiseCorrectedClassifier",
    "NormalizedCrossEntropyMAE",
    "NormalizedCrossEntropyRCE",
    "RampLoss",
    "RobustFocalLoss",
    "RobustLGBMClassifier",
    "RobustXGBClassifier",
    "SavageLoss",
    "SigmoidLoss",
    "SymmetricCrossEntropy",
    "TangentLoss",
    "UnbiasedCrossEntropy",
    "audit",
    "check_objective",
    "check_transition_matrix",
    "compare",
    "estimate_transition_matrix",
    "find_label_errors",
    "get_loss",
    "lightgbm_objective",
    "use_checked_labels",
    "xgboost_objective",
]
