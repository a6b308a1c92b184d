"""Records as they lie in the database: compressed, with the hash of what they were."""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import Any

from isonomia.errors import StoreError

#: A record larger than this is refused, as a report of that size is.
MAX_BYTES = 256 << 20


def pack(record: bytes) -> tuple[bytes, str]:
    """A record compressed, and its SHA-256 before that."""
    if len(record) > MAX_BYTES:
        raise StoreError(f"A record of {len(record):,} bytes is too large for a store; the limit is {MAX_BYTES:,}.")
    return zlib.compress(record, 6), hashlib.sha256(record).hexdigest()


def unpack(packed: bytes, sha256: str, what: str) -> bytes:
    """The record that was packed, byte by byte; an error where it is not the same any more."""
    reader = zlib.decompressobj()
    try:
        record = reader.decompress(packed, MAX_BYTES)
    except zlib.error as error:
        raise StoreError(f"The record of {what} is damaged ({error}). Restore the store from a backup.") from None
    if not reader.eof or hashlib.sha256(record).hexdigest() != sha256:
        raise StoreError(
            f"The record of {what} is damaged: its hash is not the one that was kept. Restore the store from a backup."
        )
    return record


def as_bytes(value: Any) -> bytes:
    """JSON-safe values as text that any reader takes."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def from_bytes(record: bytes, what: str) -> Any:
    """The values of a record."""
    try:
        return json.loads(record)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise StoreError(f"The record of {what} is not JSON ({error}).") from None
