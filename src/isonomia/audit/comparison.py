"""Two audits side by side: did the new model get worse, and where?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from isonomia.audit.report import Report
from isonomia.errors import DataError
from isonomia.evidence import Result, Table, benjamini_hochberg, normal_p, normal_quantile
from isonomia.languages import Message, msg
from isonomia.metrics import METRICS
from isonomia.report import SCHEMA_VERSION

#: A report larger than this is refused.
MAX_BYTES = 256 << 20
#: A change counts as shown when its adjusted p-value is below this.
ALPHA = 0.05

Direction = Literal["worse", "better", "changed", "same"]


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """What changed from one report to another.

    Attributes
    ----------
    worse : bool
        Whether the verdict got worse, or a figure got worse by more than chance.
    tables
        ``findings``: those that are new and those that are gone; ``changes``: figures of both reports, their
        difference with an interval and an adjusted p-value; ``verdicts``: criteria of both.
    """

    worse: bool = False
    before: Mapping[str, Any] = field(default_factory=dict, compare=False)
    after: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def exit_code(self) -> int:
        """1 where something got worse, else 0."""
        return int(self.worse)


def compare(before: Any, after: Any) -> Comparison:
    """Compare two reports: `Report` objects, their dictionaries, or paths of ``report.json`` files.

    Figures are compared as estimates from two separate samples: z = difference / sqrt(se1^2 + se2^2) with standard
    errors read off the intervals. Where both reports are about the same rows this is cautious: shared noise counts
    twice.
    """
    old, new = _record(before, "before"), _record(after, "after")
    changes = _changes(old, new)
    findings = _findings(old, new)
    verdicts = _verdicts(old, new)
    order = {"meets": 0, "not_applicable": 0, "not_enough_evidence": 1, "exceeds": 2}
    outcomes = [record["verdict"]["outcome"] for record in (old, new)]
    verdict_worse = order[outcomes[1]] > order[outcomes[0]]
    figures_worse = "worse" in changes.columns["direction"]
    return Comparison(
        "comparison",
        msg("Comparison of two audits"),
        {"verdicts": verdicts, "findings": findings, "changes": changes},
        {"verdict_before": outcomes[0], "verdict_after": outcomes[1], "same_data": _same_data(old, new)},
        notes=_notes(old, new),
        worse=verdict_worse or figures_worse,
        before=old,
        after=new,
    )


def _record(given: Any, what: str) -> Mapping[str, Any]:
    if isinstance(given, Report):
        return given.to_dict()
    record = given
    if isinstance(given, str | Path):
        path = Path(given).expanduser()
        path = path / "report.json" if path.is_dir() else path
        if not path.is_file():
            raise DataError(f"There is no report at {str(given)!r}; give a report.json, or the folder it is in.")
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{str(path)!r} is larger than {MAX_BYTES:,} bytes; that is no report of Isonomia.")
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise DataError(f"{str(path)!r} is not JSON ({error}); give the report.json of an audit.") from None
    if not isinstance(record, Mapping) or "schema_version" not in record:
        raise DataError(f"The report to compare ({what}) has no schema_version; give the report.json of an audit.")
    if str(record["schema_version"]).split(".")[0] != SCHEMA_VERSION.split(".")[0]:
        raise DataError(
            f"The report to compare ({what}) has schema version {record['schema_version']}; this version of Isonomia "
            f"reads {SCHEMA_VERSION.split('.')[0]}.x. Run the audit again."
        )
    return record


def _figures(record: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Every figure by group, and every overall one: (group, metric) -> value, low, high."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for code in ("performance", "calibration"):
        for name, value in (record["checks"].get(code) or {}).get("values", {}).items():
            if isinstance(value, Mapping) and value.get("value") is not None:
                found["overall", name] = dict(value)
    table = ((record["checks"].get("group_fairness") or {}).get("tables") or {}).get("by_group")
    if table:
        names = table["columns"]
        metrics = [name for name in names if f"{name}_low" in names]
        for row in table["rows"]:
            cells = dict(zip(names, row, strict=True))
            for metric in metrics:
                if cells[metric] is not None:
                    ends = {"value": cells[metric], "low": cells[f"{metric}_low"], "high": cells[f"{metric}_high"]}
                    found[cells["group"], metric] = ends
    return found


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Table:
    first, second = _figures(old), _figures(new)
    shared = [key for key in first if key in second]
    value = np.array([[first[key]["value"], second[key]["value"]] for key in shared], dtype=float).reshape(-1, 2)
    error = np.array([[_error(first[key]), _error(second[key])] for key in shared], dtype=float).reshape(-1, 2)
    difference, spread = value[:, 1] - value[:, 0], np.sqrt((error**2).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(spread > 0, normal_p(difference / spread), np.where(difference == 0, 1.0, np.nan))
    adjusted = benjamini_hochberg(p)
    z = normal_quantile(0.95)
    columns = {
        "group": [key[0] for key in shared],
        "metric": [key[1] for key in shared],
        "before": value[:, 0],
        "after": value[:, 1],
        "difference": difference,
        "difference_low": difference - z * spread,
        "difference_high": difference + z * spread,
        "p_value": p,
        "p_adjusted": adjusted,
        "direction": [_direction(key[1], d, q) for key, d, q in zip(shared, difference, adjusted, strict=True)],
    }
    formats = dict.fromkeys(("before", "after", "difference", "difference_low", "difference_high"), "num4")
    formats |= {"p_value": "p", "p_adjusted": "p"}
    titles = {
        "group": msg("group"),
        "metric": msg("metric"),
        "before": msg("before"),
        "after": msg("after"),
        "difference": msg("difference"),
        "difference_low": msg("from"),
        "difference_high": msg("to"),
        "p_value": msg("p-value"),
        "p_adjusted": msg("p adjusted"),
        "direction": msg("direction"),
    }
    return Table(columns, formats, titles, msg("Figures before and after"))  # type: ignore[arg-type]


def _error(figure: Mapping[str, Any]) -> float:
    """The standard error behind an interval, read off its width."""
    if figure.get("low") is None or figure.get("high") is None:
        return float("nan")
    return float(figure["high"] - figure["low"]) / (2 * normal_quantile(figure.get("level", 0.95)))


def _direction(metric: str, difference: float, p_adjusted: float) -> Direction:
    if not p_adjusted < ALPHA or difference == 0:
        return "same"
    name = metric.split("[")[0]
    if name in ("gap", "slope"):
        return "changed"
    higher = METRICS[name].higher_is_better if name in METRICS else {"brier": False, "mce": False}.get(name)
    if higher is None:
        return "changed"
    return "better" if (difference > 0) == higher else "worse"


def _findings(old: Mapping[str, Any], new: Mapping[str, Any]) -> Table:
    # reports of schema 1.0 do not tell which columns a finding is about
    told = all("columns" in f for record in (old, new) for f in record["findings"])

    def keyed(record: Mapping[str, Any]) -> dict[tuple[Any, ...], Mapping[str, Any]]:
        return {
            (f["code"], tuple(sorted(f["who"].items())), tuple(f["columns"]) if told else ()): f
            for f in record["findings"]
        }

    first, second = keyed(old), keyed(new)
    rows: list[tuple[Message, str, str]] = []
    for key in [*second, *(key for key in first if key not in second)]:
        state = msg("stays") if key in first and key in second else msg("new") if key in second else msg("gone")
        finding = second.get(key) or first[key]
        rows.append((state, finding["severity"], finding["message"]["text"]))
    columns: dict[str, list[Any]] = {
        "state": [row[0] for row in rows],
        "severity": [row[1] for row in rows],
        "message": [row[2] for row in rows],
    }
    titles = {"state": msg("state"), "severity": msg("severity"), "message": msg("finding")}
    return Table(columns, {}, titles, msg("Findings that came, stayed and went"))


def _verdicts(old: Mapping[str, Any], new: Mapping[str, Any]) -> Table:
    columns: dict[str, list[Any]] = {"report": [], "policy": [], "outcome": []}
    for when, record in ((msg("before"), old), (msg("after"), new)):
        columns["report"].append(when)
        columns["policy"].append(record["verdict"].get("policy"))
        columns["outcome"].append(record["verdict"]["outcome"])
    titles = {"report": msg("report"), "policy": msg("policy"), "outcome": msg("outcome")}
    return Table(columns, {}, titles, msg("Verdicts"))


def _same_data(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    marks = [record.get("fingerprint", {}).get("data_sha256") for record in (old, new)]
    return marks[0] is not None and marks[0] == marks[1]


def _notes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Message, ...]:
    notes = []
    if _same_data(old, new):
        notes.append(
            msg("Both reports are about the same data; the tests are cautious, shared noise is counted twice.")
        )
    policies = {record["verdict"].get("policy") for record in (old, new)}
    if len(policies) > 1:
        notes.append(msg("The two audits were held against different policies; their verdicts do not compare."))
    return tuple(notes)
