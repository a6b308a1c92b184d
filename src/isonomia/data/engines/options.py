"""Where rows are counted, and what they may take there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, TypedDict

from isonomia.data.engines.memory import read_memory
from isonomia.parameters import Choice, Kind, Number, Text

EngineName = Literal["memory", "duckdb"]


class EngineOptions(TypedDict, total=False):
    """Where rows are counted (see `Where`)."""

    engine: EngineName | None
    memory: str | int | None
    table: str | None
    query: str | None
    timeout: float | None


@dataclass(frozen=True)
class Where:
    """Where rows are counted.

    Attributes
    ----------
    engine : "memory" or "duckdb", optional
        In memory, or in the files, which may then be larger than memory. By default in memory where the table fits; a
        note in the report says where it does not.
    memory : str or int, optional
        How much memory rows and groups may take ("512MB"), at least 128 MB; half of the machine's by default.
    table, query : str, optional
        Of a database: a table or a view (``loans``, ``public.loans``), or a query that reads.
    timeout : float, optional
        Seconds that one statement of a database may take; 600 by default.
    """

    engine: EngineName | None = None
    memory: str | int | None = None
    table: str | None = None
    query: str | None = None
    timeout: float = 600.0

    @cached_property
    def bytes(self) -> int:
        """The memory in bytes."""
        return read_memory(self.memory)


_KINDS: Mapping[str, Kind[Any]] = {
    "engine": Choice(("memory", "duckdb")).or_none("to choose by the size of the file"),
    "table": Text("the name of a table").or_none(),
    "query": Text("a query").or_none(),
    "timeout": Number(above=0, at_most=86_400).or_none(),
}


def split_engine_options(given: Mapping[str, Any]) -> tuple[Where, Any]:
    """(where rows are counted, the other options)."""
    names = [one.name for one in fields(Where)]
    own = {name: value for name, value in given.items() if name in names and value is not None}
    for name, kind in _KINDS.items():
        if name in own:
            kind.check(name, own[name])
    return Where(**own), {name: value for name, value in given.items() if name not in names}
