"""Checks that ask the room `robustness`: a file that is put here is a check."""
