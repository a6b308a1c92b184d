"""Checks that ask the room `mitigation`: a file that is put here is a check."""
