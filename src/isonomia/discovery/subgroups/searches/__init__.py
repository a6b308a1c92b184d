"""The searches for subgroups: one file per method."""
