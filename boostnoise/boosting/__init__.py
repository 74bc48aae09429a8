"""XGBoost's and LightGBM's classifiers, with robust losses and parameters chosen on noisy labels."""
