"""Fairness over time and between two datasets."""
