"""One check after the other: what it cannot answer, and what goes wrong, is stated in its section and never hidden.

Whatever goes wrong in a check, raw errors of a dependency, a model or a plug-in included, costs that check alone: the
audit goes on, its exit code is 5, and its report says what failed. Two things end an audit: the caller's wish, and
options that do not suit the data. Checks with options of their own are run first, so that a wrong one shows before
hours of work.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import Check
from isonomia.audit.naming import in_words
from isonomia.errors import (
    FAULTS,
    BudgetError,
    IsonomiaError,
    MissingExtraError,
    NotApplicable,
    SourceError,
    SpecError,
)
from isonomia.evidence import Result
from isonomia.languages import Message, error_message, fault_message, msg
from isonomia.policies import Policy
from isonomia.report import Section
from isonomia.subject import Subject

Given = Mapping[str, Mapping[str, Any]]


def examine_all(
    chosen: Sequence[Check], subject: Subject, options: Given, policy: Policy | None, *, settled: bool = False
) -> list[Section]:
    """A section for each check, in the order of the checks; once the source of the rows is lost, the rest fails.

    `settled` says that the caller named what all checks share, such as the reference group.
    """
    found: dict[str, Section] = {}
    lost: Message | None = None
    with subject.progress.stage("audit", msg("Running checks"), total=len(chosen)) as stage:
        for entry in stage.over(sorted(chosen, key=lambda one: not options.get(one.id))):
            with subject.progress.stage(entry.id, entry.title, total=1) as within:
                try:
                    section = _section(entry, subject, options.get(entry.id, {}), policy, lost, settled=settled)
                except SourceError as error:
                    lost = error_message(error)
                    section = _ended(entry, "failed", reason=lost)
                within.at(1, result=section)
            found[entry.id] = section
    return [found[entry.id] for entry in chosen]


def _ended(entry: Check, outcome: Any, **parts: Any) -> Section:
    return Section(entry.id, entry.title, entry.question, outcome, topic=entry.topic, **parts)


def _section(
    entry: Check,
    subject: Subject,
    options: Mapping[str, Any],
    policy: Policy | None,
    lost: Message | None,
    *,
    settled: bool,
) -> Section:
    if lost is not None:
        return _ended(entry, "failed", reason=lost)
    started = time.perf_counter()
    try:
        section = _examined(entry, subject, options, policy)
    except SourceError:
        raise
    except FAULTS as error:
        given = settled or bool(options) or (entry.by_policy and policy is not None)
        _end_if_wished(error, subject, given=given)
        section = _ended(entry, "failed", reason=fault_message(error, entry.run.__module__))
    return replace(section, seconds=time.perf_counter() - started)


def _end_if_wished(error: BaseException, subject: Subject, *, given: bool) -> None:
    """Raise what is not the check's fault: an answer of the caller's to an event, options that do not suit the data."""
    if subject.progress.raised is not None:
        raise subject.progress.raised
    if isinstance(error, SpecError) and given and isinstance(error.__cause__, IsonomiaError | None):
        raise error


def _examined(entry: Check, subject: Subject, options: Mapping[str, Any], policy: Policy | None) -> Section:
    subject.sampled()  # by another check
    try:
        result = entry.examine(subject, options, policy)
    except NotApplicable as error:
        return _ended(entry, "not_applicable", reason=error_message(error))
    except (MissingExtraError, BudgetError) as error:  # it applies, and was left out
        return _ended(entry, "skipped", reason=error_message(error))
    if not isinstance(result, Result):
        raise TypeError(f"the check returned {type(result).__name__}; a Result was expected")
    result = replace(result, notes=(*result.notes, *(note for note in subject.sampled() if note not in result.notes)))
    section = _ended(entry, "issue" if result.findings else "passed", result=in_words(result))
    section.to_dict()  # what cannot be written shows here, not when a whole report is
    return section
