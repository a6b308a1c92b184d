"""How good: the registry of metrics, on all tasks, with weights, direction and requirements."""

__all__: list[str] = []
