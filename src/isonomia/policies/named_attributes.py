"""The protected attributes that rules name: a rule about an attribute that nobody examines must not be passed over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from isonomia.errors import SpecError, close_to
from isonomia.policies.rules import BaseRule


def named_attributes(rule: BaseRule) -> tuple[str, ...]:
    """The protected attributes that a rule names; none for a rule about all of them."""
    return tuple(getattr(rule, "attributes", ()))


def absent_attributes(rule: BaseRule, known: Sequence[str]) -> tuple[str, ...]:
    """Those of them that are not protected attributes of the data.

    >>> from isonomia.policies import FindingsRule
    >>> absent_attributes(FindingsRule(name="calm", attributes=("sex", "race")), known=["sex"])
    ('race',)
    """
    return tuple(name for name in named_attributes(rule) if name not in known)


def check_attributes(rules: Iterable[BaseRule], known: Sequence[str]) -> None:
    """Refuse rules none of whose attributes is protected: nothing would be examined.

    Raises
    ------
    SpecError
        With every such rule, and the nearest names.
    """
    problems = []
    for rule in rules:
        absent = absent_attributes(rule, known)
        if absent and len(absent) == len(named_attributes(rule)):
            names = ", ".join(repr(name) for name in absent)
            problems.append(
                f"The rule {rule.id!r} of the policy names {names}, not a protected attribute of the data."
                f"{close_to(absent[0], known)} Declare it as protected, or change `attributes` of the rule."
            )
    if len(problems) == 1:
        raise SpecError(problems[0])
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise SpecError(f"{len(problems)} rules of the policy do not fit the data:\n{listed}", problems)
