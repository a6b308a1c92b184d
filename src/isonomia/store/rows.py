"""What the tables hold of a report: everything that is listed, searched or followed over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from isonomia.audit import Report, figures_of
from isonomia.evidence import SEVERITIES, Estimate, Finding, finite, folding
from isonomia.languages import encode
from isonomia.report import Criterion
from isonomia.store.keys import digest, escaped, printable, who_key

#: What a column of whole numbers holds.
_LARGEST = (1 << 63) - 1
Rows = list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class RunRows:
    """The rows of one run, without its id: of the table `run`, and of those that belong to it."""

    run: dict[str, Any]
    parts: Mapping[str, Rows] = field(default_factory=dict)


def rows_of(report: Report) -> RunRows:
    """The rows of an audit's report."""
    document = report.document
    created = read_time(document.created)
    marks, policy, verdict = document.fingerprint, document.policy, document.verdict
    worst = next((grade for grade in SEVERITIES if document.severities[grade]), None)
    run = {
        "kind": "audit",
        "state": "done",
        "created": created,
        "dataset_fp": _text(marks.get("data_sha256")),
        "model_fp": _text(marks.get("model_sha256")),
        "spec_hash": _text(marks.get("spec_sha256")),
        "policy_id": None if verdict is None else printable(verdict.policy),
        "policy_hash": None if policy is None else digest(encode(policy)),
        "seed": _whole(marks.get("seed")),
        "version": _text(marks.get("isonomia")),
        "task": _text(document.subject.get("task")),
        "rows": _whole(document.subject.get("rows")),
        "verdict": None if verdict is None else verdict.outcome,
        "worst": worst,
        "n_findings": len(document.findings),
    }
    parts: dict[str, Rows] = {
        "outcome": [
            {
                "check": printable(section.code),
                "outcome": section.outcome,
                "seconds": finite(section.seconds),
                "reason": encode(section.reason),
            }
            for section in document.sections
        ],
        "criterion": [_criterion(index, one) for index, one in enumerate(() if verdict is None else verdict.criteria)],
        "finding": finding_rows(document.findings),
        "figure": _figures(report, created),
    }
    return RunRows(run=run, parts=parts)


def finding_rows(findings: Sequence[Finding]) -> Rows:
    """Findings in their order, with the fold each belongs to."""
    folds = {index: number for number, fold in enumerate(folding(findings)) for index in fold}
    return [_finding(index, one, folds[index]) for index, one in enumerate(findings)]


def read_time(text: str) -> datetime:
    """A time as a report writes it; now where it has none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return datetime.now(UTC)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _criterion(index: int, criterion: Criterion) -> dict[str, Any]:
    return {
        "place": index,
        "name": printable(criterion.name),
        "who_key": who_key(criterion.who),
        "outcome": criterion.outcome,
        **_interval(criterion.estimate),
        "threshold": finite(criterion.threshold),
        "citation": printable(criterion.citation),
    }


def _finding(index: int, finding: Finding, fold: int) -> dict[str, Any]:
    return {
        "place": index,
        "code": printable(finding.code),
        "check": printable(finding.check),
        "severity": finding.severity,
        "who_key": who_key(finding.who),
        "n": finding.n,
        **_interval(finding.estimate),
        "magnitude": finite(finding.magnitude),
        "p_adjusted": finite(finding.p_adjusted),
        "fold": fold,
        "message": encode(finding.message),
    }


def _figures(report: Report, at: datetime) -> Rows:
    return [
        {
            "place": index,
            "at": at,
            "metric": escaped(figure.metric),
            "measure": figure.measure,
            "attribute": attribute_key(figure.attributes),
            "who_key": who_key({str(column): str(value) for column, value in figure.group}),
            **_interval(figure.estimate),
            "se": figure.error,
            "n": figure.estimate.n or None,
        }
        for index, figure in enumerate(figures_of(report))
    ]


def attribute_key(names: tuple[str, ...]) -> str:
    """Attributes in one text, in any order the same.

    >>> attribute_key(("sex", "race"))
    'race&sex'
    """
    return "&".join(sorted(escaped(name) for name in names))


def _interval(estimate: Estimate) -> dict[str, float | None]:
    return {name: finite(getattr(estimate, name)) for name in ("value", "low", "high")}


def _text(value: Any) -> str | None:
    return None if value is None else printable(value)


def _whole(value: Any) -> int | None:
    """A whole number that a column can hold; the record has all of them."""
    return value if isinstance(value, int) and abs(value) <= _LARGEST else None
