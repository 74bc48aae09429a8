"""Decision trees and forests with split criteria that are robust to label noise.

The estimators follow scikit-learn's API, and the tree grower is compiled with Numba.  Importing this package is
fast, because scikit-learn and Numba are imported on first use of an estimator or a gain.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
