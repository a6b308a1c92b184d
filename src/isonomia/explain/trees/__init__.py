"""Exact Shapley values of tree ensembles."""
