"""Formats of data files, one module each: how to recognise and read a table of that format."""
