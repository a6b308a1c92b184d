"""What did we find: specs, checks, policies, verdicts."""

__all__: list[str] = []
