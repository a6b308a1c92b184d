"""Is it even-handed: measures between groups of people."""

__all__: list[str] = []
