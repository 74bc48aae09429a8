"""Decision trees and forests whose split criteria withstand label noise.

The estimators follow scikit-learn's API; the growers are compiled with Numba.  Importing this package is
cheap: scikit-learn and Numba are imported when an estimator or a gain is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
