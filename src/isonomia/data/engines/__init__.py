"""Rows that are counted where they are: in files, databases, clusters. An engine is a thin file on `Engine`."""
