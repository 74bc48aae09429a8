"""Evaluation under label noise: inject noise, run models on data sets, compute ELA and RLA curves.

A validated config becomes jobs, the runner fits the jobs that the store does not have yet, and metrics and
report read the store's scores.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
