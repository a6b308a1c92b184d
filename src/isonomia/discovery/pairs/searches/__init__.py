"""Searches for discriminating pairs: one file per method, and what several of them use."""
