"""Strategies of positive curvature; `boostnoise.losses.curvature` under its short name."""

from .losses.base import curvature, expected, reweighted
from .losses.curvature import STRATEGIES, Strategy, check_strategy

__all__ = ["STRATEGIES", "Strategy", "check_strategy", "curvature", "expected", "reweighted"]
