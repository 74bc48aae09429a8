"""Robust losses for XGBoost and LightGBM, and the evaluation of models under label noise.

Importing this package is cheap: XGBoost and LightGBM are imported when an estimator is first used.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# In a source checkout, boostnoise.eval is the sibling folder eval/.  Load it from there, so that the checkout
# works without being installed.
_eval_init = Path(__file__).resolve().parent.parent / "eval" / "__init__.py"
_is_checkout = (_eval_init.parent.parent / "pyproject.toml").is_file() and _eval_init.is_file()
if _is_checkout and (_spec := spec_from_file_location("boostnoise.eval", _eval_init)) and _spec.loader:
    sys.modules["boostnoise.eval"] = _module = module_from_spec(_spec)
    _spec.loader.exec_module(_module)
    globals()["eval"] = _module
