"""Names that are the same in every release: of people, of analyses, of questions asked before."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from isonomia.errors import StoreError

_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


def who_key(who: Mapping[str, Any]) -> str:
    """People, as columns and values, in one text: sorted by column, and escaped so that no two are the same.

    Everything but ASCII letters, digits and ``_.-~`` is percent-encoded as UTF-8 (a lone surrogate as its three bytes).
    The empty text is everyone.

    >>> who_key({"sex": "F", "race": "B"}), who_key({"a": "x&b=y"}), who_key({"a": "x", "b": "y"}), who_key({})
    ('race=B&sex=F', 'a=x%26b%3Dy', 'a=x&b=y', '')
    """
    return "&".join(sorted(f"{escaped(column)}={escaped(value)}" for column, value in who.items()))


def people_of(key: str) -> dict[str, str]:
    """The columns and values behind a `who_key`.

    >>> people_of(who_key({"a": "x&b=y é"}))
    {'a': 'x&b=y é'}
    """
    parts = (part.partition("=") for part in key.split("&") if part)
    return {_unescaped(column): _unescaped(value) for column, _, value in parts}


def escaped(text: object) -> str:
    """A text in ASCII letters, digits, ``_.-~`` and percent signs; different texts stay different."""
    return quote(str(text).encode("utf-8", "surrogatepass"), safe="")


def _unescaped(text: str) -> str:
    return unquote(text, encoding="utf-8", errors="surrogatepass")


def check_slug(name: object, what: str = "analysis") -> str:
    """A name of an analysis or a benchmark, or an error that says what a name may be."""
    if not isinstance(name, str) or not _SLUG.fullmatch(name):
        raise StoreError(
            f"`{what}` must be a name of at most 100 lower-case letters, digits, '.', '_' and '-', such as 'loans'; "
            f"got {name!r}."
        )
    return name


def digest(value: Any) -> str:
    """The SHA-256 of a value's canonical JSON: keys sorted, no spaces, ASCII.

    >>> digest({"b": 1, "a": [2]}) == digest({"a": [2], "b": 1})
    True
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def printable(text: object, limit: int = 500) -> str:
    """A text that both databases take: control characters and lone surrogates are written as escapes, long ones cut."""
    kept = str(text)[:limit]
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in kept)
