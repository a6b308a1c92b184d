"""Formats of model files, one module each: how to recognise, load and ask a model of that format."""
