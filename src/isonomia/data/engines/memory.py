"""How much memory rows and groups may take."""

from __future__ import annotations

import os
import re

from isonomia.errors import SpecError

_UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
#: Less than this is not enough for an engine and the groups it returns.
LEAST = 128 * 10**6


def read_memory(given: str | int | None) -> int:
    """A number of bytes: given as one, as a text such as "512MB", or half of the machine's memory.

    >>> read_memory("512MB"), read_memory(1 << 30)
    (512000000, 1073741824)
    """
    if given is None:
        return max(LEAST, _machine() // 2)
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\s*", str(given).lower())
    if isinstance(given, bool) or found is None or found[2] not in _UNITS:
        raise SpecError(f"`memory` must be a number of bytes such as '512MB' or '2GB'; got {given!r}.")
    size = int(float(found[1]) * _UNITS[found[2]])
    if size < LEAST:
        raise SpecError(f"`memory` must be at least {LEAST // 10**6} MB; got {given!r}.")
    return size


def _machine() -> int:
    """Bytes of memory that the machine has; 8 GB where it does not say."""
    if not hasattr(os, "sysconf"):
        return 8 * 10**9
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
