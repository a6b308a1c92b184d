"""An audit repeated as its report records it, and its figures beside the recorded ones."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from isonomia.audit.check_registry import CHECKS
from isonomia.audit.figures import ReportFigure, figures_of
from isonomia.audit.recorded_spec import SETTINGS
from isonomia.audit.report import Report
from isonomia.audit.runner import audit
from isonomia.data import Dataset, read
from isonomia.errors import DataError
from isonomia.events import ProgressLike
from isonomia.evidence import Estimate
from isonomia.languages import Message, msg
from isonomia.models import Model, Trust, load_model
from isonomia.report import to_json

#: Figures that differ by less, relative to their size, are the same: sums in another order.
CLOSE = 1e-9
#: Parts of a record that a second audit has to give again.
PARTS = ("subject", "verdict", "findings", "balance_sheet", "checks")
#: A section that the store adds.
_SINCE = "since_last_run"


@dataclass(frozen=True)
class Difference:
    """A figure that did not come out the same; a missing one where the second audit does not have it."""

    recorded: ReportFigure
    again: Estimate


def why_not_repeatable(report: Report, model: Any, word: Trust) -> Message | None:
    """Why the audit cannot be repeated; None where it can."""
    spec = report.document.spec
    lost = [str(name) for name in spec.get("unrecorded", ())]
    if lost:
        return msg("the report does not record all that was given: {names}", names=", ".join(lost))
    if "model" in report.document.subject and model is None:
        return msg("the audit had a model: name it too (--model)")
    files = [] if word.everything else list(_files(spec))
    if files:
        return msg("the audit read {files}, which the report names: allow it (--trust)", files=", ".join(files))
    return None


def _files(spec: Mapping[str, Any]) -> Iterator[str]:
    """Files that options of checks name."""
    options = spec.get("options", {})
    for code, given in options.items() if isinstance(options, Mapping) else ():
        if code in CHECKS.names() and isinstance(given, Mapping):
            yield from (str(given[name]) for name in CHECKS[code].files if given.get(name) is not None)


def recorded_rows(data: Any, report: Report) -> Dataset:
    """The data in the roles that the report records."""
    roles = _recorded(report, "dataset")
    return data.with_roles(**roles) if isinstance(data, Dataset) else read(data, **roles)


def recorded_model(model: Any, report: Report, word: Trust) -> Model | None:
    """The model with the options that the report records."""
    if model is None:
        return None
    options = _recorded(report, "model")
    if isinstance(model, str | os.PathLike):
        return load_model(model, trust=word, **options)
    return Model.of(model, **{name: value for name, value in options.items() if name != "format"})


def repeated(report: Report, rows: Dataset, model: Model | None, progress: ProgressLike) -> Report:
    """The audit once more, with the checks, options and settings of the report."""
    settings = _recorded(report, "settings")
    return audit(
        rows,
        model,
        checks=report.document.spec.get("checks", ()),
        options=_recorded(report, "options"),
        policy=report.policy,
        language=report.language,
        progress=progress,
        **{name: settings[name] for name in SETTINGS if name in settings},
    )


def _recorded(report: Report, part: str) -> dict[str, Any]:
    found = report.document.spec.get(part)
    if not isinstance(found, Mapping):
        raise DataError(f"The report does not record what was asked (`spec.{part}`), so it cannot be repeated.")
    return dict(found)


def compared_figures(report: Report, again: Report) -> tuple[list[Difference], int]:
    """The figures that did not come out the same, and how many were compared."""
    known = {one.key: one.estimate for one in figures_of(again)}
    found = figures_of(_of_audit(report))
    missing = Estimate.missing(msg("not in the second audit"))
    differing = [
        Difference(one, other) for one in found if not _same_ends(one.estimate, other := known.pop(one.key, missing))
    ]
    return differing, len(found)


def _of_audit(report: Report) -> Report:
    """The report without the section that a store adds."""
    kept = tuple(section for section in report.document.sections if section.code != _SINCE)
    return Report(replace(report.document, sections=kept))


def _same_ends(one: Estimate, other: Estimate) -> bool:
    return _same([one.value, one.low, one.high], [other.value, other.low, other.high])


def other_parts(report: Report, again: Report) -> str:
    """The parts of the record that a second audit gives otherwise, though no figure differs."""
    records = [to_json(_of_audit(one).document) for one in (report, again)]
    for record in records:
        record["balance_sheet"] = {**(record["balance_sheet"] or {}), "notes": []}  # how a file was read
    return ", ".join(part for part in PARTS if not _same(records[0][part], records[1][part]))


def _same(one: Any, other: Any) -> bool:
    """Whether two values of JSON are the same, numbers but for the last digits."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if _is_number(one) and _is_number(other):
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE) or (one != one and other != other)
    return type(one) is type(other) and bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
