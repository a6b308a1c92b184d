"""The report as JSON, for machines and for `compare`, and back: a stored report is the same report again.

Its shape is fixed by ``report/schema/report-1.0.json``. The same document gives the same JSON; only `created`,
`timings` and the hash differ between two runs of one spec.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from isonomia._version import __version__
from isonomia.errors import DataError, IsonomiaError, kind_of
from isonomia.evidence import Finding, Result, folding, ranking
from isonomia.languages import Words, decode, encode, msg
from isonomia.languages.field_types import check_fields
from isonomia.report.document import Document, Section, Verdict

#: The first number changes when a reader of the older shape would break, the second when something is added.
SCHEMA_VERSION = "1.0"
#: What a report's hash does not cover: itself, which version wrote the file, and how long the work took.
UNHASHED = ("sha256", "isonomia_version", "timings")


def to_json(document: Document) -> dict[str, Any]:
    """The document as JSON-safe values; `from_json` gives the same document again.

    Examples
    --------
    >>> record = to_json(Document("Audit", {"dataset": "adult", "rows": 48842}))
    >>> record["schema_version"], record["verdict"]["outcome"], record["subject"]["rows"]
    ('1.0', 'not_applicable', 48842)
    >>> to_json(from_json(record)) == record
    True
    """
    found = [finding for section in document.sections for finding in section.findings]
    order = ranking(found)
    ranks = iter({index: position for position, index in enumerate(order)}[index] for index in range(len(found)))
    record: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "isonomia_version": __version__,
        "created": document.created,
        "language": document.language,
        "title": encode(document.title),
        "assessment": document.assessment.to_dict(),
        "counts": {**document.counts, "total": len(document.sections)},
        "subject": encode(document.subject),
        "verdict": _NO_VERDICT if document.verdict is None else document.verdict.to_dict(),
        "policy": encode(document.policy),
        "findings": [found[index].to_dict() for index in order],
        "folds": folding([found[index] for index in order]),
        "checks": {
            section.code: _section(section, [next(ranks) for _ in section.findings]) for section in document.sections
        },
        "words": document.words.to_dict(),
        "balance_sheet": None if document.balance_sheet is None else document.balance_sheet.to_dict(),
        "fingerprint": encode(document.fingerprint),
        "spec": encode(document.spec),
        "timings": {
            **{section.code: encode(section.seconds) for section in document.sections},
            **{str(step): encode(seconds) for step, seconds in document.timings.items()},
        },
    }
    return {**record, "sha256": content_hash(record)}


def content_hash(record: Mapping[str, Any]) -> str:
    """The hash of a report's record: SHA-256 of its JSON with sorted keys, no spaces, and ASCII only.

    It covers every key but those of `UNHASHED`. It shows that a file was changed by accident or by somebody who did not
    know of it; it is no signature.

    Examples
    --------
    >>> record = to_json(Document("Audit", {"rows": 48842}))
    >>> record["sha256"] == content_hash(record) != content_hash({**record, "title": "Another"})
    True
    """
    covered = {key: value for key, value in record.items() if key not in UNHASHED}
    try:
        text = json.dumps(covered, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"The report is damaged ({kind_of(error)}). Run the audit again.") from None
    return hashlib.sha256(text.encode("ascii")).hexdigest()


_NO_VERDICT: Mapping[str, Any] = {
    "outcome": "not_applicable",
    "policy": None,
    "title": None,
    "source": "",
    "criteria": [],
    "reason": {"$": "message", **msg("No policy was given, so there is no verdict.").to_dict()},
}


def from_json(record: Mapping[str, Any]) -> Document:
    """The document that `to_json` wrote."""
    version = record.get("schema_version") if isinstance(record, Mapping) else None
    if not isinstance(version, str):
        raise DataError("This is not a report: it has no schema_version. Give the report.json of an audit.")
    major = SCHEMA_VERSION.split(".")[0]
    if version.split(".")[0] != major:
        raise DataError(
            f"The report has schema version {version!r:.40}; this version of Isonomia reads {major}.x. "
            "Use a newer version, or run the audit again."
        )
    try:
        return _document(record)
    except IsonomiaError as error:
        raise DataError(f"The report is damaged ({error}). Run the audit again.") from error
    except Exception as error:  # nothing in a file can be believed
        raise DataError(f"The report is damaged ({kind_of(error)}). Run the audit again.") from error


def _document(record: Mapping[str, Any]) -> Document:
    findings = [Finding.from_dict(finding) for finding in record["findings"]]
    timings = dict(record["timings"])
    verdict, sheet = record["verdict"], record["balance_sheet"]
    values = {
        "title": decode(record["title"]),
        "subject": decode(record["subject"]),
        "sections": tuple(
            _loaded_section(given, findings, decode(timings.pop(code, 0.0))) for code, given in record["checks"].items()
        ),
        "balance_sheet": None if sheet is None else Result.from_dict(sheet),
        "verdict": None if verdict["policy"] is None else Verdict.from_dict(verdict),
        "policy": decode(record["policy"]),
        "language": record["language"],
        "fingerprint": decode(record["fingerprint"]),
        "spec": decode(record["spec"]),
        "created": record["created"],
        "timings": decode(timings),
        "words": Words.from_dict(record.get("words", {})),
    }
    check_fields(Document, values)
    return Document(**values)


def _section(section: Section, findings: list[int]) -> dict[str, Any]:
    """A check; its findings are indices into the ranked list."""
    written = replace(section, result=None).to_dict()
    del written["seconds"]  # among the timings, which differ between runs
    if section.result is not None:
        written["result"] = Result.to_dict(section.result)  # of a subclass, what every result has
        del written["result"]["findings"]
    return {**written, "findings": findings}


def _loaded_section(given: Mapping[str, Any], findings: Sequence[Finding], seconds: float) -> Section:
    section = Section.from_dict({**given, "result": None, "seconds": seconds})
    if given["result"] is None:
        return section
    own = tuple(findings[index] for index in given["findings"])
    return replace(section, result=replace(Result.from_dict(given["result"]), findings=own))


def dumps(document: Document) -> str:
    """The report as JSON text, in ASCII so that any reader takes it."""
    return json.dumps(to_json(document), ensure_ascii=True, allow_nan=False, separators=(",", ":")) + "\n"


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) that every report validates against."""
    text = files("isonomia.report").joinpath("schema", f"report-{SCHEMA_VERSION}.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
