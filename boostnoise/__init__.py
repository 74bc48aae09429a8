"""Robust losses for XGBoost and LightGBM, and the evaluation of models under label noise.

Importing this package is cheap: XGBoost and LightGBM are imported when an estimator is first used.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from ._base import Loss
    from .comparing import compare
    from .comparison import Comparison
    from .distribution_loss import DistributionLoss
    from .hooks import lightgbm_objective, xgboost_objective
    from .label_losses import (
        AlphaLoss,
        CrossEntropy,
        FocalLoss,
        GeneralizedCrossEntropy,
        MeanAbsoluteError,
        RobustFocalLoss,
        SymmetricCrossEntropy,
    )
    from .lightgbm_classifier import RobustLGBMClassifier
    from .linter import check_objective
    from .losses import get_loss
    from .margin_losses import NegativeExponential, RampLoss, SavageLoss, SigmoidLoss, TangentLoss
    from .metrics import CorrectedAccuracyMetric, LogLossMetric
    from .transition import BackwardCorrection, ForwardCorrection, UnbiasedCrossEntropy, check_transition_matrix
    from .transition_estimation import estimate_transition_matrix
    from .vector_losses import (
        Bootstrap,
        BrierScore,
        LabelSmoothing,
        NormalizedCrossEntropyMAE,
        NormalizedCrossEntropyRCE,
    )
    from .xgboost_classifier import RobustXGBClassifier

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "_base": ["Loss"],
        "comparing": ["compare"],
        "comparison": ["Comparison"],
        "distribution_loss": ["DistributionLoss"],
        "hooks": ["lightgbm_objective", "xgboost_objective"],
        "label_losses": [
            "AlphaLoss",
            "CrossEntropy",
            "FocalLoss",
            "GeneralizedCrossEntropy",
            "MeanAbsoluteError",
            "RobustFocalLoss",
            "SymmetricCrossEntropy",
        ],
        "lightgbm_classifier": ["RobustLGBMClassifier"],
        "linter": ["check_objective"],
        "losses": ["get_loss"],
        "margin_losses": ["NegativeExponential", "RampLoss", "SavageLoss", "SigmoidLoss", "TangentLoss"],
        "metrics": ["CorrectedAccuracyMetric", "LogLossMetric"],
        "transition": [
            "BackwardCorrection",
            "ForwardCorrection",
            "UnbiasedCrossEntropy",
            "check_transition_matrix",
        ],
        "transition_estimation": ["estimate_transition_matrix"],
        "vector_losses": [
            "Bootstrap",
            "BrierScore",
            "LabelSmoothing",
            "NormalizedCrossEntropyMAE",
            "NormalizedCrossEntropyRCE",
        ],
        "xgboost_classifier": ["RobustXGBClassifier"],
    },
)

__all__ = [
    "AlphaLoss",
    "BackwardCorrection",
    "Bootstrap",
    "BrierScore",
    "Comparison",
    "CorrectedAccuracyMetric",
    "CrossEntropy",
    "DistributionLoss",
    "FocalLoss",
    "ForwardCorrection",
    "GeneralizedCrossEntropy",
    "LabelSmoothing",
    "LogLossMetric",
    "Loss",
    "MeanAbsoluteError",
    "NegativeExponential",
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
    "check_objective",
    "check_transition_matrix",
    "compare",
    "estimate_transition_matrix",
    "get_loss",
    "lightgbm_objective",
    "xgboost_objective",
]

# In a checkout, `boostnoise.eval` lies beside this folder; a Python started there finds it all the same.
_evaluation = Path(__file__).resolve().parent.parent / "eval" / "__init__.py"
_is_checkout = (_evaluation.parent.parent / "pyproject.toml").is_file() and _evaluation.is_file()
if _is_checkout and (_spec := spec_from_file_location("boostnoise.eval", _evaluation)) and _spec.loader:
    sys.modules["boostnoise.eval"] = _module = module_from_spec(_spec)
    _spec.loader.exec_module(_module)
    globals()["eval"] = _module
