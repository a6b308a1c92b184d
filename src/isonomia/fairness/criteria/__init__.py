"""The named criteria, and which of them exclude each other."""
