"""Exact answers for models that can be read: bounds and proofs over boxes of people."""
