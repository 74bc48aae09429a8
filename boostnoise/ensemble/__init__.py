"""Classifiers of any kind, fitted to the posterior of the clean label, and mixtures of them."""
