"""Checks that ask the room `metrics`: a file that is put here is a check."""
