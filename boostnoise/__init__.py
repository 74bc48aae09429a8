"""Robust losses for XGBoost and LightGBM, and the evaluation of models under label noise.

Importing this package is cheap: XGBoost and LightGBM are imported when an estimator is first used.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from .estimators import RobustLGBMClassifier, RobustXGBClassifier
    from .losses import CrossEntropy, GeneralizedCrossEntropy, Loss, get_loss

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "estimators": ["RobustLGBMClassifier", "RobustXGBClassifier"],
        "losses": ["CrossEntropy", "GeneralizedCrossEntropy", "Loss", "get_loss"],
    },
)

__all__ = [
    "CrossEntropy",
    "GeneralizedCrossEntropy",
    "Loss",
    "RobustLGBMClassifier",
    "RobustXGBClassifier",
    "get_loss",
]

# In a checkout, `boostnoise.eval` lies beside this folder; a Python started there finds it all the same.
_checkout = Path(__file__).resolve().parent.parent
if (_checkout / "pyproject.toml").is_file() and (_checkout / "eval" / "config.py").is_file():
    __path__.append(str(_checkout))
