"""Evaluation under label noise: inject noise, run models on data sets, compute ELA and RLA curves.

The chain: a validated config becomes jobs, the runner fits what the store does not hold yet, metrics and report
read the store's scores.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
