"""Hessian strategies; `boostnoise.losses.curvature` under its public name."""

from .losses import curvature as _strategies
from .losses.base import curvature, expected, reweighted
from .losses.curvature import STRATEGIES, Strategy, check_strategy

__all__ = ["STRATEGIES", "Strategy", "check_strategy", "curvature", "expected", "reweighted"]
__doc__ = _strategies.__doc__  # so that help("boostnoise.curvature") describes the strategies
