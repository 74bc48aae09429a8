from .boosting.lightgbm_classifier import RobustLGBMClassifier
from .boosting.xgboost_classifier import RobustXGBClassifier
from .ensemble.dask_forest import fit_forest_by_parts
from .ensemble.robust_classifier import RobustClassifier
from .eval.audit.annotator_comparison import AnnotatorComparison
from .eval.audit.annotators import compare_annotators
from .eval.audit.audit import audit
from .eval.audit.clean_scores import CleanScores
from .eval.audit.curve_plots import plot_calibration_curve, plot_lift_curve
from .eval.audit.label_audit import LabelAudit
from .eval.audit.model_scores import clean_scores
from .eval.comparison.compare import compare
from .eval.comparison.comparison import Comparison
from .eval.models.cleanlab_classifier import CleanlabClassifier
from .eval.saved_models.model_file import load_model
from .eval.saved_models.saved_model import SavedModel
from .label_noise import LabelErrors, check_transition_matrix, estimate_transition_matrix, find_label_errors
from .label_noise.checked_labels import use_checked_labels
from .label_noise.thresholds import ThresholdChoice, choose_threshold
from .losses.base import Loss
from .losses.distribution import DistributionLoss
from .losses.label import (
    CrossEntropy,
    FocalLoss,
    GeneralizedCrossEntropy,
    MeanAbsoluteError,
    RobustFocalLoss,
    SymmetricCrossEntropy,
)
from .losses.margin import NegativeExponential, RampLoss, SavageLoss, TangentLoss
from .losses.registry import get_loss
from .losses.transition import (
    BackwardCorrection,
    ForwardCorrection,
)
from .losses.vector import (
    Bootstrap,
    BrierScore,
    LabelSmoothing,
    NormalizedCrossEntropyMAE,
    NormalizedCrossEntropyRCE,
)
from .objectives.hooks import lightgbm_objective, xgboost_objective
from .objectives.metrics import CorrectedErrorMetric, ErrorMetric, LogLossMetric, LossMetric
from .objectives.objective_checks import check_objective

__version__: str

__all__ = [
    "AnnotatorComparison",
    "BackwardCorrection",
    "Bootstrap",
    "BrierScore",
    "CleanScores",
    "CleanlabClassifier",
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
    "NormalizedCrossEntropyMAE",
    "NormalizedCrossEntropyRCE",
    "RampLoss",
    "RobustClassifier",
    "RobustFocalLoss",
    "RobustLGBMClassifier",
    "RobustXGBClassifier",
    "SavageLoss",
    "SavedModel",
    "SymmetricCrossEntropy",
    "TangentLoss",
    "ThresholdChoice",
    "audit",
    "check_objective",
    "check_transition_matrix",
    "choose_threshold",
    "clean_scores",
    "compare",
    "compare_annotators",
    "estimate_transition_matrix",
    "find_label_errors",
    "fit_forest_by_parts",
    "get_loss",
    "lightgbm_objective",
    "load_model",
    "plot_calibration_curve",
    "plot_lift_curve",
    "use_checked_labels",
    "xgboost_objective",
]
