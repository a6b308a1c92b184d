"""The checks, one file each: a file that is put here is a check."""
