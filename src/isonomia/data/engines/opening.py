"""Whether rows are in memory or behind an engine."""

from __future__ import annotations

from typing import Any

from isonomia.data.engines.engine import Engine
from isonomia.data.engines.lazy import LazyEngine, is_lazy


def as_engine(frame: Any) -> Engine | None:
    """The engine of a lazy frame; None of a table in memory."""
    if isinstance(frame, Engine):
        return frame
    return LazyEngine(frame) if is_lazy(frame) else None
