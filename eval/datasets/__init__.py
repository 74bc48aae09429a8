"""Load data sets: from specs in the config to features and labels."""
