"""A result that is published as a notice: its facts, its tables, what closes it, and nothing to open or to sort."""

from __future__ import annotations

from dataclasses import dataclass, field

from isonomia.evidence import Result, Table
from isonomia.languages import Message

#: What a notice says in a line: its name and its value.
Fact = tuple[Message, Message | str]


@dataclass(frozen=True, repr=False)
class Notice(Result):
    """A result to be published.

    Attributes
    ----------
    facts, closing : tuple of (Message, Message or str)
        What stands before and after the tables.
    shown : tuple of Table
        The tables as they are published; `tables` holds the figures behind them.
    """

    facts: tuple[Fact, ...] = field(default=(), kw_only=True)
    shown: tuple[Table, ...] = field(default=(), kw_only=True)
    closing: tuple[Fact, ...] = field(default=(), kw_only=True)
