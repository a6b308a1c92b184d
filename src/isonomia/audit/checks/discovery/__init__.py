"""Checks that ask the room `discovery`: a file that is put here is a check."""
