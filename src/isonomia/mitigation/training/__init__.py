"""Fixes of the training itself."""
