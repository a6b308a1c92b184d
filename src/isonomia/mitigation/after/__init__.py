"""Fixes of a trained model's predictions."""
