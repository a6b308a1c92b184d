"""Fixes of the training data."""
