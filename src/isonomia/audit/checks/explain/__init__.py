"""Checks that ask the room `explain`: a file that is put here is a check."""
