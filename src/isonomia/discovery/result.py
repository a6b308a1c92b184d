"""What every search returns: the method, and what it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isonomia.evidence import Result, finite


@dataclass(frozen=True, repr=False)
class SearchResult(Result):
    """What a search for subgroups or for pairs found.

    Attributes
    ----------
    method : str
        The method that was run.
    metrics : mapping
        ``TSN`` (what was tested), ``DSN`` (what was found), ``SUR`` = DSN / TSN, ``DSS`` seconds per finding (None
        where there is none), ``total_time``, ``dsn_by_attr_value``, ``n_model_rows``, ``n_model_calls``, and the
        method's own.
    """

    method: str = ""
    metrics: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return {**super().to_dict(), "method": self.method, "metrics": _plain(self.metrics)}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return finite(value) if isinstance(value, float) else value
