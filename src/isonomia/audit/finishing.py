"""What follows the checks, step by step: a step that goes wrong costs a section or itself, never the audit.

A step that works on one section at a time fails that section. A step about all of them adds a section of its own that
failed, so that the exit code is 5 and the report says what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import get_args

from isonomia.audit.check_registry import Family
from isonomia.audit.multiplicity import Families, adjust_families
from isonomia.errors import FAULTS, SpecError
from isonomia.languages import Message, fault_message, msg
from isonomia.report import Section

Step = Callable[[Sequence[Section]], Sequence[Section]]

_PURPOSE = msg("Did what follows the checks come to its end?")


@dataclass
class Faults:
    """What went wrong after the checks: one section for each step."""

    sections: dict[str, Section] = field(default_factory=dict)

    def add(self, code: str, title: Message, error: BaseException) -> Message:
        """Note that a step failed; returns why."""
        reason = fault_message(error)
        name = f"step_{code}"  # never that of a check
        self.sections.setdefault(name, Section(name, title, _PURPOSE, "failed", reason=reason))
        return reason

    @contextmanager
    def of(self, code: str, title: Message) -> Iterator[None]:
        """A step that is left out where it fails; a policy that asks for what is not there is the user's to repair."""
        try:
            yield
        except SpecError:
            raise
        except FAULTS as error:
            self.add(code, title, error)


def each(sections: Sequence[Section], step: Step) -> list[Section]:
    """The sections after a step that works on one at a time."""
    return [_alone(section, step) for section in sections]


def _alone(section: Section, step: Step) -> Section:
    if section.result is None:
        return section
    try:
        return next(iter(step([section])))
    except FAULTS as error:
        return failed(section, error)


def failed(section: Section, error: BaseException) -> Section:
    """The section without its result, and why."""
    return replace(section, outcome="failed", result=None, reason=fault_message(error))


def adjusted(sections: Sequence[Section], attributes: Sequence[str], faults: Faults) -> tuple[list[Section], Families]:
    """Multiplicity over the whole run, and findings that follow from it; a section that it cannot take is failed."""
    try:
        return _adjusted(sections, attributes)
    except FAULTS as error:
        kept = each(sections, lambda alone: _adjusted(alone, attributes)[0])
        if any(one.outcome == "failed" and two.outcome != "failed" for one, two in zip(kept, sections, strict=True)):
            return adjusted(kept, attributes, faults)
        faults.add("multiplicity", msg("Correction for many tests"), error)
        return list(sections), Families({family: {} for family in get_args(Family)}, {})


def _adjusted(sections: Sequence[Section], attributes: Sequence[str]) -> tuple[list[Section], Families]:
    ran = [section for section in sections if section.result is not None]
    results, families = adjust_families([section.result for section in ran if section.result is not None], attributes)
    fresh = {section.code: result for section, result in zip(ran, results, strict=True)}
    return [replace(section, result=fresh.get(section.code)) for section in sections], families
