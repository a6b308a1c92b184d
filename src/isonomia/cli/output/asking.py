"""The one question of an audit at a terminal: whom are groups compared with?"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from isonomia.cli.output.screen import Screen, printable
from isonomia.languages import Message, msg
from isonomia.languages.naming import both

if TYPE_CHECKING:
    from isonomia.data import Dataset
    from isonomia.subject import Subject


def at_a_terminal() -> bool:
    """Whether somebody can read a question and answer it."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def asks_reference(screen: Screen, data: Dataset, settings: Mapping[str, Any]) -> bool:
    """Whether to ask: somebody is there, and for some attribute nobody named whom its groups are compared with."""
    open_ = set(data.protected) - set(data.privileged)
    return screen.talks and at_a_terminal() and bool(open_) and settings.get("reference") is None


def asked_reference(screen: Screen, subject: Subject) -> dict[str, Any]:
    """The reference as the answer names it; nothing where the proposal is kept."""
    from isonomia.audit.reference_named import compared_with
    from isonomia.cli.options.roles import read_privileged

    proposed = compared_with(subject)
    if not proposed:
        return {}
    groups = both(Message("{group}", {"group": group}) for group in proposed.values())
    question = msg(
        "Groups are compared with the best-off one: {groups}. Press Enter to keep that, or name others (sex=Male): ",
        groups=groups,
    )
    sys.stderr.write(printable(question.text(screen.language)))
    sys.stderr.flush()
    answer = sys.stdin.readline().strip()
    if not answer:
        return {}
    named = {} if subject.dataset is None else dict(subject.dataset.privileged)
    return {"reference": {**named, **read_privileged([answer])}}
