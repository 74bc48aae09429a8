"""Objectives and metrics: losses in the form that XGBoost and LightGBM call."""
