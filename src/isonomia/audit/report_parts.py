"""Parts of a report as people look at them in Python: findings that print as lines, and tables of them as frames."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from isonomia.data import to_frame
from isonomia.evidence import Estimate, Finding, Fold
from isonomia.parameters import Choice
from isonomia.report import Document

#: Tables of a report.
Part = Literal["findings", "entries", "criteria"]


class Findings(tuple[Finding, ...]):
    """Findings, the worst first; in Python they print as lines, in a notebook as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self:
            return "no findings"
        return "\n".join(f"{one.severity:<8}  {one.message}" for one in self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{one.severity}</td><td style='text-align:left'>{html.escape(str(one.message))}</td>"
            f"<td>{html.escape(one.check)}</td></tr>"
            for one in self
        )
        return f"<table><tr><th>severity</th><th>finding</th><th>check</th></tr>{rows}</table>"


def part_frame(document: Document, part: Part) -> Any:
    """A part of a report as a frame: pandas where it is installed, else Polars, else PyArrow."""
    Choice(tuple(_PARTS)).check("part", part)
    rows, columns = _PARTS[part](document)
    return to_frame({name: [_whole(row.get(name)) for row in rows] for name in columns})


def _whole(value: Any) -> Any:
    """The value; half of a surrogate pair, which no frame holds, becomes a question mark."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _findings(document: Document) -> tuple[list[dict[str, Any]], Sequence[str]]:
    return [_finding(one) for one in document.findings], (
        *("severity", "check", "code", "message", "who", "reference", "n", *_FIGURE, *_PEOPLE),
        *("p_value", "p_adjusted", "threshold", "remedy"),
    )


def _finding(one: Finding) -> dict[str, Any]:
    fields = {name: getattr(one, name) for name in ("severity", "check", "code", "n", "p_value", "p_adjusted")}
    return {
        **fields,
        "message": str(one.message),
        "who": _people(one.who),
        "reference": _people(one.reference),
        "threshold": one.threshold,
        "remedy": one.remedy,
        **_figure(one.estimate),
        **({} if one.people is None else dict(zip(_PEOPLE, _figure(one.people).values(), strict=True))),
    }


def _entries(document: Document) -> tuple[list[dict[str, Any]], Sequence[str]]:
    return [_entry(fold) for fold in document.folds], (
        "severity",
        "message",
        "who",
        "n",
        *_FIGURE,
        *_PEOPLE,
        "findings",
        "checks",
    )


def _entry(fold: Fold) -> dict[str, Any]:
    return {**_finding(fold.first), "findings": len(fold.findings), "checks": ", ".join(fold.checks)}


def _criteria(document: Document) -> tuple[list[dict[str, Any]], Sequence[str]]:
    criteria = () if document.verdict is None else document.verdict.criteria
    rows = [
        {
            "criterion": str(one.name),
            "outcome": one.outcome,
            "who": _people(one.who),
            "reference": _people(one.reference),
            **_figure(one.estimate),
            "side": one.side,
            "threshold": one.threshold,
            "upper": one.upper,
            "reason": None if one.reason is None else str(one.reason),
        }
        for one in criteria
    ]
    return rows, ("criterion", "outcome", "who", "reference", *_FIGURE, "side", "threshold", "upper", "reason")


_FIGURE = ("value", "low", "high")
_PEOPLE = ("people", "people_low", "people_high")
_PARTS: Mapping[str, Callable[[Document], tuple[list[dict[str, Any]], Sequence[str]]]] = {
    "findings": _findings,
    "entries": _entries,
    "criteria": _criteria,
}


def _figure(estimate: Estimate) -> dict[str, Any]:
    return {name: getattr(estimate, name) for name in _FIGURE}


def _people(who: Mapping[str, str]) -> str:
    return ", ".join(f"{column}={value}" for column, value in who.items())
