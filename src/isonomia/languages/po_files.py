"""Catalogs in the format of gettext: ``msgid`` and ``msgstr``, each a text in quotes or several below each other."""

from __future__ import annotations

import json

#: Forms of gettext that these catalogs do not use: plural and context are part of our templates.
_UNUSED = ("msgctxt", "msgid_plural", "msgstr[", "#,", "#|", "#~")


def read_po(text: str) -> dict[str, str]:
    """The translation of each template; an entry without one is left out, and so is the header.

    >>> read_po('msgid ""\\nmsgstr "Language: x"\\n\\nmsgid "a "\\n"b"\\nmsgstr "\\\\"c\\\\""')
    {'a b': '"c"'}
    """
    found: dict[str, str] = {}
    entry = {"msgid": "", "msgstr": ""}
    key = "msgstr"
    for number, line in enumerate([*text.splitlines(), 'msgid ""'], 1):
        words = line.strip()
        if not words or (words.startswith("#") and not words.startswith(_UNUSED)):
            continue
        if words.startswith(_UNUSED):
            raise ValueError(f"line {number}: {words.split()[0]!r} is not used in these catalogs")
        if words.startswith("msgid "):
            if entry["msgid"] and entry["msgstr"]:
                found[entry["msgid"]] = entry["msgstr"]
            entry, key = {"msgid": "", "msgstr": ""}, "msgid"
        elif words.startswith("msgstr "):
            key = "msgstr"
        elif not words.startswith('"'):
            raise ValueError(f"line {number}: expected msgid, msgstr or a text in quotes; got {words[:40]!r}")
        entry[key] += json.loads(words[words.index('"') :])  # the quotes and escapes are those of JSON
    return found
