"""What the texts of the repository say about a version."""

from __future__ import annotations

import re


def version_of(text: str) -> str:
    """The version in `_version.py`.

    >>> version_of('__version__ = "0.1.0"')
    '0.1.0'
    """
    found = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    if found is None:
        raise SystemExit("src/isonomia/_version.py has no line: __version__ = ...")
    return found[1]


def notes_of(changelog: str, version: str) -> str:
    """The part of the changelog about one version, without its heading; nothing where there is none.

    >>> notes_of("# Changelog\\n\\n## [0.2.0] - 2027-01-01\\n\\nNew.\\n\\n## [0.1.0]\\n\\nFirst.\\n", "0.2.0")
    'New.\\n'
    """
    found = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## \[|\Z)", changelog, re.MULTILINE | re.DOTALL)
    return "" if found is None else found[1].strip() + "\n"


def undated(changelog: str, version: str) -> bool:
    """Whether the heading of a version lacks its date."""
    return not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE)
