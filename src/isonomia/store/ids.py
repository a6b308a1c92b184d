"""Ids that sort by the time they were made, and times in UTC."""

from __future__ import annotations

import secrets
import time
import uuid
from datetime import UTC, datetime


def new_id() -> str:
    """A UUID of version 7 (RFC 9562): 48 bits of milliseconds, then 74 random bits.

    >>> one = uuid.UUID(new_id())
    >>> one.version, one.variant == uuid.RFC_4122
    (7, True)
    """
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds & (1 << 48) - 1) << 80 | 0x7 << 76 | secrets.randbits(12) << 64
    return str(uuid.UUID(int=value | 0b10 << 62 | secrets.randbits(62)))


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)
