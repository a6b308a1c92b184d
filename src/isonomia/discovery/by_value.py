"""The counts of ``dsn_by_attr_value``: of every protected value, and of all of them together."""

from __future__ import annotations

from typing import Any

#: The entry of everyone; those of values are "attribute=value", so no value is called that.
TOTAL = "total"


def shares(tested: int, found: int, seconds: float) -> dict[str, Any]:
    """TSN and DSN with SUR, the share found of those tested, and DSS, the seconds per finding (None without any).

    >>> shares(200, 5, 2.0)
    {'TSN': 200, 'DSN': 5, 'SUR': 0.025, 'DSS': 0.4}
    """
    return {
        "TSN": tested,
        "DSN": found,
        "SUR": found / tested if tested else None,
        "DSS": seconds / found if found else None,
    }
