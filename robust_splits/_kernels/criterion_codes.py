"""Integer codes by which the compiled kernels select a criterion."""

# Impurities.  Scans have a bound for those up to LAST_BOUNDED; see `scan.bounded_impurity`.
GINI, ENTROPY, MISCLASSIFICATION, SQRT_GINI, GCE, NEGATIVE_EXPONENTIAL, DISTRIBUTION = range(7)
LAST_BOUNDED = NEGATIVE_EXPONENTIAL
LAST_IMPURITY = DISTRIBUTION

# Other gains.
TWOING, PAIRWISE, CREDAL, CREDAL_RATIO, NEWTON, FUNCTION = range(LAST_IMPURITY + 1, LAST_IMPURITY + 7)
