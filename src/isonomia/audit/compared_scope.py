"""What two audits examined: what one of them looked at and the other did not stands above any "better" or "worse"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from isonomia.audit.compared_criteria import same_policy
from isonomia.audit.figures import figures_of
from isonomia.audit.report import Report
from isonomia.evidence import Finding
from isonomia.languages import Message, msg
from isonomia.report import Section

#: Settings that change figures, and what they are called.
SETTINGS: Mapping[str, Message] = {
    "missing": msg("rows without a protected value"),
    "reference": msg("the group of reference"),
    "min_per_group": msg("the smallest group"),
    "level": msg("the level of intervals"),
}
#: The beginning of the codes of findings that the policy makes.
OF_POLICY = "policy."


@dataclass(frozen=True)
class Scope:
    """What each of two audits examined."""

    before: Report
    after: Report

    @cached_property
    def same_data(self) -> bool:
        """Whether both are about the same rows."""
        marks = [report.document.fingerprint.get("data_sha256") for report in (self.before, self.after)]
        return marks[0] is not None and marks[0] == marks[1]

    def unexamined(self, finding: Finding) -> bool:
        """Whether the second audit did not look at what a finding of the first one is about."""
        return _unexamined(finding, self.before, self.after)

    def unexamined_before(self, finding: Finding) -> bool:
        """Whether the first audit did not look at what a finding of the second one is about."""
        return _unexamined(finding, self.after, self.before)

    @property
    def dropped_breach(self) -> bool:
        """Whether the first audit exceeded a policy that the second one did not ask again."""
        verdict = self.before.verdict
        return verdict is not None and verdict.outcome == "exceeds" and not same_policy(self.before, self.after)

    @cached_property
    def differences(self) -> tuple[Message, ...]:
        """Where data, people, checks, rules and settings of the two audits differ, as sentences."""
        return tuple(_differences(self))


def _differences(scope: Scope) -> Iterator[Message]:
    old, new = scope.before, scope.after
    targets = [report.document.subject.get("target") for report in (old, new)]
    if targets[0] != targets[1]:
        yield msg("The audits are about different outcomes: {before} and {after}.", before=targets[0], after=targets[1])
    if dropped := _absent(old, new):
        yield msg("Not examined again: {checks}.", checks=_listed(dropped))
    if fresh := _absent(new, old):
        yield msg("Not examined before: {checks}.", checks=_listed(fresh))
    for name in sorted(_attributes(old) - _attributes(new)):
        yield msg("{column} is not a protected attribute any more, so nothing about it was examined.", column=name)
    if not same_policy(old, new) and (old.verdict is not None or new.verdict is not None):
        yield _policies(old, new)
    if not scope.same_data:
        yield _rows(old, new)
    yield from _settings(old, new)
    yield from _best_off(old, new)


def _absent(report: Report, other: Report) -> list[Section]:
    """The sections of a report with a result that the other has none of."""
    examined = _examined(other)
    return [one for one in report.document.sections if one.result is not None and one.code not in examined]


def _examined(report: Report) -> set[str]:
    """The codes of the checks that came to a result."""
    return {section.code for section in report.document.sections if section.result is not None}


def _listed(sections: list[Section]) -> Message | str | None:
    return Message.join(section.title for section in sections)


def _attributes(report: Report) -> set[str]:
    return set(report.document.subject.get("protected", ()))


def _unexamined(finding: Finding, of: Report, other: Report) -> bool:
    columns = {*finding.who, *finding.columns}
    if columns & (_attributes(of) - _attributes(other)):
        return True
    if finding.code.startswith(OF_POLICY):
        return not same_policy(of, other)
    if finding.who and columns <= _attributes(of) and frozenset(finding.who.items()) in _groups(of) - _groups(other):
        return True
    made_by = next((section.code for section in of.document.sections if finding in section.findings), None)
    return made_by is not None and made_by not in _examined(other)


def _groups(report: Report) -> set[frozenset[tuple[str, str]]]:
    """The groups of people of whom a report has figures."""
    groups = (figure.group for figure in figures_of(report))
    return {frozenset((str(column), str(value)) for column, value in group) for group in groups if group}


def _policies(old: Report, new: Report) -> Message:
    if old.verdict is None or new.verdict is None:
        named = next(report.verdict.title for report in (old, new) if report.verdict is not None)
        if new.verdict is None:
            return msg("The second audit has no policy (before: {policy}), so it has no verdict.", policy=named)
        return msg("The first audit had no policy (now: {policy}), so there is no verdict to compare.", policy=named)
    return msg(
        "The two audits used different policies ({before}; {after}), so their verdicts cannot be compared.",
        before=old.verdict.title,
        after=new.verdict.title,
    )


def _rows(old: Report, new: Report) -> Message:
    n_before, n_after = (report.document.subject.get("rows") for report in (old, new))
    return msg("Other data: {before:int} rows before, {after:int} now.", before=n_before, after=n_after)


def _settings(old: Report, new: Report) -> Iterator[Message]:
    first, second = (report.document.fingerprint.get("settings", {}) for report in (old, new))
    for name, title in SETTINGS.items():
        if name in first and name in second and first[name] != second[name]:
            yield msg(
                "Another setting for {setting}: {before} before, {after} now.",
                setting=title,
                before=_said(first[name]),
                after=_said(second[name]),
            )


def _best_off(old: Report, new: Report) -> Iterator[Message]:
    """That another group is best off, so that gaps are taken from another one."""
    first, second = (report.document.subject.get("reference") for report in (old, new))
    if not isinstance(first, Mapping) or not isinstance(second, Mapping):
        return
    for name, before in first.items():
        after = second.get(name)
        if isinstance(before, Message) and isinstance(after, Message):
            groups = before.params.get("group"), after.params.get("group")
            if groups[0] != groups[1]:
                yield msg("Another group is best off: {before} before, {after} now.", before=groups[0], after=groups[1])


#: What settings are called; others as they are.
_VALUES: Mapping[Any, Message] = {
    "group": msg("a group of their own"),
    "exclude": msg("left out"),
    "error": msg("refused"),
    "best": msg("the best-off group"),
    "None": msg("chosen by the audit"),
}


def _said(value: Any) -> Message | str:
    return _VALUES.get(value, str(value))
