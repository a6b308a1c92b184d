"""The report as JSON: the record that machines read, audits are compared with, and other forms leave no more room for.

Its shape is fixed by ``report/schema/report-1.1.json``. The same document gives the same record; only `created` and
`timings` differ between two runs of one spec.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from isonomia._version import __version__
from isonomia.evidence import Estimate, Result, finite
from isonomia.languages import Message
from isonomia.report.document import Criterion, Document, Section, Verdict

#: The first number changes when a reader of the older shape would break, the second when something is added.
SCHEMA_VERSION = "1.1"


def to_json(document: Document) -> dict[str, Any]:
    """The document as JSON-safe values: no NaN, no infinity, a missing number is null with a reason beside it.

    Examples
    --------
    >>> record = to_json(Document("Audit", {"dataset": "adult", "rows": 48842}))
    >>> record["schema_version"], record["verdict"]["outcome"], record["subject"]["rows"]
    ('1.1', 'not_applicable', 48842)
    """
    places: dict[str, list[int]] = {}
    for place, finding in enumerate(document.findings):
        places.setdefault(finding.check, []).append(place)
    return {
        "schema_version": SCHEMA_VERSION,
        "isonomia_version": __version__,
        "created": document.created,
        "title": plain(document.title),
        "assessment": document.assessment.to_dict(),
        "counts": {**document.counts, "total": len(document.sections)},
        "subject": plain(document.subject),
        "verdict": _verdict(document.verdict),
        "findings": [plain(finding.to_dict()) for finding in document.findings],
        "folds": _folds(document),
        "checks": {section.code: _section(section, places.get(section.code, [])) for section in document.sections},
        "balance_sheet": None if document.balance_sheet is None else _result(document.balance_sheet),
        "fingerprint": plain(document.fingerprint),
        "timings": {
            **{section.code: finite(section.seconds) for section in document.sections},
            **{str(step): finite(seconds) for step, seconds in document.timings.items()},
        },
    }


def _folds(document: Document) -> list[list[int]]:
    """Findings about the same thing, as places in the ranked list."""
    places: dict[int, list[int]] = {}
    for place, finding in enumerate(document.findings):
        places.setdefault(id(finding), []).append(place)
    return [[places[id(finding)].pop(0) for finding in fold.findings] for fold in document.folds]


def dumps(document: Document) -> str:
    """The record as JSON text, in ASCII so that any reader takes it."""
    return json.dumps(to_json(document), ensure_ascii=True, allow_nan=False, indent=1) + "\n"


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) that every record validates against."""
    text = files("isonomia.report").joinpath("schema", f"report-{SCHEMA_VERSION}.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def plain(value: Any) -> Any:
    """A value as JSON knows it.

    >>> plain({"a": (1, float("nan")), 2: Estimate(0.5)})["a"]
    [1, None]
    """
    if isinstance(value, Estimate):
        return value.to_dict()
    if isinstance(value, Message):
        return value.text()
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [plain(item) for item in items]
    if isinstance(value, str | bool | int | None):
        return value
    if isinstance(value, float):
        return finite(value)
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return plain(value.tolist())
    return str(value)


def _verdict(verdict: Verdict | None) -> dict[str, Any]:
    if verdict is None:
        return {
            "outcome": "not_applicable",
            "policy": None,
            "title": None,
            "source": "",
            "reason": "No policy was given.",
            "criteria": [],
        }
    return {
        "outcome": verdict.outcome,
        "policy": verdict.policy,
        "title": plain(verdict.title),
        "source": verdict.source,
        "reason": plain(verdict.reason),
        "criteria": [_criterion(criterion) for criterion in verdict.criteria],
    }


def _criterion(criterion: Criterion) -> dict[str, Any]:
    return {
        "name": plain(criterion.name),
        "outcome": criterion.outcome,
        "estimate": criterion.estimate.to_dict(),
        "side": criterion.side,
        "threshold": finite(criterion.threshold),
        "upper": finite(criterion.upper),
        "who": plain(criterion.who),
        "reference": plain(criterion.reference),
        "citation": criterion.citation,
        "reason": plain(criterion.reason),
    }


def _section(section: Section, findings: list[int]) -> dict[str, Any]:
    """A check; its findings are places in the ranked list, where their p-values are adjusted over the whole run."""
    body = _result(section.result) if section.result is not None else _EMPTY
    return {
        **body,
        "code": section.code,
        "title": plain(section.title),
        "purpose": plain(section.purpose),
        "outcome": section.outcome,
        "reason": plain(section.reason),
        "findings": findings,
    }


_EMPTY: Mapping[str, Any] = {"values": {}, "tables": {}, "pictures": [], "notes": []}


def _result(result: Result) -> dict[str, Any]:
    body: dict[str, Any] = plain(result.to_dict())
    del body["findings"]
    return body
