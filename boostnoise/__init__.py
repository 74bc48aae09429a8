"""Robust losses for XGBoost and LightGBM, and the evaluation of models under label noise.

Importing this package is cheap: XGBoost and LightGBM are imported when an estimator is first used.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
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
_evaluation = Path(__file__).resolve().parent.parent / "eval" / "__init__.py"
_is_checkout = (_evaluation.parent.parent / "pyproject.toml").is_file() and _evaluation.is_file()
if _is_checkout and (_spec := spec_from_file_location("boostnoise.eval", _evaluation)) and _spec.loader:
    sys.modules["boostnoise.eval"] = _module = module_from_spec(_spec)
    _spec.loader.exec_module(_module)
    globals()["eval"] = _module
