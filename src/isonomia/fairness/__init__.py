"""Is it even-handed: measures between groups of people."""
