"""Runs of one analysis over time: histories, control charts, watches and what changed."""
