"""Which set of checks ran, and what the others would have asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isonomia.audit.check_registry import CHECKS, SETS, Check, CheckSet, choose_checks
from isonomia.languages import Message, msg

#: What is asked by some checks, the most important first: it is not examined where none of them was asked for.
_ASKED: tuple[tuple[Message, tuple[str, ...]], ...] = (
    (msg("gaps between groups"), ("group_fairness", "fairness_suite")),
    (msg("biased labels"), ("label_bias",)),
    (msg("proxies"), ("proxies",)),
    (msg("single pairs"), ("pairs",)),
    (msg("hidden subgroups"), ("hidden_subgroups",)),
    (msg("robustness"), ("perturb", "local_robustness", "scenarios", "sensitivity")),
    (msg("drift"), ("drift",)),
    (msg("why groups differ"), ("explain_gap", "explain_sensitive")),
    (msg("what would help"), ("mitigation",)),
)
#: How many of them are named.
_NAMED = 5
_TITLES: Mapping[CheckSet, Message] = {
    "quick": msg("Quick audit"),
    "standard": msg("Standard audit"),
    "full": msg("Full audit"),
}


def scope_of(chosen: Sequence[Check]) -> Message:
    """How many checks were asked for, by which set, and what nobody asked.

    >>> print(scope_of(choose_checks("full")))  # doctest: +ELLIPSIS
    Full audit: ... of ... checks.
    """
    codes = {entry.id for entry in chosen if entry.within in SETS}
    total = sum(entry.within in SETS for entry in CHECKS)
    counts = {"n": len(codes), "total": total}
    names = [name for name in SETS if codes == {entry.id for entry in choose_checks(name)}]
    said = (
        msg("{audit}: {n:int} of {total:int} checks.", audit=_TITLES[names[0]], **counts)
        if names
        else msg("{n:int} of {total:int} checks were asked for.", **counts)
    )
    left = [what for what, asking in _ASKED if not codes & {*asking}][:_NAMED]
    if not left:
        return said
    listed = left[0]
    for one in left[1:]:
        listed = Message("{before}, {one}", {"before": listed, "one": one})
    return msg("{said} Not examined: {what}. `--checks full` runs them.", said=said, what=listed)
