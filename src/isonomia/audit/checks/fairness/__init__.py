"""Checks that ask the room `fairness`: a file that is put here is a check."""
